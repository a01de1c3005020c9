import { lostUntil, type Fault } from './history.ts';

/** Kinds of objects whose operations can have one order. Each key of a kind is an object of its own. */
export type ObjectKind = 'clipboard' | 'name' | 'transfer' | 'keys' | 'login';

/** What somebody asked of an object, and when. Times are ms since the start, as everywhere in a history. */
export interface ObjectOperation {
  kind: ObjectKind;
  key: string;
  account: string;
  /** `read`, `write`, `put`, a step of a transfer or of a login request, or the `start` of one. */
  do: string;
  by: string;
  /** The value that was written, and the value that a ring follows. */
  value: string;
  before: string;
  begin: number;
  /** Null: there was no answer, so that it may still take effect. */
  end: number | null;
  /** `refused`: it certainly changed nothing. Null: there was no answer. */
  said: 'ok' | 'refused' | null;
  /** What a read found, or the state that answered a step. */
  read: string;
}

/** The times in which the store may have lost writes, or had its clock set, as lines beside the operations. */
const lossesOf = (faults: readonly Fault[]) =>
  faults
    .filter(({ loss, movedClock }) => loss !== null || movedClock)
    .map((fault) => ({
      kind: 'loss',
      accounts: fault.accounts ?? [],
      begin: fault.startedAt,
      end: Math.max(fault.endedAt, lostUntil(fault)),
      clock: fault.movedClock,
    }));

/** Returns the operations, and what the store may have lost, as JSON lines. */
export const toLines = (operations: readonly ObjectOperation[], faults: readonly Fault[]): string =>
  [...lossesOf(faults), ...operations].map((line) => `${JSON.stringify(line)}\n`).join('');
