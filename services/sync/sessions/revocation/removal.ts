import { BatonError } from '../../../../shared/contract/errors.ts';
import type { RevokedReason } from '../../../../shared/contract/modules/sessions.ts';
import type { DeviceRow } from '../../devices/row.ts';
import type { BrokerClient } from '../auth-broker/broker-client.ts';
import type { Revocations } from './revocations.ts';
import type { SessionStore } from '../store.ts';

/** The time for the request to finish the removal itself. The sweep of due jobs runs it only after that. */
const REQUEST_MS = 15_000;
/** The pause after a failed try before the auth broker is asked again. */
const AGAIN_MS = 5_000;
/** How long the broker is not asked again to end the same session. */
const REMIND_AGAIN_MS = 60_000;
const MOST_REMINDED = 10_000;

interface RemovalParts {
  store: SessionStore;
  revocations: Revocations;
  /** Null without an auth broker. */
  broker: Pick<BrokerClient, 'revoke'> | null;
  /** The steps of other modules, which end what the device takes part in and remove its data. Each may be repeated. */
  onRemoved: ((account: string, deviceId: string) => Promise<unknown>)[];
  /** Removes the row with the device's mailbox; with `onlyIf`, only if the row is that one. */
  removeRow: (account: string, deviceId: string, reason: RevokedReason, onlyIf?: DeviceRow) => Promise<unknown>;
}

interface Removal {
  account: string;
  deviceId: string;
  /** Null if the auth broker has to find the session by the device. */
  sessionId: string | null;
  reason: RevokedReason;
}

const jobOf = ({ deviceId, sessionId, reason }: Removal): string => `revoke:${deviceId}:${sessionId ?? ''}:${reason}`;

function removalOf(account: string, job: string): Removal {
  const [, deviceId = '', sessionId = '', reason = 'revoked'] = job.split(':');
  return { account, deviceId, sessionId: sessionId || null, reason: reason as RevokedReason };
}

/**
 * Makes the sign-out of devices, in an order in which a replica may die at any point. First the job is written, then the
 * device is refused everywhere, then its data is removed, then the auth broker is asked to end the session. The job does
 * on any replica what a dead one left undone.
 */
export function makeRemoval({ store, revocations, broker, onRemoved, removeRow }: RemovalParts) {
  const reminded = new Map<string, number>();

  /** Resolves to whether the auth broker has ended the session. */
  async function tellBroker({ account, deviceId, sessionId, reason }: Removal): Promise<boolean> {
    if (broker === null) return true;
    const subject = decodeURIComponent(account);
    try {
      if (sessionId !== null) await broker.revoke({ subject, session_id: sessionId, reason });
      // The broker is asked by device even if the row named a session: the device may have another one since.
      await broker.revoke({ subject, meta: deviceId, reason });
      return true;
    } catch (error) {
      if (error instanceof BatonError) return false;
      throw error;
    }
  }

  async function drop(account: string, deviceId: string, reason: RevokedReason, onlyIf?: DeviceRow): Promise<void> {
    for (const remove of onRemoved) await remove(account, deviceId);
    await removeRow(account, deviceId, reason, onlyIf);
  }

  async function finish(removal: Removal): Promise<boolean> {
    await drop(removal.account, removal.deviceId, removal.reason);
    if (!(await tellBroker(removal))) return false;
    await store.settle(removal.account, jobOf(removal));
    return true;
  }

  return {
    /** Resolves to whether the auth broker ended the session. If not, the job asks again. Throws `store_unavailable`. */
    async remove(removal: Removal): Promise<boolean> {
      await store.schedule(removal.account, jobOf(removal), REQUEST_MS);
      await revocations.revoke(removal.account, removal.deviceId, removal.reason);
      const done = await finish(removal);
      if (!done) await store.schedule(removal.account, jobOf(removal), AGAIN_MS);
      return done;
    },

    /**
     * Ends the streams of a device that has no session at the auth broker any more, and removes its data. With `onlyIf` the
     * row is removed only if it is that one. There is no tombstone: the device may sign in again under its id.
     */
    async expire(account: string, deviceId: string, onlyIf?: DeviceRow): Promise<void> {
      await revocations.tell(account, deviceId, 'expired');
      await drop(account, deviceId, 'expired', onlyIf);
    },

    /** Asks the auth broker again to end a signed-out device's session, because the broker's store lost the end. */
    async remind(account: string, deviceId: string, sessionId: string): Promise<void> {
      const key = `${account} ${sessionId}`;
      if ((reminded.get(key) ?? 0) > performance.now()) return;
      if (reminded.size >= MOST_REMINDED) reminded.clear();
      reminded.set(key, performance.now() + REMIND_AGAIN_MS);
      await store.schedule(account, jobOf({ account, deviceId, sessionId, reason: 'revoked' }), 0);
    },

    /** Resumes a removal for the sweep of due jobs. Resolves to false if it is not finished yet. */
    async resume(account: string, job: string): Promise<boolean> {
      const removal = removalOf(account, job);
      // The replica that began the removal may have died before it wrote the tombstone.
      await revocations.revoke(account, removal.deviceId, removal.reason);
      const done = await finish(removal);
      if (!done) await store.putOff(account, job, AGAIN_MS);
      return done;
    },
  };
}

export type RemoveDevice = ReturnType<typeof makeRemoval>;
