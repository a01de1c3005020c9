import type { BrokerSession, EndedSession } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { DeviceRef, DeviceType } from '../../../../shared/contract/vocabulary/fields.ts';
import { parseDeviceName } from '../../../../shared/contract/vocabulary/fields.ts';
import { type DeviceRow, formatRow, type NewDevice } from '../../devices/row.ts';
import type { BrokerClient } from '../auth-broker/broker-client.ts';
import type { RemoveDevice } from '../revocation/removal.ts';
import { makeRowRestoring } from './row-restoring.ts';
import type { Revocations } from '../revocation/revocations.ts';

/** A row without a session id that a listing lacks is removed only when it is older than this. */
const YOUNG_MS = 60_000;
/** For so long the end of the same session is not announced again, should somebody still show its credential. */
const TELL_AGAIN_MS = 10_000;
const MOST_REPORTED = 10_000;

/** What sessions need of devices. */
export interface DeviceRows {
  admit(account: string, device: NewDevice): Promise<DeviceRef>;
  rows(account: string): Promise<DeviceRow[]>;
  remove(account: string, deviceId: string, onlyIf?: DeviceRow): Promise<boolean>;
}

interface RowsParts {
  devices: DeviceRows;
  revocations: Revocations;
  removal: Pick<RemoveDevice, 'expire' | 'remind'>;
  broker: Pick<BrokerClient, 'list'> | null;
  /** Unix ms of the store. */
  nowMs: () => Promise<number>;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
}

/** Tells whether the end of this session was announced a moment ago; if not, it counts as announced now. */
function makeReported() {
  const untilMs = new Map<string, number>();
  return (id: string): boolean => {
    if ((untilMs.get(id) ?? 0) > performance.now()) return true;
    if (untilMs.size >= MOST_REPORTED) untilMs.clear();
    untilMs.set(id, performance.now() + TELL_AGAIN_MS);
    return false;
  };
}

/** Makes a device name of a label that another service wrote. */
const nameOf = (label: string, deviceId: string): string => parseDeviceName(label) ?? deviceId.slice(0, 32);

/**
 * Device rows as a cache of the auth broker's sessions: written with each session, put back when they were lost, and
 * removed when the broker has no such session any more.
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
    // It was signed out meanwhile, and the row may have been written after its removal.
    if (!(await revocations.isTombstoned(account, deviceId))) return device;
    await devices.remove(account, deviceId);
    throw new BatonError('session_revoked');
  }

  const restoring = makeRowRestoring({ devices, revocations, removal, broker, write });

  /** The session of this row is gone. A row that has another session by now stays. */
  async function drop(account: string, row: DeviceRow): Promise<void> {
    const now = (await devices.rows(account)).find(({ deviceId }) => deviceId === row.deviceId);
    if (now && formatRow(now) === formatRow(row)) await removal.expire(account, row.deviceId, row);
  }

  /**
   * Puts back missing rows, and removes those without a session. `types`: as for `putBackMissing`. Resolves to whether any
   * was put back.
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
    // A row is written after its session and read before the listing, so the listing has the session of each row read.
    const isJudged = (row: DeviceRow) => row.sessionId !== null || row.createdAtMs < youngMs;
    for (const row of rows) if (!alive.has(row.deviceId) && isJudged(row)) await drop(account, row);
    return anyIsBack;
  }

  return {
    write,
    reconcile,

    restore: restoring.restore,

    /**
     * The auth broker ended this session, because an old secret was used again or another service asked for it. Its streams
     * end on every replica, and what was cached of it is forgotten. A newer session of the same device goes on.
     */
    async end({ session_id: id, subject, meta: deviceId }: EndedSession): Promise<void> {
      const account = encodeURIComponent(subject);
      if (deviceId === '' || revocations.isRevoked(account, deviceId)) return;
      if (isReported(id)) return;
      const row = (await devices.rows(account)).find((each) => each.deviceId === deviceId);
      // It was not signed out: it may sign in again under the same id, and finds its mailbox.
      if (row?.sessionId === id) await revocations.tell(account, deviceId, 'expired');
    },

    /** What the sweep of due things runs when a row's session should be over. False: it goes on. */
    async expire(account: string, job: string): Promise<boolean> {
      const deviceId = job.slice('session:'.length);
      const row = (await devices.rows(account)).find((each) => each.deviceId === deviceId);
      const listed = broker === null ? [] : await broker.list(decodeURIComponent(account));
      const session = listed.find(({ meta }) => meta === deviceId);
      if (row && session && session.expires_at > (await nowMs())) {
        await write(account, session, 'lost');
        return false;
      }
      if (row) await drop(account, row);
      else await removal.expire(account, deviceId);
      return true;
    },
  };
}

export type SessionRows = ReturnType<typeof makeSessionRows>;

/** True for what the broker, and not the caller, is to blame for. */
export const isBrokerFault = (error: unknown): boolean =>
  error instanceof BatonError && (error.code === 'broker_unavailable' || error.code === 'broker_contract');
