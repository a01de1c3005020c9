import type { BrokerSession } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { DeviceRef, DeviceType } from '../../../../shared/contract/vocabulary/fields.ts';
import type { DeviceRow, NewDevice } from '../../devices/row.ts';
import type { Caller } from '../../identity/caller.ts';
import type { BrokerClient } from '../auth-broker/broker-client.ts';
import type { RemoveDevice } from '../revocation/removal.ts';
import type { Revocations } from '../revocation/revocations.ts';

/** For so long the broker is not asked again about a device that has no session there. */
const ASK_AGAIN_MS = 10_000;
const MOST_REFUSED = 10_000;

interface RestoringParts {
  devices: { rows(account: string): Promise<DeviceRow[]> };
  revocations: Pick<Revocations, 'isTombstoned'>;
  removal: Pick<RemoveDevice, 'remind'>;
  broker: Pick<BrokerClient, 'list'> | null;
  write: (account: string, session: BrokerSession, mode: NewDevice['mode'], type?: DeviceType) => Promise<DeviceRef>;
}

/** Rows that were lost, put back from the broker's listing. */
export function makeRowRestoring({ devices, revocations, removal, broker, write }: RestoringParts) {
  const refused = new Map<string, number>();
  /** Requests for rows of one account share one listing, when many devices come back after a loss. */
  const restoring = new Map<string, Promise<Set<string>>>();

  /** False where the device may have no row: it was signed out, or there are too many. */
  async function putBack(account: string, session: BrokerSession, type?: DeviceType): Promise<boolean> {
    if (await revocations.isTombstoned(account, session.meta)) {
      await removal.remind(account, session.meta, session.session_id);
      return false;
    }
    try {
      await write(account, session, type ? 'kept' : 'lost', type);
      return true;
    } catch (error) {
      if (error instanceof BatonError && error.status < 500) return false;
      throw error;
    }
  }

  /**
   * Puts back every row that the listing shows as missing, oldest first, so that of two devices of one name each gets the
   * name that it had. `types`: the known types of devices. Resolves to those put back.
   */
  async function putBackMissing(
    account: string,
    listed: BrokerSession[],
    rows: DeviceRow[],
    types: ReadonlyMap<string, DeviceType> = new Map(),
  ): Promise<Set<string>> {
    const known = new Set(rows.map(({ deviceId }) => deviceId));
    const missing = listed.filter(({ meta }) => meta !== '' && !known.has(meta));
    const back = new Set<string>();
    for (const session of missing.toSorted((a, b) => a.created_at - b.created_at)) {
      if (await putBack(account, session, types.get(session.meta))) back.add(session.meta);
    }
    return back;
  }

  /** Resolves to the devices that have a row now. */
  async function restoreAll(account: string, listing: Promise<BrokerSession[]>): Promise<Set<string>> {
    const [rows, listed] = await Promise.all([devices.rows(account), listing]);
    const there = await putBackMissing(account, listed, rows);
    for (const { deviceId } of rows) there.add(deviceId);
    return there;
  }

  return {
    putBackMissing,

    /**
     * Puts back the caller's row with all others of the account that were lost. Resolves to whether the caller has one.
     * Throws `broker_unavailable`, `broker_contract`.
     */
    async restore({ account, userId, deviceId }: Caller): Promise<boolean> {
      if (broker === null || deviceId === null) return false;
      const key = `${account} ${deviceId}`;
      if ((refused.get(key) ?? 0) > performance.now()) return false;
      let underWay = restoring.get(account);
      if (underWay === undefined) {
        underWay = restoreAll(account, broker.list(userId)).finally(() => restoring.delete(account));
        restoring.set(account, underWay);
      }
      if ((await underWay).has(deviceId)) return true;
      if (refused.size >= MOST_REFUSED) refused.clear();
      refused.set(key, performance.now() + ASK_AGAIN_MS);
      return false;
    },
  };
}
