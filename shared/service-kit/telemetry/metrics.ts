import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export const counter = <const L extends string = never>(help: string, labels: readonly L[] = []) =>
  ({ kind: 'counter', help, labels }) as const;
export const gauge = <const L extends string = never>(help: string, labels: readonly L[] = []) =>
  ({ kind: 'gauge', help, labels }) as const;
export const histogram = <const L extends string = never>(help: string, buckets: number[], labels: readonly L[] = []) =>
  ({ kind: 'histogram', help, labels, buckets }) as const;

/** A metric as its owner declares it. */
type Declared =
  | { readonly kind: 'counter' | 'gauge'; readonly help: string; readonly labels: readonly string[] }
  | {
      readonly kind: 'histogram';
      readonly help: string;
      readonly labels: readonly string[];
      readonly buckets: number[];
    };

/** Metrics by name, without the prefix. */
type Declarations = Readonly<Record<string, Declared>>;

type MetricOf<D extends Declared> = D['kind'] extends 'counter'
  ? Counter<D['labels'][number]>
  : D['kind'] extends 'gauge'
    ? Gauge<D['labels'][number]>
    : Histogram<D['labels'][number]>;

export type MetricsOf<D extends Declarations> = { readonly [N in keyof D]: MetricOf<D[N]> };

const PREFIX = 'baton_';

/** The readers of gauges, called when they are scraped. The modules that own the values are made after the gauges. */
const readers = new WeakMap<Gauge, () => number>();

function collect(this: Gauge): void {
  const read = readers.get(this);
  if (read !== undefined) this.set(read());
}

function make(name: string, declared: Declared, registry: Registry): Counter | Gauge | Histogram {
  const settings = { name: PREFIX + name, help: declared.help, labelNames: declared.labels, registers: [registry] };
  if (declared.kind === 'histogram') return new Histogram({ ...settings, buckets: declared.buckets });
  return declared.kind === 'counter' ? new Counter(settings) : new Gauge({ ...settings, collect });
}

/** Makes the declared metrics on this registry. */
export const registerMetrics = <D extends Declarations>(declarations: D, registry: Registry): MetricsOf<D> =>
  Object.fromEntries(
    Object.entries(declarations).map(([name, declared]) => [name, make(name, declared, registry)]),
  ) as unknown as MetricsOf<D>;

/** Makes a gauge read its value when it is scraped, so that nothing has to keep it up to date. */
export function readWhenScraped(metric: Gauge, read: () => number): void {
  readers.set(metric, read);
}

/** One row of the metrics table in the documentation. */
interface MetricRow {
  name: string;
  kind: Declared['kind'];
  labels: readonly string[];
  help: string;
}

/** Returns the declared metrics as rows of a table. */
export const rowsOf = (declarations: Declarations): MetricRow[] =>
  Object.entries(declarations).map(([name, { kind, labels, help }]) => ({ name: PREFIX + name, kind, labels, help }));
