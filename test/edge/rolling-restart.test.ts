import { until } from '../support/redis/redis-processes.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { startLoad } from '../support/steady-load.ts';
import { isInstalled } from './edges.ts';
import { type EdgeSite, startEdgeSite } from './edge-site.ts';

/* The shipped nginx, with its pool of kept connections to the replicas, while every replica is replaced. */

const CLIENTS = 20;
/** The value of site.conf. */
const FAIL_TIMEOUT_MS = 5_000;

skipUnless(isInstalled('nginx'), 'needs nginx').describe('behind nginx', () => {
  let site: EdgeSite;
  beforeAll(async () => {
    // With the default notice, nginx closes an idle connection before a replica does.
    site = await startEdgeSite('nginx', { APP_DRAIN_NOTICE_SECONDS: '10' });
  });
  afterAll(() => site.stop());

  const answeredBy = async (which: 0 | 1): Promise<number> => {
    const text = await (await fetch(`${site.replicas[which].adminUrl}/metrics`)).text();
    return Number(
      /^baton_http_requests_total\{route="\/api\/message\/ack",[^}]*status="200"\} (\d+)$/m.exec(text)?.[1] ?? 0,
    );
  };

  test('no request is lost while every replica is replaced under load', async () => {
    const laptop = await site.signIn({ name: 'Laptop' });
    const load = startLoad({
      clients: CLIENTS,
      port: () => Number(new URL(site.edge.url).port),
      path: '/api/message/ack',
      headers: laptop.bearer,
      // nginx does not repeat a POST that a replica may have had.
      body: () => ({ message_ids: [crypto.randomUUID()] }),
    });
    try {
      for (const which of [0, 1] as const) {
        await until(
          () => answeredBy(which),
          (count) => count > 5 * CLIENTS,
          'requests over kept connections',
        );
        await site.restartReplica(which);
        // Each worker process of nginx returns to the replica by itself, `fail_timeout` after it was refused.
        const backAtMs = performance.now() + 2 * FAIL_TIMEOUT_MS;
        await until(
          async () => performance.now(),
          (now) => now > backAtMs,
          'the end of fail_timeout',
        );
        await until(
          () => answeredBy(which),
          (count) => count > CLIENTS,
          'requests to the new replica',
        );
      }
    } finally {
      await load.stop();
    }
    const answered = load.answers.get(200) ?? 0;
    console.info(`${answered} answers over ${load.connections()} connections, ${load.failures.length} failures`);
    expect(load.failures).toEqual([]);
    expect(Object.fromEntries(load.answers)).toEqual({ 200: answered });
  });
});
