import type { BrokerSession, EndedSession } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { DeviceRef, DeviceType } from '../../../../shared/contract/vocabulary/fields.ts';
import { parseDeviceName } from '../../../../shared/contract/vocabulary/fields.ts';
import type { Devices } from '../../devices/devices.ts';
import { type DeviceRow, formatRow, type NewDevice } from '../../devices/row.ts';
import type { BrokerClient } from '../auth-broker/broker-client.ts';
import type { RemoveDevice } from '../revocation/removal.ts';
import { makeRowRestoring } from './row-restoring.ts';
import type { Revocations } from '../revocation/revocations.ts';

/** The age from which a row without a session id is removed if a listing lacks its device. */
const YOUNG_MS = 60_000;
/** How long the end of a session is not announced again while somebody still shows its credential. */
const TELL_AGAIN_MS = 10_000;
const MOST_REPORTED = 10_000;

/** The functions of devices that sessions use. */
export type DeviceRows = Pick<Devices, 'admit' | 'rows' | 'remove'>;

interface RowsParts {
  devices: DeviceRows;
  revocations: Revocations;
  removal: Pick<RemoveDevice, 'expire' | 'remind'>;
  broker: Pick<BrokerClient, 'list'> | null;
  /** Unix ms of the store. */
  nowMs: () => Promise<number>;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
}

/** Makes a test whether the end of a session was announced a moment ago. If not, it counts as announced from now on. */
function makeReported() {
  const untilMs = new Map<string, number>();
  return (id: string): boolean => {
    if ((untilMs.get(id) ?? 0) > performance.now()) return true;
    if (untilMs.size >= MOST_REPORTED) untilMs.clear();
    untilMs.set(id, performance.now() + TELL_AGAIN_MS);
    return false;
  };
}

/** Makes a device name from a label that another service wrote. */
const nameOf = (label: string, deviceId: string): string => parseDeviceName(label) ?? deviceId.slice(0, 32);

const findRow = async (devices: DeviceRows, account: string, deviceId: string): Promise<DeviceRow | undefined> =>
  (await devices.rows(account)).find((each) => each.deviceId === deviceId);

/** Makes the removal of a device whose session is gone. It spares a device that has another row than `row` by now. */
const makeDrop =
  ({ devices, removal }: Pick<RowsParts, 'devices' | 'removal'>) =>
  async (account: string, deviceId: string, row: DeviceRow | undefined): Promise<void> => {
    const now = await findRow(devices, account, deviceId);
    if ((now && formatRow(now)) === (row && formatRow(row))) await removal.expire(account, deviceId, row);
  };

/**
 * Makes the upkeep of device rows, which are a cache of the auth broker's sessions. It writes them with each session,
 * restores lost ones, and removes those whose session the broker no longer has.
 */
export function makeSessionRows({ devices, revocations, removal, broker, nowMs, scheduleDue }: RowsParts) {
  const isReported = makeReported();

  /** Writes the row of a device with its session. Throws `device_limit`, `session_revoked`. */
  async function write(
    account: string,
    session: Pick<BrokerSession, 'session_id' | 'meta' | 'label' | 'expires_at'>,
    mode: NewDevice['mode'],
    type: DeviceType = 'browser',
  ): Promise<DeviceRef> {
    const { session_id: id, meta: deviceId, label, expires_at: endsAtMs } = session;
    await scheduleDue(account, Math.max(0, endsAtMs - (await nowMs())));
    const name = nameOf(label, deviceId);
    const device = await devices.admit(account, { deviceId, name, type, mode, session: { id, endsAtMs } });
    // If the device was signed out meanwhile, the row may have been written after its removal.
    if (!(await revocations.isTombstoned(account, deviceId))) return device;
    await devices.remove(account, deviceId, 'revoked');
    throw new BatonError('session_revoked');
  }

  const restoring = makeRowRestoring({ devices, revocations, removal, broker, write });
  const drop = makeDrop({ devices, removal });

  /**
   * Restores missing rows, and removes those without a session. `types`: as for `putBackMissing`. Resolves to whether any
   * row was restored.
   */
  async function reconcile(
    account: string,
    listed: BrokerSession[],
    rows: DeviceRow[],
    types?: ReadonlyMap<string, DeviceType>,
  ): Promise<boolean> {
    const anyIsBack = (await restoring.putBackMissing(account, listed, rows, types)).size > 0;
    const alive = new Set(listed.map(({ meta }) => meta));
    const youngMs = (await nowMs()) - YOUNG_MS;
    // A row is written after its session and read before the listing, so the listing has the session of each row that
    // was read.
    const isJudged = (row: DeviceRow) => row.sessionId !== null || row.createdAtMs < youngMs;
    for (const row of rows) if (!alive.has(row.deviceId) && isJudged(row)) await drop(account, row.deviceId, row);
    return anyIsBack;
  }

  return {
    write,
    reconcile,

    restore: restoring.restore,

    /**
     * Ends a session that the auth broker ended, because an old secret was used again or another service asked for it. Its
     * streams end on every replica, and cached answers are forgotten. A newer session of the same device goes on.
     */
    async end({ session_id: id, subject, meta: deviceId }: EndedSession): Promise<void> {
      const account = encodeURIComponent(subject);
      if (deviceId !== '' && revocations.isRevoked(account, deviceId)) return;
      if (isReported(id)) return;
      if (deviceId === '') return revocations.tellSession(account, id, 'expired');
      const row = await findRow(devices, account, deviceId);
      // The device was not signed out: it may sign in again under the same id, and keeps its mailbox.
      if (row?.sessionId === id) await revocations.tell(account, deviceId, 'expired');
    },

    /** Handles the due end of a row's session for the sweep of due jobs. Resolves to false if the session goes on. */
    async expire(account: string, job: string): Promise<boolean> {
      const deviceId = job.slice('session:'.length);
      const row = await findRow(devices, account, deviceId);
      const listed = broker === null ? [] : await broker.list(decodeURIComponent(account));
      const session = listed.find(({ meta }) => meta === deviceId);
      // The device may have signed in since the row was read.
      if (session && session.expires_at > (await nowMs())) {
        await write(account, session, 'lost');
        return false;
      }
      await drop(account, deviceId, row);
      return true;
    },
  };
}

export type SessionRows = ReturnType<typeof makeSessionRows>;

/** Returns true for errors that the broker caused, not the caller. */
export const isBrokerFault = (error: unknown): boolean =>
  error instanceof BatonError && (error.code === 'broker_unavailable' || error.code === 'broker_contract');
