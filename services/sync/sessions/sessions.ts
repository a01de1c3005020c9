import { randomBytes } from 'node:crypto';
import type { BrokerSession, IssuedSession, MintSession, Persist } from '../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import {
  type DeviceRef,
  type DeviceType,
  parseDeviceName,
  type Scope,
} from '../../../shared/contract/vocabulary/fields.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { DeviceSession, RevokedReason, StartDeviceSession } from '../../../shared/contract/modules/sessions.ts';
import type { DeviceRow } from '../devices/row.ts';
import type { Caller } from '../identity/caller.ts';
import type { BrokerClient } from './auth-broker/broker-client.ts';
import type { RemoveDevice } from './revocation/removal.ts';
import type { Revocations } from './revocation/revocations.ts';
import type { RowSessions } from './rows/row-sessions.ts';
import { type DeviceRows, isBrokerFault, type SessionRows } from './rows/rows.ts';

/** The types of native devices, which can have only full scope. */
export const NATIVE: readonly DeviceType[] = ['macos', 'windows', 'linux', 'ios'];

/** Makes a device id of 120 random bits, in base64url. */
export const newDeviceId = (): string => randomBytes(15).toString('base64url');

/** The credential that a request carries. */
type Shown = { credential: string } | { access_token: string };

export interface Issued {
  /** `cookie` is null without an auth broker. */
  issued: Omit<IssuedSession, 'cookie'> & { cookie: IssuedSession['cookie'] | null };
  device: DeviceRef | null;
}

export interface SessionsParts {
  broker: BrokerClient | null;
  /** Identity `dev` without an auth broker; else null. */
  startByRow: RowSessions | null;
  devices: DeviceRows;
  rows: SessionRows;
  removal: RemoveDevice;
  revocations: Revocations;
  onlineDevices: (account: string) => Promise<Set<string>>;
  erase: (account: string) => Promise<void>;
  /** Called when a device shows its credential, which proves that its session has reached it. Must not wait. */
  onShown: (device: Pick<Caller, 'account' | 'deviceId'>) => void;
  /** Unix ms of the store. A replica's own clock may be behind, which would make a session longer. */
  nowMs: () => Promise<number>;
  onceSeconds: number;
  persistSeconds: number;
}

/** Checks that a scope may be granted. Throws `scope_not_allowed`, `tier_exceeded`. */
export function checkScope(asked: Scope, tier: Scope, type: DeviceType): void {
  if (asked === 'full' && tier !== 'full') throw new BatonError('tier_exceeded');
  if (asked === 'guest' && NATIVE.includes(type)) throw new BatonError('scope_not_allowed');
}

