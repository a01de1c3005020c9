import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { TransferState } from '../../../shared/contract/modules/transfers.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import type { TransferStore } from './store.ts';
import { viewFor } from './view.ts';

/** Records that are read at once, which is also the most that are in memory beside the page. */
const AT_ONCE = 8;

interface Wanted {
  state?: TransferState | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

const idOf = (entry: string): string => entry.slice(entry.indexOf('-') + 1);

/** Makes the reader of many transfers at a time, none of them with a long list of files. */
export function makeListing(store: Pick<TransferStore, 'list' | 'glance' | 'pending'>) {
  /** Reads a transfer; resolves to null when it is in another state, or expired between the list and the read. */
  async function find({ account, deviceId }: DeviceCaller, id: string, state?: TransferState) {
    try {
      const stored = await store.glance(account, deviceId, id, state);
      return stored && viewFor(deviceId, stored);
    } catch (error) {
      if (error instanceof BatonError && error.code === 'not_found') return null;
      throw error;
    }
  }

  return {
    /**
     * Lists transfers as JSON, newest first. A page may be short or empty and still have a cursor, when a full one
     * would take too many reads of records, or too many bytes.
     */
    async list(actor: DeviceCaller, { state, limit = 50, cursor = '' }: Wanted) {
      const entries = await store.list(actor.account, actor.deviceId, cursor, LIMITS.transferPageRecords);
      const transfers: string[] = [];
      const page = (cursorAfter: string | null) =>
        `{"transfers":[${transfers.join(',')}],"next_cursor":${JSON.stringify(cursorAfter)}}`;
      let bytes = 0;
      for (let at = 0; at < entries.length; at += AT_ONCE) {
        const wave = entries.slice(at, at + AT_ONCE);
        const found = await Promise.all(wave.map((entry) => find(actor, idOf(entry), state)));
        for (const [i, transfer] of found.entries()) {
          if (transfer === null) continue;
          transfers.push(transfer);
          bytes += Buffer.byteLength(transfer);
          const isFull = transfers.length === limit || bytes >= LIMITS.transferPageBytes;
          if (isFull) return page(wave[i] as string);
        }
      }
      const isEnd = entries.length < LIMITS.transferPageRecords;
      return page(isEnd ? null : (entries.at(-1) as string));
    },

    /**
     * Yields, page by page as JSON, the offers that the log does not bring to a stream of this device that starts at
     * `position`.
     */
    async *pending(actor: DeviceCaller, position: string): AsyncGenerator<string[]> {
      const ids = await store.pending(actor.account, actor.deviceId, position);
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        const found = await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => find(actor, id, 'PENDING')));
        yield found.flatMap((transfer) => (transfer ? [`{"transfer":${transfer},"redelivered":true}`] : []));
      }
    },
  };
}
