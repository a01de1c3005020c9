/** A stretch of a run. */
export interface Phase {
  kind: 'baseline' | 'alone' | 'together' | 'planted';
  /** The name of a scenario, or of what the phase is. */
  name: string;
  seconds: number;
}

const MOST_BASELINE_SECONDS = 15;
const PLANTED_SECONDS = 5;

/**
 * Plans the phases of a run: the attack between stretches without it, and at the end a store that stands still, which
 * the verdict has to notice.
 */
export function planPhases(seconds: number, scenarios: readonly string[]): Phase[] {
  const quiet: Phase = { kind: 'baseline', name: 'baseline', seconds: Math.min(MOST_BASELINE_SECONDS, seconds / 3) };
  const each = seconds / 2 / scenarios.length;
  return [
    quiet,
    ...scenarios.map((name) => ({ kind: 'alone' as const, name, seconds: each })),
    quiet,
    { kind: 'together', name: 'all at once', seconds: seconds / 2 },
    quiet,
    { kind: 'planted', name: 'a store that stands still', seconds: PLANTED_SECONDS },
  ];
}
