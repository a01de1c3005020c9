import type { BrokerSession } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { DeviceRef, DeviceType } from '../../../../shared/contract/vocabulary/fields.ts';
import type { DeviceRow, NewDevice } from '../../devices/row.ts';
import type { Caller } from '../../identity/caller.ts';
import type { BrokerClient } from '../auth-broker/broker-client.ts';
import type { RemoveDevice } from '../revocation/removal.ts';
import type { Revocations } from '../revocation/revocations.ts';

/** How long the broker is not asked again about a device that has no session there. */
const ASK_AGAIN_MS = 10_000;
const MOST_REFUSED = 10_000;

interface RestoringParts {
  devices: { rows(account: string): Promise<DeviceRow[]> };
  revocations: Pick<Revocations, 'isTombstoned'>;
  removal: Pick<RemoveDevice, 'remind'>;
  broker: Pick<BrokerClient, 'list'> | null;
  write: (account: string, session: BrokerSession, mode: NewDevice['mode'], type?: DeviceType) => Promise<DeviceRef>;
}

/** Makes the restoring of lost rows from the broker's listing. */
export function makeRowRestoring({ devices, revocations, removal, broker, write }: RestoringParts) {
  const refused = new Map<string, number>();
  /** Listings under way, by account: many devices of one account may return after a loss, and share one listing. */
  const restoring = new Map<string, Promise<Set<string>>>();

  /** Restores one row. Resolves to false if the device may have none: it was signed out, or there are too many. */
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
   * Restores every row that the listing shows as missing, oldest first, so that each of two devices with one name gets the
   * name that it had. `types`: the known types of devices. Resolves to the devices whose row was restored.
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

  /** Restores all missing rows. Resolves to the devices that have a row now. */
  async function restoreAll(account: string, listing: Promise<BrokerSession[]>): Promise<Set<string>> {
    const [rows, listed] = await Promise.all([devices.rows(account), listing]);
    const there = await putBackMissing(account, listed, rows);
    for (const { deviceId } of rows) there.add(deviceId);
    return there;
  }

  return {
    putBackMissing,

    /**
     * Restores the caller's row and all other lost rows of the account. Resolves to whether the caller has a row.
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
