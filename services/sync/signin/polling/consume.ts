import type { MintSession, Persist } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { DeviceRef, DeviceType, Scope } from '../../../../shared/contract/vocabulary/fields.ts';
import type { BrokerClient } from '../../sessions/auth-broker/broker-client.ts';
import type { Issued } from '../../sessions/sessions.ts';
import { type Grant, type Grants, secondsLeft } from '../approval/grants.ts';
import type { LoginFields, LoginStore } from '../store.ts';

type Kept = Pick<MintSession, 'scope' | 'persist' | 'ttl_seconds' | 'sliding'>;

interface ConsumeParts {
  store: Pick<LoginStore, 'finish'>;
  broker: BrokerClient;
  /** The device had this session before: its secrets until now are over. */
  onReplaced: (account: string, deviceId: string, endsStreams: boolean) => Promise<void>;
  /** Writes the row of a minted session. Throws `device_limit`. */
  admit: (account: string, issued: Issued['issued'], type: DeviceType) => Promise<DeviceRef>;
  grants: Pick<Grants, 'find'>;
  /** What a device that is signed in keeps of its session. Throws `session_expired`. */
  kept: (device: { userId: string; deviceId: string }) => Promise<Kept>;
  /** Whether the device was signed out. */
  isRevoked: (account: string, deviceId: string) => Promise<boolean>;
  /** Its name may have changed since the request began. */
  ownDevice: (device: { account: string; deviceId: string }) => Promise<DeviceRef | null>;
  /** Unix ms of the store. */
  nowMs: () => Promise<number>;
  /** Schedules the check that the session is used within `claimSeconds`. */
  expectClaim: (account: string, deviceId: string) => Promise<void>;
  lifetimes: Readonly<Record<Persist, number>>;
}

const isFault = (error: unknown): boolean => !(error instanceof BatonError) || error.status >= 500;

/**
 * Turns an approved request into a session, under a lease. Every step may be repeated with the same outcome: the key of the
 * mint is the request's id, and that of the row is the device. A replica that dies in between leaves a lease that lapses.
 */
export function makeConsume(parts: ConsumeParts) {
  const { store, broker, onReplaced, admit, grants, nowMs, expectClaim, lifetimes, isRevoked, ownDevice } = parts;

  /** Seconds that the approver still grants; null when it could not approve this any more. */
  async function granted({ account = '', user = '', approver = '', session = '', persist }: LoginFields) {
    const grant: Grant | null = await grants.find({ user, account, deviceId: approver, sessionId: session });
    if (grant === null) return null;
    if (persist === 'persist') return grant.persist === 'persist' ? lifetimes.persist : null;
    const seconds = Math.min(lifetimes.once, secondsLeft(grant, await nowMs()));
    return seconds < 1 ? null : seconds;
  }

  /** The session of a new device. Null: its approver could not approve this any more. */
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

  /** The session of a device that has one: it keeps all but its secrets. Null as `ofNew`, or it was signed out. */
  async function ofKnown({ account = '', user = '', approver = '', session = '', device = '' }: LoginFields) {
    const approves = await grants.find({ user, account, deviceId: approver, sessionId: session });
    if (approves === null || (await isRevoked(account, device))) return null;
    const own = await ownDevice({ account, deviceId: device });
    if (own === null) return null;
    const kept = await parts.kept({ userId: user, deviceId: device });
    const asked = { subject: user, meta: device, label: own.name, device_type: own.type };
    return { ...asked, ...kept, caller_tier: kept.scope, origin: 'qr' as const };
  }

  async function mint(requestId: string, login: LoginFields, body: MintSession): Promise<Issued> {
    const { account = '', user = '' } = login;
    const { meta: device, device_type: type } = body;
    const isNew = login['owner'] === undefined;
    // A device that is signed in and does not get this answer is not removed for that, with what waits for it.
    if (isNew) await expectClaim(account, device);
    const issued = await broker.mint(body, requestId);
    if (!issued.isNew) await onReplaced(account, device, isNew);
    try {
      return { issued, device: await admit(account, issued, type) };
    } catch (error) {
      if (!isFault(error)) await broker.revoke({ subject: user, session_id: issued.session_id, reason: 'refused' });
      throw error;
    }
  }

  /**
   * Null: the lease was lost, and another poll answers. Throws `access_denied`, `device_limit`, `login_consumed`, and why the
   * broker did not answer; then the request stays approved.
   */
  return async function consume(requestId: string, fence: string, login: LoginFields): Promise<Issued | null> {
    try {
      const body = login['owner'] === undefined ? await ofNew(login) : await ofKnown(login);
      if (body === null) throw new BatonError('access_denied');
      const issued = await mint(requestId, login, body);
      const finish = () => store.finish(requestId, fence, 'consumed');
      // An answer may be lost. The same call again gets the first answer.
      return (await finish().catch(finish)) ? issued : null;
    } catch (error) {
      if (isFault(error)) {
        await store.finish(requestId, fence, 'approved').catch(() => false);
        throw error;
      }
      const isOver = error instanceof BatonError && error.code === 'already_decided';
      await store.finish(requestId, fence, isOver ? 'consumed' : 'denied');
      if (isOver) throw new BatonError('login_consumed');
      if (error instanceof BatonError && error.code === 'device_limit') throw error;
      throw new BatonError('access_denied', undefined, { cause: error });
    }
  };
}

export type Consume = ReturnType<typeof makeConsume>;
