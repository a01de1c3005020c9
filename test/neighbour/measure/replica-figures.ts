import type { ReplicaProcess } from '../../support/replicas.ts';

/**
 * What one replica did since the last look: how busy it was, how long it stood still, and which parts of the API it
 * worked for.
 */
export interface ReplicaFigures {
  busy: number;
  /** The longest wait of the event loop, in ms. */
  stoodStillMs: number;
  /** The seconds that requests took, by the beginning of their route. */
  routes: Record<string, number>;
}

const SUM = /^baton_http_request_duration_seconds_sum\{prefix="([^"]+)"\} ([\d.e+-]+)$/gm;

const valueOf = (text: string, name: string): number =>
  Number(new RegExp(`^${name} ([\\d.e+-]+)$`, 'm').exec(text)?.[1] ?? 0);

/** Each call tells what happened since the previous call. */
export function watchReplica({ adminUrl }: ReplicaProcess): () => Promise<ReplicaFigures> {
  let before: Record<string, number> = {};
  return async () => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const now = Object.fromEntries([...text.matchAll(SUM)].map(([, prefix, sum]) => [prefix as string, Number(sum)]));
    const routes = Object.fromEntries(Object.entries(now).map(([route, sum]) => [route, sum - (before[route] ?? 0)]));
    before = now;
    return {
      busy: valueOf(text, 'baton_event_loop_utilization_ratio'),
      // The lag is the time between two samples, which should be 100 ms apart.
      stoodStillMs: valueOf(text, 'nodejs_eventloop_lag_max_seconds') * 1_000 - 100,
      routes,
    };
  };
}
