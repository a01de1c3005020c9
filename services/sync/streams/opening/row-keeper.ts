import type { Caller } from '../../identity/caller.ts';
import type { Attached } from '../store.ts';
import type { Stream } from '../stream/stream.ts';
import type { Sweeper } from '../upkeep/sweeper.ts';

/** What failed is tried again so long after, or half as long again: a broker that is away is not asked by all at once. */
const AGAIN_MS = 10_000;

interface RowKeeperParts {
  /** Recreates a missing device row; false when there is none to be had. */
  restoreRow: (caller: Caller) => Promise<boolean>;
  sweeper: Pick<Sweeper, 'attachLater'>;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Sees to it that the device of an open stream has its row, as far as one is to be had. A broker or a store that is away
 * must not refuse the stream: it opens, and is counted online once there is a row.
 */
export function makeRowKeeper({ restoreRow, sweeper, onFailure }: RowKeeperParts) {
  /** Streams whose row was missing and could not be put back. */
  const failed = new WeakSet<Stream>();
  return {
    /** Presence comes only when it is newer than what the stream has: what failed before has to be remembered. */
    isMissing(stream: Stream, { presence }: Attached): boolean {
      const { deviceId } = stream.caller;
      const lacksRow = deviceId !== null && presence !== null && !presence.devices.includes(deviceId);
      return lacksRow || failed.has(stream);
    },

    /** Resolves to whether the row was put back. */
    async restore(stream: Stream): Promise<boolean> {
      try {
        const isBack = await restoreRow(stream.caller);
        failed.delete(stream);
        return isBack;
      } catch (error) {
        onFailure('restore row', error);
        failed.add(stream);
        sweeper.attachLater(stream, AGAIN_MS * (1 + Math.random() / 2));
        return false;
      }
    },
  };
}

export type RowKeeper = ReturnType<typeof makeRowKeeper>;
