import type { MintSession, Persist } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { DeviceRef, DeviceType, Scope } from '../../../../shared/contract/vocabulary/fields.ts';
import type { BrokerClient } from '../../sessions/auth-broker/broker-client.ts';
import type { Issued } from '../../sessions/sessions.ts';
import { type Grant, type Grants, secondsLeft } from '../approval/grants.ts';
import type { LoginFields, LoginStore } from '../store.ts';

interface ConsumeParts {
  store: Pick<LoginStore, 'finish'>;
  broker: BrokerClient;
  /** The device had this session before: its secrets until now are over. */
  onReplaced: (account: string, deviceId: string) => Promise<void>;
  /** Writes the row of a minted session. Throws `device_limit`. */
  admit: (account: string, issued: Issued['issued'], type: DeviceType) => Promise<DeviceRef>;
  grants: Pick<Grants, 'find'>;
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
  const { store, broker, onReplaced, admit, grants, nowMs, expectClaim, lifetimes } = parts;

  /** Seconds that the approver still grants; null when it could not approve this any more. */
  async function granted({ account = '', user = '', approver = '', session = '', persist }: LoginFields) {
    const grant: Grant | null = await grants.find({ user, account, deviceId: approver, sessionId: session });
    if (grant === null) return null;
    if (persist === 'persist') return grant.persist === 'persist' ? lifetimes.persist : null;
    const seconds = Math.min(lifetimes.once, secondsLeft(grant, await nowMs()));
    return seconds < 1 ? null : seconds;
  }

  async function mint(requestId: string, login: LoginFields, seconds: number): Promise<Issued> {
    const { account = '', user = '', name = '', type, device = '', scope, persist } = login;
    const body: MintSession = {
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
    await expectClaim(account, device);
    const issued = await broker.mint(body, requestId);
    if (!issued.isNew) await onReplaced(account, device);
    try {
      return { issued, device: await admit(account, issued, type as DeviceType) };
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
      const seconds = await granted(login);
      if (seconds === null) throw new BatonError('access_denied');
      const issued = await mint(requestId, login, seconds);
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
