import { Counter as LibraryCounter, Histogram as LibraryHistogram, Registry } from 'prom-client';
import { Counter, Histogram } from '../../../services/server/telemetry/series.ts';
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

/** What each may take, in seconds: a poll and its mint, a script on a connection that dies and is made anew, a repeated announcement. */
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

test('counters and histograms are written out as the library writes its own', async () => {
  const [ours, library] = [new Registry(), new Registry()];
  const named = { name: 'a_total', help: 'counts', labelNames: ['event', 'outcome'] } as const;
  const timed = { name: 'b_seconds', help: 'takes', labelNames: ['module'], buckets: [0.1, 0.5, 1] } as const;
  const plain = { name: 'c_total', help: 'counts all', labelNames: [] } as const;
  const counters = [
    new Counter<string>({ ...named, registry: ours }),
    new LibraryCounter<string>({ ...named, labelNames: [...named.labelNames], registers: [library] }),
  ];
  const histograms = [
    new Histogram<string>({ ...timed, registry: ours }),
    new LibraryHistogram<string>({
      ...timed,
      labelNames: ['module'],
      buckets: [...timed.buckets],
      registers: [library],
    }),
  ];
  for (const made of counters) {
    for (const event of ['message', 'a "quoted"\\name', 'message']) made.inc({ event, outcome: 'heard' });
    made.inc({ event: 'message', outcome: 'heard' }, 5);
    made.inc({ event: 'message', outcome: 'unheard' }, 0);
  }
  for (const made of histograms) {
    for (const value of [0, 0.1, 0.1000001, 0.5, 1, 7]) made.observe({ module: 'messages' }, value);
    made.observe({ module: 'push' }, 0.3);
  }
  new Counter({ ...plain, registry: ours });
  new LibraryCounter({ ...plain, labelNames: [], registers: [library] });
  expect(await ours.metrics()).toBe(await library.metrics());
});

test('what is no number, or would make a counter fall, is refused', () => {
  const { messages_total: counter, delivery_latency_seconds: histogram } = makeMetrics({ version: '1' });
  expect(() => counter.inc(-1)).toThrow(RangeError);
  expect(() => counter.inc(Number.NaN)).toThrow(RangeError);
  expect(() => histogram.observe(Number.NaN)).toThrow(RangeError);
});
