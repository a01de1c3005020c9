import { BatonError } from '../../../shared/contract/errors.ts';
import type { RevokedReason } from '../../../shared/contract/sessions.ts';
import type { DeviceRow } from '../devices/row.ts';
import type { BrokerClient } from './broker-client.ts';
import type { Revocations } from './revocations.ts';
import type { SessionStore } from './store.ts';

/** Long enough for the request itself to do it; the due mechanism comes after it only if it did not. */
const REQUEST_MS = 15_000;
/** How long after a failed try the auth broker is told again. */
const AGAIN_MS = 5_000;
/** A broker that holds what was signed out is not told again for so long. */
const REMIND_AGAIN_MS = 60_000;
const MOST_REMINDED = 10_000;

interface RemovalParts {
  store: SessionStore;
  revocations: Revocations;
  /** Null where there is none to be told. */
  broker: Pick<BrokerClient, 'revoke'> | null;
  /** Ends what the device takes part in, and removes what other rooms keep of it. Each may be repeated. */
  onRemoved: ((account: string, deviceId: string) => Promise<unknown>)[];
  /** With what waits for the device; with `onlyIf` only while that is its row. */
  removeRow: (account: string, deviceId: string, onlyIf?: DeviceRow) => Promise<unknown>;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
}

interface Removal {
  account: string;
  deviceId: string;
  /** Null when the auth broker has to find it by the device. */
  sessionId: string | null;
  reason: RevokedReason;
}

const jobOf = ({ deviceId, sessionId, reason }: Removal): string => `revoke:${deviceId}:${sessionId ?? ''}:${reason}`;

function removalOf(account: string, job: string): Removal {
  const [, deviceId = '', sessionId = '', reason = 'revoked'] = job.split(':');
  return { account, deviceId, sessionId: sessionId || null, reason: reason as RevokedReason };
}

/**
 * Signing a device out, in an order in which a replica may die at any point: what has to be done is written down first,
 * then the device is refused everywhere, then all that is kept of it goes, then the auth broker is told. What is left is
 * done by the due mechanism, on whatever replica.
 */
export function makeRemoval({ store, revocations, broker, onRemoved, removeRow, scheduleDue }: RemovalParts) {
  const reminded = new Map<string, number>();

  /** Resolves to whether the auth broker knows of it now. */
  async function tellBroker({ account, deviceId, sessionId, reason }: Removal): Promise<boolean> {
    if (broker === null) return true;
    const subject = decodeURIComponent(account);
    try {
      if (sessionId !== null) await broker.revoke({ subject, session_id: sessionId, reason });
      // Also when the row named one: the device may have been given another session since.
      await broker.revoke({ subject, meta: deviceId, reason });
      return true;
    } catch (error) {
      if (error instanceof BatonError) return false;
      throw error;
    }
  }

  async function drop(account: string, deviceId: string, onlyIf?: DeviceRow): Promise<void> {
    for (const remove of onRemoved) await remove(account, deviceId);
    await removeRow(account, deviceId, onlyIf);
  }

  async function finish(removal: Removal): Promise<boolean> {
    await drop(removal.account, removal.deviceId);
    if (!(await tellBroker(removal))) return false;
    await store.settle(removal.account, jobOf(removal));
    return true;
  }

  const putOff = async (removal: Removal, ms: number): Promise<void> =>
    store.schedule(removal.account, jobOf(removal), (await store.nowMs()) + ms);

  return {
    /** Resolves to whether the auth broker has been told; if not it will be. Throws `store_unavailable`. */
    async remove(removal: Removal): Promise<boolean> {
      await scheduleDue(removal.account, REQUEST_MS);
      await putOff(removal, REQUEST_MS);
      await revocations.revoke(removal.account, removal.deviceId, removal.reason);
      const done = await finish(removal);
      if (!done) {
        await scheduleDue(removal.account, AGAIN_MS);
        await putOff(removal, AGAIN_MS);
      }
      return done;
    },

    /**
     * The auth broker has no session of the device any more: its streams end, and all that is kept of it goes, with
     * `onlyIf` while that is its row. There is no tombstone: it may sign in again under its id.
     */
    async expire(account: string, deviceId: string, onlyIf?: DeviceRow): Promise<void> {
      await revocations.tell(account, deviceId, 'expired');
      await drop(account, deviceId, onlyIf);
    },

    /** The auth broker holds a session of a device that was signed out: its store has lost the word, which it gets again. */
    async remind(account: string, deviceId: string, sessionId: string): Promise<void> {
      const key = `${account} ${sessionId}`;
      if ((reminded.get(key) ?? 0) > performance.now()) return;
      if (reminded.size >= MOST_REMINDED) reminded.clear();
      reminded.set(key, performance.now() + REMIND_AGAIN_MS);
      await scheduleDue(account, 0);
      await putOff({ account, deviceId, sessionId, reason: 'revoked' }, 0);
    },

    /** What the due mechanism runs. False: not yet. */
    async resume(account: string, job: string): Promise<boolean> {
      const removal = removalOf(account, job);
      // The replica that began may have died before the tombstone.
      await revocations.revoke(account, removal.deviceId, removal.reason);
      const done = await finish(removal);
      if (!done) await putOff(removal, AGAIN_MS);
      return done;
    },
  };
}

export type RemoveDevice = ReturnType<typeof makeRemoval>;