/** Makes the rules of device sessions. The auth broker holds the sessions; this module asks for them and passes them on. */
export function makeSessions(parts: SessionsParts) {
  const { devices, rows, removal, revocations, onlineDevices, erase, onShown, nowMs, onceSeconds, persistSeconds } =
    parts;
  const broker = (): BrokerClient => {
    if (parts.broker === null) throw new BatonError('broker_unavailable', 'There is no auth broker here');
    return parts.broker;
  };

  const lifetimeOf = (persist: Persist): Pick<MintSession, 'persist' | 'ttl_seconds' | 'sliding'> =>
    persist === 'once'
      ? { persist, ttl_seconds: onceSeconds, sliding: false }
      : { persist, ttl_seconds: persistSeconds, sliding: true };

  /** Resolves to what a device keeps when it renews itself: its scope, and the end of a `once` session. */
  async function kept(
    caller: Pick<Caller, 'userId' | 'deviceId'>,
  ): Promise<Pick<MintSession, 'scope' | 'persist' | 'ttl_seconds' | 'sliding'>> {
    const own = (await broker().list(caller.userId)).find(({ meta }) => meta === caller.deviceId);
    if (!own) throw new BatonError('session_expired');
    if (own.persist === 'persist') return { scope: own.scope, ...lifetimeOf('persist') };
    // The broker counts whole seconds. Rounding up would make the session longer with each renewal.
    const leftSeconds = Math.floor((own.expires_at - (await nowMs())) / 1000);
    if (leftSeconds < 1) throw new BatonError('session_expired');
    return { scope: own.scope, persist: 'once', ttl_seconds: leftSeconds, sliding: false };
  }

  async function checkSpace(account: string, deviceId: string): Promise<void> {
    const there = await devices.rows(account);
    if (there.length < LIMITS.devicesPerAccount || there.some((row) => row.deviceId === deviceId)) return;
    throw new BatonError('device_limit');
  }

  async function mint(caller: Caller, body: MintSession, idempotencyKey: string): Promise<Issued> {
    await checkSpace(caller.account, body.meta);
    const tell = () => revocations.tellReplaced(caller.account, body.meta, caller.deviceId === null);
    const issued = await broker()
      .mint(body, idempotencyKey)
      .catch(async (error: unknown) => {
        // The broker may have minted, and only its response was lost.
        if (isBrokerFault(error)) await tell();
        throw error;
      });
    // The earlier secrets are void, even if something fails from here on, so nothing may go on by them.
    if (!issued.isNew) await tell();
    try {
      return { issued, device: await rows.write(caller.account, issued, 'minted', body.device_type) };
    } catch (error) {
      await takeBack(caller, issued, error);
      throw error;
    }
  }

  /** Ends a session at the broker, if its device was refused or was signed out while the session was made. */
  async function takeBack({ account }: Caller, issued: IssuedSession, error: unknown): Promise<void> {
    const { subject, session_id: sessionId, meta: deviceId } = issued;
    const code = error instanceof BatonError ? error.code : null;
    if (code === 'device_limit') await broker().revoke({ subject, session_id: sessionId, reason: 'refused' });
    if (code === 'session_revoked') await removal.remove({ account, deviceId, sessionId, reason: 'revoked' });
  }

  async function describe(
    caller: Caller,
    listed: BrokerSession[] | null,
    there: DeviceRow[],
  ): Promise<DeviceSession[]> {
    const online = await onlineDevices(caller.account);
    const ofRow = new Map(there.map((row) => [row.deviceId, row]));
    const known = (deviceId: string) => ({
      device_id: deviceId,
      online: online.has(deviceId),
      current: deviceId === caller.deviceId,
    });
    if (listed === null) {
      const now = await nowMs();
      const isOver = ({ sessionEndsAtMs: endMs }: DeviceRow) => endMs !== null && endMs <= now;
      return there
        .filter((row) => !isOver(row))
        .map(({ deviceId, name, type, sessionId, sessionEndsAtMs }) => ({
          ...known(deviceId),
          session_id: sessionId,
          name,
          type,
          scope: null,
          persist: null,
          created_at: null,
          last_active_at: null,
          expires_at: sessionEndsAtMs,
        }));
    }
    return listed
      .filter(({ meta }) => meta !== '' && !revocations.isRevoked(caller.account, meta))
      .map(({ session_id, meta, label, scope, persist, created_at, last_active_at, expires_at }) => ({
        ...known(meta),
        session_id,
        name: ofRow.get(meta)?.name ?? label,
        type: ofRow.get(meta)?.type ?? null,
        scope,
        persist,
        created_at,
        last_active_at,
        expires_at,
      }));
  }

  async function remove(caller: Caller, deviceId: string, reason: RevokedReason): Promise<boolean> {
    const row = (await devices.rows(caller.account)).find((each) => each.deviceId === deviceId);
    if (!row && !(await hasSession(caller, deviceId))) return true;
    return removal.remove({ account: caller.account, deviceId, sessionId: row?.sessionId ?? null, reason });
  }

  /**
   * Resolves to whether the account has a session of this device. It is also true while the broker is unreachable, and the
   * device is then revoked in any case. That is bounded, because every replica remembers a revocation for a day. Throws
   * `broker_unavailable`, `broker_contract`.
   */
  async function hasSession(caller: Caller, deviceId: string): Promise<boolean> {
    if (caller.deviceId === deviceId) return true;
    if (parts.broker === null) return false;
    try {
      return (await parts.broker.list(caller.userId)).some(({ meta }) => meta === deviceId);
    } catch (error) {
      const mayBeAny = isBrokerFault(error) && revocations.countOf(caller.account) < LIMITS.devicesPerAccount;
      if (mayBeAny) return true;
      throw error;
    }
  }

  /** Resolves to the caller's own session without a device; null if the request does not show which one it is. */
  async function ownSession({ userId, sessionId }: Caller, shown: Shown | null): Promise<string | null> {
    if (sessionId !== undefined || shown === null || parts.broker === null) return sessionId ?? null;
    const verified = await parts.broker.verify(shown);
    return verified.subject === userId ? verified.session_id : null;
  }

  async function endSession({ account, userId }: Caller, sessionId: string, reason: RevokedReason): Promise<void> {
    await broker().revoke({ subject: userId, session_id: sessionId, reason });
    await revocations.tellSession(account, sessionId, reason);
  }

  return {
    kept,

    /**
     * Starts or renews a device's session. Throws `invalid_device_name`, `scope_not_allowed`, `tier_exceeded`,
     * `device_mismatch`, `guest_forbidden`, `device_limit`, and the refusals of the broker.
     */
    async start(caller: Caller, wanted: StartDeviceSession, idempotencyKey: string): Promise<Issued> {
      const name = parseDeviceName(wanted.device_name);
      if (name === null) throw new BatonError('invalid_device_name');
      checkScope(wanted.scope ?? caller.scope, caller.scope, wanted.device_type);
      const asked = { subject: caller.userId, label: name, device_type: wanted.device_type };
      const origin = { caller_tier: caller.scope, origin: 'login' as const };
      if (caller.deviceId !== null) {
        if (wanted.device_id !== caller.deviceId) throw new BatonError('device_mismatch');
        return mint(caller, { ...asked, ...origin, meta: caller.deviceId, ...(await kept(caller)) }, idempotencyKey);
      }
      // A guest could otherwise make itself a session that outlives its own.
      if (caller.scope !== 'full') throw new BatonError('guest_forbidden');
      const isTombstoned = await revocations.isTombstoned(caller.account, wanted.device_id);
      const meta = isTombstoned ? newDeviceId() : wanted.device_id;
      const scope = wanted.scope ?? caller.scope;
      const body = { ...asked, ...origin, meta, scope, ...lifetimeOf(wanted.persist ?? 'persist') };
      return parts.startByRow ? parts.startByRow(caller, body) : mint(caller, body, idempotencyKey);
    },

    /** Renews a session. Throws `session_expired`, `session_revoked`, `reuse_detected`, `account_refused`. */
    async refresh(credential: string): Promise<Issued> {
      const issued = await broker().rotate(credential);
      const account = encodeURIComponent(issued.subject);
      if (issued.meta === '') return { issued, device: null };
      if (await revocations.isTombstoned(account, issued.meta)) {
        await removal.remind(account, issued.meta, issued.session_id);
        throw new BatonError('session_revoked');
      }
      onShown({ account, deviceId: issued.meta });
      return { issued, device: await rows.write(account, issued, 'lost') };
    },

    /** Resolves to whether the broker ended the session. `shown` identifies a session without a device. */
    async logOut(caller: Caller, shown: Shown | null): Promise<boolean> {
      if (caller.deviceId !== null) return remove(caller, caller.deviceId, 'logout');
      const own = await ownSession(caller, shown);
      if (own !== null) await endSession(caller, own, 'logout');
      return true;
    },

    /** Lists the sessions. `stale`: the broker was unreachable, and the list comes from the rows. */
    async list(caller: Caller): Promise<{ sessions: DeviceSession[]; stale: boolean }> {
      let there = await devices.rows(caller.account);
      const asked = parts.broker === null ? Promise.resolve(null) : parts.broker.list(caller.userId);
      const listed = await asked.catch((error: unknown) => {
        if (isBrokerFault(error)) return null;
        throw error;
      });
      if (listed !== null && (await rows.reconcile(caller.account, listed, there))) {
        there = await devices.rows(caller.account);
      }
      return { sessions: await describe(caller, listed, there), stale: listed === null };
    },

    /** Does nothing for a device that the account does not have. Resolves to whether the broker ended the session. */
    remove: (caller: Caller, deviceId: string): Promise<boolean> => remove(caller, deviceId, 'revoked'),

    /** Ends all other sessions. If the broker cannot list them, ends those of known devices and throws its error. */
    async removeOthers(caller: Caller, shown: Shown | null): Promise<number> {
      const { account, userId, deviceId: own } = caller;
      const listed = await (parts.broker?.list(userId) ?? Promise.resolve([])).catch((error: unknown) => {
        if (isBrokerFault(error)) return error as BatonError;
        throw error;
      });
      const sessions = Array.isArray(listed) ? listed : [];
      const ids = new Set([
        ...(await devices.rows(account)).map(({ deviceId }) => deviceId),
        ...sessions.map(({ meta }) => meta).filter((meta) => meta !== ''),
      ]);
      if (own !== null) ids.delete(own);
      for (const deviceId of ids) await remove(caller, deviceId, 'revoked');
      if (!Array.isArray(listed)) throw listed;
      const ownBare = own === null ? await ownSession(caller, shown) : null;
      // If it is unknown which session without a device is the caller's own, none of them is ended.
      const isUnknown = own === null && ownBare === null;
      const bare = sessions.filter(({ meta, session_id }) => meta === '' && !isUnknown && session_id !== ownBare);
      for (const { session_id } of bare) await endSession(caller, session_id, 'revoked');
      return ids.size + bare.length;
    },

    /** Removes all data of the account, and restores the rows of its sessions. */
    async erase({ account, userId }: Pick<Caller, 'account' | 'userId'>): Promise<void> {
      const types = new Map((await devices.rows(account)).map(({ deviceId, type }) => [deviceId, type]));
      await erase(account);
      const listed = await (parts.broker?.list(userId) ?? Promise.resolve([])).catch(() => []);
      if (listed.length === 0) return;
      await rows.reconcile(account, listed, [], types).catch((error: unknown) => {
        // A full store takes no row of a device that had none. The next request that needs it restores it.
        if (!(error instanceof BatonError && error.code === 'store_full')) throw error;
      });
    },
  };
}

export type Sessions = ReturnType<typeof makeSessions>;
