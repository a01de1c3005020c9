import type { MintSession } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { DeviceRef, DeviceType } from '../../../../shared/contract/vocabulary/fields.ts';
import type { BrokerClient } from '../../sessions/auth-broker/broker-client.ts';
import type { Issued } from '../../sessions/sessions.ts';
import type { LoginFields, LoginStore } from '../store.ts';
import { makeSessionOf, type SessionOfParts } from './session-of.ts';

interface ConsumeParts extends SessionOfParts {
  store: Pick<LoginStore, 'finish'>;
  broker: Pick<BrokerClient, 'mint' | 'revoke'>;
  /** Called if the device had this session before: its earlier secrets are void, and its streams end if `endsStreams`. */
  onReplaced: (account: string, deviceId: string, endsStreams: boolean) => Promise<void>;
  /** Writes the row of a minted session. Throws `device_limit`. */
  admit: (account: string, issued: Issued['issued'], type: DeviceType) => Promise<DeviceRef>;
  /** Schedules the check that the session is used within `claimSeconds`. */
  expectClaim: (account: string, deviceId: string) => Promise<void>;
}

const isFault = (error: unknown): boolean => !(error instanceof BatonError) || error.status >= 500;

/**
 * Returns a function that turns an approved request into a session, under a lease. Every step may be repeated with the same
 * outcome: the key of the mint is the request's id, and the key of the row is the device. If a replica dies, its lease
 * lapses.
 */
export function makeConsume(parts: ConsumeParts) {
  const { store, broker, onReplaced, admit, expectClaim } = parts;

  const sessionOf = makeSessionOf(parts);

  async function mint(requestId: string, login: LoginFields, body: MintSession): Promise<Issued> {
    const { account = '', user = '' } = login;
    const { meta: device, device_type: type } = body;
    const isNew = login['owner'] === undefined;
    // A device that is already signed in is not removed if it misses this answer, because messages may wait for it.
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
   * Resolves to the session; null if the lease was lost and another poll answers. Throws `access_denied`, `device_limit`,
   * `login_consumed`, and any fault of the broker or the store, after which the request stays approved.
   */
  return async function consume(requestId: string, fence: string, login: LoginFields): Promise<Issued | null> {
    try {
      const body = await sessionOf(login);
      if (body === null) throw new BatonError('access_denied');
      const issued = await mint(requestId, login, body);
      const finish = () => store.finish(requestId, fence, 'consumed');
      // If the answer is lost, the same call again gets the first answer.
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
