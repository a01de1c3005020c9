import type { ReplicaProcess } from '../../support/replicas.ts';

/** What one replica did since the last look: how busy, how long it stood still, and for which parts of the API it worked. */
export interface ReplicaFigures {
  busy: number;
  /** Longest wait of the event loop, ms. */
  stoodStillMs: number;
  /** Seconds that requests took, by where their route begins. */
  routes: Record<string, number>;
}

const SUM = /^baton_http_request_duration_seconds_sum\{prefix="([^"]+)"\} ([\d.e+-]+)$/gm;

const valueOf = (text: string, name: string): number =>
  Number(new RegExp(`^${name} ([\\d.e+-]+)$`, 'm').exec(text)?.[1] ?? 0);

/** Each call tells what was since the call before. */
export function watchReplica({ adminUrl }: ReplicaProcess): () => Promise<ReplicaFigures> {
  let before: Record<string, number> = {};
  return async () => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const now = Object.fromEntries([...text.matchAll(SUM)].map(([, prefix, sum]) => [prefix as string, Number(sum)]));
    const routes = Object.fromEntries(Object.entries(now).map(([route, sum]) => [route, sum - (before[route] ?? 0)]));
    before = now;
    return {
      busy: valueOf(text, 'baton_event_loop_utilization_ratio'),
      // The time between two samples, which are to be 100 ms apart.
      stoodStillMs: valueOf(text, 'nodejs_eventloop_lag_max_seconds') * 1_000 - 100,
      routes,
    };
  };
}
