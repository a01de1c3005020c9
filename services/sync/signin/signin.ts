import { randomBytes } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import { type DeviceType, parseDeviceName } from '../../../shared/contract/vocabulary/fields.ts';
import type { ApproveLogin, LoginRequestView } from '../../../shared/contract/modules/signin.ts';
import type { Operation } from '../../../shared/service-kit/operation.ts';
import type { Caller } from '../identity/caller.ts';
import { checkScope, NATIVE, newDeviceId } from '../sessions/sessions.ts';
import { payloadOf } from '../redis/bus/payloads.ts';
import type { Consume } from './polling/consume.ts';
import type { Approver, Grants } from './approval/grants.ts';
import { makePolling } from './polling/polling.ts';
import type { Polls } from './polling/polls.ts';
import type { Invites } from './invites.ts';
import { digest, known } from './request-secrets.ts';
import type { LoginStore } from './store.ts';

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');

const approverOf = ({ userId, account, deviceId, sessionId = '' }: Caller): Approver => ({
  user: userId,
  account,
  deviceId: deviceId ?? '',
  sessionId,
});

/** What a device that may approve it sees of a request. */
function viewOf(
  requestId: string,
  { nowMs, login }: Awaited<ReturnType<LoginStore['read']>>,
): Omit<LoginRequestView, 'allowed_persist'> {
  const type = login['type'] as DeviceType;
  return {
    request_id: requestId,
    device_name: login['name'] ?? '',
    device_type: type,
    source: { address: login['address'] ?? '', user_agent: login['agent'] ?? '' },
    device_id: login['device'] ?? '',
    age_seconds: Math.floor((nowMs - Number(login['created'])) / 1000),
    expires_at: Number(login['expires']),
    allowed_scopes: NATIVE.includes(type) ? ['full'] : ['guest', 'full'],
  };
}

interface SigninParts {
  store: LoginStore;
  invites: Invites;
  polls: Polls;
  /** Null without an auth broker: then nothing can make a session. */
  consume: Consume | null;
  grants: Pick<Grants, 'check' | 'offered'>;
  publicUrl: string;
  requestSeconds: number;
  /** This replica's channel, through which its polls are notified. */
  channel: () => string;
  publish: (channel: string, payload: string) => Promise<unknown>;
  onOutcome: (outcome: string) => void;
  onFailure: (task: string, error: unknown) => void;
}

/** Notifies the poll that waits, here or on another replica: to read its request again, or to end. */
function makeNotifying({ polls, channel, publish, onFailure }: SigninParts) {
  return (waiter: string, word: 'read' | 'end'): void => {
    const [to, pollId] = waiter.split('\n');
    if (!to || !pollId) return;
    if (to === channel()) return polls.wake(pollId, word);
    publish(to, payloadOf('login', pollId, word)).catch((error: unknown) => onFailure('notify poll', error));
  };
}

/** A new login request. With `invite` the device that made that is asked. Throws `invalid_device_name`, and `not_found` for the invite. */
function makeStart({ store, invites, publicUrl, requestSeconds, onOutcome }: SigninParts) {
  return async function start(
    wanted: { device_name: string; device_type: DeviceType; invite?: string },
    source: { address: string; agent: string },
  ) {
    const name = parseDeviceName(wanted.device_name);
    if (name === null) throw new BatonError('invalid_device_name');
    const account = wanted.invite === undefined ? null : await invites.accountOf(wanted.invite);
    const [requestId, code, secret] = [random(16), random(16), random(32)];
    const deviceId = newDeviceId();
    const { expiresAtMs } = await store.start(requestId, requestSeconds * 1000, {
      poll: digest(secret),
      code: digest(code),
      name,
      type: wanted.device_type,
      device: deviceId,
      ...source,
    });
    if (account !== null && wanted.invite !== undefined) {
      await invites.take(account, wanted.invite, {
        request_id: requestId,
        approval_code: code,
        device_name: name,
        device_type: wanted.device_type,
        source: { address: source.address, user_agent: source.agent },
        expires_at: expiresAtMs,
        device_id: deviceId,
      });
    }
    onOutcome('started');
    return {
      request_id: requestId,
      poll_secret: secret,
      expires_at: expiresAtMs,
      qr_payload: `${publicUrl}/link?r=${requestId}&c=${code}`,
    };
  };
}

/** Signs in a new device by a code: the new device shows it, and a device that is signed in reads it. */
export function makeSignin(parts: SigninParts) {
  const { store, invites, polls, grants, publicUrl, onOutcome, onFailure } = parts;

  const notify = makeNotifying(parts);

  async function decide(
    { account, scope }: Caller,
    { requestId, code }: { requestId: string; code: string | undefined },
    decision: { operation: Operation; state: 'approved' | 'denied'; fields: Record<string, string> },
  ): Promise<void> {
    const { operation, state, fields } = decision;
    const waiter = await store.decide(known(requestId), code === undefined ? '' : digest(code), {
      operationId: operation.id,
      account,
      state,
      fields,
      // A guest can approve nothing. Its wrong codes must not keep the others of its account from approving.
      countsTries: scope === 'full',
    });
    onOutcome(state);
    notify(waiter, 'read');
    // It lapses with the request; until then a stream that opens would ask once more.
    await invites.settle(account, requestId).catch((error: unknown) => onFailure('settle invite', error));
  }

  return {
    start: makeStart(parts),

    /** Throws `device_required`, `rate_limited`. */
    async invite(caller: Caller) {
      const { inviteId, expiresAtMs } = await invites.invite(caller);
      return { invite_id: inviteId, invite_payload: `${publicUrl}/join?i=${inviteId}`, expires_at: expiresAtMs };
    },

    poll: makePolling({ ...parts, notify }),

    /** Throws `not_found` (also for a wrong code), `login_expired`, `login_consumed`, `already_decided`, `rate_limited`. */
    async read(caller: Caller, requestId: string, code: string): Promise<LoginRequestView> {
      const read = await store.read(known(requestId), digest(code), caller.account);
      return { ...viewOf(requestId, read), allowed_persist: await grants.offered(approverOf(caller)) };
    },

    /** Throws as `read`, and `scope_not_allowed`, `tier_exceeded`, `broker_unavailable`, `broker_contract`. */
    async approve(caller: Caller, wanted: ApproveLogin, operation: Operation): Promise<void> {
      const { request_id: requestId, approval_code: code, scope, persist } = wanted;
      checkScope(scope, caller.scope, 'browser');
      const approver = approverOf(caller);
      await grants.check(approver, persist);
      const { user, account, deviceId, sessionId: session } = approver;
      const fields = { user, account, approver: deviceId, session, scope, persist };
      await decide(caller, { requestId, code }, { operation, state: 'approved', fields });
    },

    /** Also without the code: whoever knows the request's id has seen it, and can only keep a device out. Throws as `read`. */
    deny: (caller: Caller, requestId: string, code: string | undefined, operation: Operation): Promise<void> =>
      decide(caller, { requestId, code }, { operation, state: 'denied', fields: {} }),

    drain: polls.drain,
  };
}

export type Signin = ReturnType<typeof makeSignin>;
