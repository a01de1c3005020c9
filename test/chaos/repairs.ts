/** Counters that tell, by cause, how much replicas had to repair. A replica need not have all of them. */
const FAMILIES = [
  ...['repairs', 'gap_repairs', 'attach_rounds', 'bus_rebuilds', 'accounts_notified', 'accounts_unnotified'],
  ...['announcements_repeated', 'resets', 'nodes_reaped', 'redis_reconnects', 'background_failures'],
];

const SAMPLE = /^baton_(\w+)_total(?:\{(.*)\})? (\S+)$/gm;
const ANSWERS_WITHIN_MS = 2_000;

/**
 * Sums of counters over all replicas of a run, as last read. The repairs of a killed replica since then are missing.
 */
export class Repairs {
  /** The latest counters of each replica. */
  readonly #latest = new Map<string, Map<string, number>>();

  /** Reads the counters. Never rejects: a replica that does not answer keeps its last counters. */
  async read(replica: string, adminUrl: string): Promise<void> {
    const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
    const text = await fetch(`${adminUrl}/metrics`, { signal })
      .then((answer) => answer.text())
      .catch(() => null);
    if (text !== null) this.#latest.set(replica, countersIn(text));
  }

  /** By family and cause: `gap_repairs sweep`. */
  sums(): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const counters of this.#latest.values())
      for (const [name, count] of counters) sums[name] = (sums[name] ?? 0) + count;
    return sums;
  }
}

function countersIn(text: string): Map<string, number> {
  const counters = new Map<string, number>();
  for (const [, family = '', labels = '', value] of text.matchAll(SAMPLE)) {
    if (!FAMILIES.includes(family) || Number(value) === 0) continue;
    const causes = [...labels.matchAll(/="(.*?)"/g)].map(([, cause]) => cause);
    counters.set([family, ...causes].join(' '), Number(value));
  }
  return counters;
}
