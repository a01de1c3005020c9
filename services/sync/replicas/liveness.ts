import type { Argument } from '../../../shared/service-kit/redis/scripts/script-values.ts';

/** The knowledge of `Replica` about the other replicas, and about its own past. Lists are joined by line ends. */
export interface LeaseView {
  /** Channels of dead replicas; the routes that lead to them count as gone. */
  deadChannels: () => string;
  /** Channels that this replica had before the present one. */
  formerChannels: () => string;
  /** How many ms older than usual routes may be, because nobody could renew them, or a clock was set. */
  lateMs: () => number;
}

/** Which routes of an account lead to existing streams. A script cannot read this in the account's slot. */
export interface Liveness {
  readonly deadChannels: string;
  readonly formerChannels: string;
  readonly lateMs: number;
  /** Ids of the account's streams that this replica holds. */
  readonly held: readonly string[];
  /** Channels to which nobody listens; null when that was not checked. */
  readonly silent: readonly string[] | null;
}

/** Returns the liveness as of now, for an account of which the replica holds these streams. */
export const livenessOf = (view: LeaseView, held: readonly string[]): Liveness => ({
  deadChannels: view.deadChannels(),
  formerChannels: view.formerChannels(),
  lateMs: view.lateMs(),
  held,
  silent: null,
});

/**
 * The liveness as an argument of a script; in Lua a table that `replicas/liveness` makes. Ids and channels hold no tabs
 * or line ends.
 */
export const liveness: Argument<Liveness> = {
  lua: (argument) => `liveness_of(${argument})`,
  word: ({ deadChannels, formerChannels, lateMs, held, silent }) =>
    [lateMs, deadChannels, formerChannels, held.join('\n'), silent === null ? '-' : silent.join('\n')].join('\t'),
};
