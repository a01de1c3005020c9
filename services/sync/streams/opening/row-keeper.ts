import type { Caller } from '../../identity/caller.ts';
import type { Attached } from '../store.ts';
import type { Stream } from '../stream/stream.ts';
import type { Sweeper } from '../upkeep/sweeper.ts';

/**
 * How long until a failed restore is tried again, plus up to half of it, so that not all streams ask an absent broker
 * at once.
 */
const AGAIN_MS = 10_000;

interface RowKeeperParts {
  /** Recreates a missing device row; resolves to false when there is none to recreate. */
  restoreRow: (caller: Caller) => Promise<boolean>;
  sweeper: Pick<Sweeper, 'attachLater'>;
  onFailure: (task: string, error: unknown) => void;
}

/**
 * Makes sure that the device of an open stream has its row, if one can be restored. An absent broker or store must not
 * refuse the stream: it opens, and its device counts as online once there is a row.
 */
export function makeRowKeeper({ restoreRow, sweeper, onFailure }: RowKeeperParts) {
  /** Streams whose row was missing and could not be restored. */
  const failed = new WeakSet<Stream>();
  return {
    /**
     * Returns whether the row is missing. Failures are remembered, because an attach returns the presence only if it is
     * newer than that of the stream.
     */
    isMissing(stream: Stream, { presence }: Attached): boolean {
      const { deviceId } = stream.caller;
      const lacksRow = deviceId !== null && presence !== null && !presence.devices.includes(deviceId);
      return lacksRow || failed.has(stream);
    },

    /** Restores the row; resolves to whether it is back. */
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
