import type { MintSession, Persist } from '../../../../shared/contract/modules/broker.ts';
import type { DeviceRef, DeviceType, Scope } from '../../../../shared/contract/vocabulary/fields.ts';
import { type Grant, type Grants, secondsLeft } from '../approval/grants.ts';
import type { LoginFields } from '../store.ts';

type Kept = Pick<MintSession, 'scope' | 'persist' | 'ttl_seconds' | 'sliding'>;

export interface SessionOfParts {
  grants: Pick<Grants, 'find'>;
  /** Resolves to what a signed-in device keeps of its session. Throws `session_expired`. */
  kept: (device: { userId: string; deviceId: string }) => Promise<Kept>;
  /** Resolves to whether the device was signed out. */
  isRevoked: (account: string, deviceId: string) => Promise<boolean>;
  /** Resolves to the device's row, because its name may have changed since the request began. */
  ownDevice: (device: { account: string; deviceId: string }) => Promise<DeviceRef | null>;
  /** Unix ms of the store. */
  nowMs: () => Promise<number>;
  lifetimes: Readonly<Record<Persist, number>>;
}

/** Returns a function that makes a mint from an approved request; null if its approver or device is no longer valid. */
export function makeSessionOf({ grants, kept, isRevoked, ownDevice, nowMs, lifetimes }: SessionOfParts) {
  /** Resolves to the seconds that the approver still grants; null if it could no longer approve this. */
  async function granted({ account = '', user = '', approver = '', session = '', persist }: LoginFields) {
    const grant: Grant | null = await grants.find({ user, account, deviceId: approver, sessionId: session });
    if (grant === null) return null;
    if (persist === 'persist') return grant.persist === 'persist' ? lifetimes.persist : null;
    const seconds = Math.min(lifetimes.once, secondsLeft(grant, await nowMs()));
    return seconds < 1 ? null : seconds;
  }

  /** Resolves to the session of a new device; null if its approver could no longer approve this. */
  async function ofNew(login: LoginFields): Promise<MintSession | null> {
    const seconds = await granted(login);
    if (seconds === null) return null;
    const { user = '', name = '', type, device = '', scope, persist } = login;
    return {
      subject: user,
      meta: device,
      label: name,
      scope: scope as Scope,
      persist: persist as Persist,
      ttl_seconds: seconds,
      sliding: persist === 'persist',
      device_type: type as DeviceType,
      caller_tier: 'full',
      origin: 'qr',
    };
  }

  /**
   * Resolves to the session of a signed-in device: the same session with new secrets. Null as for `ofNew`, and if the
   * device was signed out or has no row.
   */
  async function ofKnown({ account = '', user = '', approver = '', session = '', device = '' }: LoginFields) {
    const approves = await grants.find({ user, account, deviceId: approver, sessionId: session });
    if (approves === null || (await isRevoked(account, device))) return null;
    const own = await ownDevice({ account, deviceId: device });
    if (own === null) return null;
    const keeps = await kept({ userId: user, deviceId: device });
    const asked = { subject: user, meta: device, label: own.name, device_type: own.type };
    return { ...asked, ...keeps, caller_tier: keeps.scope, origin: 'qr' as const };
  }

  return (login: LoginFields): Promise<MintSession | null> =>
    login['owner'] === undefined ? ofNew(login) : ofKnown(login);
}
