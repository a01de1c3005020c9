import type { Metric, Registry } from 'prom-client';

/*
 * Counters and histograms that the library's registry writes out, like its own. Those make a text of the labels with each
 * count, check it, and keep numbers under names: the seven counts of a message took 4 of its 116 us, and take 0.5 so.
 */

export type Labels<L extends string> = Readonly<Record<L, string>>;

const NO_LABELS: Labels<never> = {};

export interface SeriesSettings<L extends string> {
  name: string;
  help: string;
  labelNames: readonly L[];
  registry: Registry;
}

/** A line of the text format. */
interface Line {
  metricName?: string;
  labels: Readonly<Record<string, string | number>>;
  value: number;
}

/** What was counted with the same labels. */
interface Counted<L extends string, S> {
  readonly labels: Labels<L>;
  readonly sum: S;
}

/** What a metric holds by its labels. */
class Series<L extends string, S> {
  readonly #names: readonly L[];
  readonly #begin: () => S;
  readonly #byLabels = new Map<string, Counted<L, S>>();

  constructor(names: readonly L[], begin: () => S) {
    this.#names = names;
    this.#begin = begin;
    // Without labels there is one, from the start.
    if (names.length === 0) this.of(NO_LABELS);
  }

  of(labels: Labels<L> | Labels<never>): S {
    const given = labels as Labels<L>;
    let key = '';
    for (const name of this.#names) key = key === '' ? given[name] : `${key}\n${given[name]}`;
    const known = this.#byLabels.get(key);
    if (known !== undefined) return known.sum;
    const sum = this.#begin();
    this.#byLabels.set(key, { labels: { ...given }, sum });
    return sum;
  }

  all(): Counted<L, S>[] {
    return [...this.#byLabels.values()];
  }
}

/** What the registry asks of a metric. */
abstract class Registered<L extends string> {
  abstract readonly type: 'counter' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  /** How those of several processes are put together. */
  readonly aggregator = 'sum';

  constructor({ name, help, labelNames, registry }: SeriesSettings<L>) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    registry.registerMetric(this as unknown as Metric);
  }

  protected abstract lines(): Line[];

  async get() {
    const { name, help, type, aggregator } = this;
    return { name, help, type, aggregator, values: this.lines() };
  }
}

export class Counter<L extends string = string> extends Registered<L> {
  readonly type = 'counter';
  readonly #series: Series<L, { count: number }>;

  constructor(settings: SeriesSettings<L>) {
    super(settings);
    this.#series = new Series(settings.labelNames, () => ({ count: 0 }));
  }

  /** `by` is not negative. */
  inc(by?: number): void;
  inc(labels: Labels<L>, by?: number): void;
  inc(labels: Labels<L> | number = 1, given = 1): void {
    const [counted, by] =
      typeof labels === 'number' ? [this.#series.of(NO_LABELS), labels] : [this.#series.of(labels), given];
    if (!(by >= 0)) throw new RangeError(`${this.name} cannot rise by ${by}`);
    counted.count += by;
  }

  protected override lines(): Line[] {
    return this.#series.all().map(({ labels, sum }) => ({ labels, value: sum.count }));
  }
}

/** `counts`: of each bucket alone; at the end what is above all of them. */
interface Observed {
  readonly counts: number[];
  total: number;
}

export class Histogram<L extends string = string> extends Registered<L> {
  readonly type = 'histogram';
  readonly #bounds: readonly number[];
  readonly #series: Series<L, Observed>;

  /** `buckets`: upper bounds, in rising order. */
  constructor({ buckets, ...settings }: SeriesSettings<L> & { buckets: readonly number[] }) {
    super(settings);
    this.#bounds = buckets;
    this.#series = new Series(settings.labelNames, () => ({ counts: [...buckets, 0].fill(0), total: 0 }));
  }

  observe(value: number): void;
  observe(labels: Labels<L>, value: number): void;
  observe(labels: Labels<L> | number, given = 0): void {
    const [observed, value] =
      typeof labels === 'number' ? [this.#series.of(NO_LABELS), labels] : [this.#series.of(labels), given];
    if (!Number.isFinite(value)) throw new RangeError(`${this.name} cannot take ${value}`);
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket += 1;
    observed.counts[bucket] = (observed.counts[bucket] as number) + 1;
    observed.total += value;
  }

  protected override lines(): Line[] {
    return this.#series.all().flatMap(({ labels, sum: { counts, total } }) => {
      let upTo = 0;
      const buckets = counts.map((count, i): Line => {
        upTo += count;
        return { metricName: `${this.name}_bucket`, labels: { le: this.#bounds[i] ?? '+Inf', ...labels }, value: upTo };
      });
      return [
        ...buckets,
        { metricName: `${this.name}_sum`, labels, value: total },
        { metricName: `${this.name}_count`, labels, value: upTo },
      ];
    });
  }
}
