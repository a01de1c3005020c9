import { makeMetrics, metricsTable } from '../../../services/sync/telemetry/metrics.ts';

test('every metric has the prefix, a help text and a name that fits its kind', () => {
  for (const { name, kind, help } of metricsTable()) {
    expect(name).toMatch(/^baton_[a-z_]+$/);
    expect(help.length).toBeGreaterThan(10);
    expect(name.endsWith('_total')).toBe(kind === 'counter');
  }
});

test('the table is what is registered', async () => {
  const { registry } = makeMetrics({ version: '1' });
  const registered = (await registry.getMetricsAsJSON())
    .map(({ name }) => name)
    .filter((name) => name.startsWith('baton_'));
  expect(registered.sort()).toEqual(
    metricsTable()
      .map(({ name }) => name)
      .sort(),
  );
});

test('two replicas in one process do not count together', async () => {
  const [one, other] = [makeMetrics({ version: '1' }), makeMetrics({ version: '1' })];
  one.streams.set(5);
  expect((await other.streams.get()).values).toMatchObject([{ value: 0 }]);
});

/**
 * The seconds that each may take: a poll and its mint, a script on a connection that dies and is made again, a repeated
 * announcement.
 */
test.each([
  ['http_request_duration_seconds', 30],
  ['redis_command_duration_seconds', 3],
  ['delivery_latency_seconds', 31],
  ['push_delay_seconds', 60],
] as const)('the slowest that is allowed falls into a bucket of %s', async (name, seconds) => {
  const metrics = makeMetrics({ version: '1' });
  metrics[name].observe(seconds);
  const text = await metrics.registry.getSingleMetricAsString(`baton_${name}`);
  expect(text).toMatch(/_bucket\{le="[\d.]+"\} 1$/m);
});
