import { createHash, randomBytes } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import { type DeviceType, parseDeviceName } from '../../../shared/contract/fields.ts';
import type { ApproveLogin, LoginRequestView } from '../../../shared/contract/signin.ts';
import type { Operation } from '../../server/operation.ts';
import type { Caller } from '../identity/caller.ts';
import { checkScope, type Issued, NATIVE, newDeviceId } from '../sessions/sessions.ts';
import { payloadOf } from '../redis/bus/payloads.ts';
import type { Consume } from './consume.ts';
import type { Approver, Grants } from './grants.ts';
import type { Polls } from './polls.ts';
import type { LoginStore } from './store.ts';

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');
/** Secrets have 128 and 256 random bits, so a slow hash would gain nothing. Only digests are compared. */
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

const REQUEST_ID = /^[\w-]{22}$/;

/** Throws `not_found` for what cannot be the id of a request, as for an unknown one. */
function known(requestId: string): string {
  if (REQUEST_ID.test(requestId)) return requestId;
  throw new BatonError('not_found');
}

const approverOf = ({ userId, account, deviceId, sessionId = '' }: Caller): Approver => ({
  user: userId,
  account,
  deviceId: deviceId ?? '',
  sessionId,
});

export interface PollOptions {
  requestId: string;
  pollSecret: string;
  waitMs: number;
  /** Address of the client. */
  address: string;
  signal: AbortSignal;
}

/** `isBusy`: the poll did not wait, because too many do. */
export type PollOutcome = { pending: { expiresAtMs: number }; isBusy?: boolean } | { issued: Issued };

interface SigninParts {
  store: LoginStore;
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

/** Signs in a new device by a code: the new device shows it, and a device that is signed in reads it. */
export function makeSignin(parts: SigninParts) {
  const { store, polls, consume, grants, publicUrl, requestSeconds, channel, publish, onOutcome, onFailure } = parts;

  const notify = (waiter: string, word: 'read' | 'end'): void => {
    const [to, pollId] = waiter.split('\n');
    if (!to || !pollId) return;
    if (to === channel()) return polls.wake(pollId, word);
    publish(to, payloadOf('login', pollId, word)).catch((error: unknown) => onFailure('notify poll', error));
  };

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
  }

  return {
    /** Throws `invalid_device_name`. */
    async start(wanted: { device_name: string; device_type: DeviceType }, source: { address: string; agent: string }) {
      const name = parseDeviceName(wanted.device_name);
      if (name === null) throw new BatonError('invalid_device_name');
      const [requestId, code, secret] = [random(16), random(16), random(32)];
      const { expiresAtMs } = await store.start(requestId, requestSeconds * 1000, {
        poll: digest(secret),
        code: digest(code),
        name,
        type: wanted.device_type,
        device: newDeviceId(),
        ...source,
      });
      onOutcome('started');
      return {
        request_id: requestId,
        poll_secret: secret,
        expires_at: expiresAtMs,
        qr_payload: `${publicUrl}/link?r=${requestId}&c=${code}`,
      };
    },

    /** Throws `not_found` (also for a wrong secret), `access_denied`, `login_expired`, `login_consumed`, and as `consume`. */
    async poll({ requestId, pollSecret, waitMs, address, signal }: PollOptions): Promise<PollOutcome> {
      const [id, pollDigest, pollId] = [known(requestId), digest(pollSecret), polls.newId()];
      const deadline = performance.now() + waitMs;
      let leave: (() => void) | null = null;
      try {
        for (let isFirst = true; ; isFirst = false) {
          const poll = await store.poll(id, pollDigest, `${channel()}\n${pollId}`, isFirst);
          if (poll.state === 'leased') {
            if (consume === null) {
              await store.finish(id, poll.fence, 'approved');
              throw new BatonError('broker_unavailable', 'There is no auth broker here');
            }
            const issued = await consume(id, poll.fence, poll.login);
            if (issued !== null) onOutcome('consumed');
            return issued === null ? { pending: poll } : { issued };
          }
          if (poll.replaced !== '') notify(poll.replaced, 'end');
          if (poll.state === 'superseded') return { pending: poll };
          const leftMs = deadline - performance.now();
          if (leftMs <= 0) return { pending: poll };
          leave ??= polls.enter(address);
          if (leave === null) return { pending: poll, isBusy: true };
          if ((await polls.wait(pollId, leftMs, signal)) === 'end') return { pending: poll };
        }
      } finally {
        leave?.();
      }
    },

    /** Throws `not_found` (also for a wrong code), `login_expired`, `login_consumed`, `already_decided`, `rate_limited`. */
    async read(caller: Caller, requestId: string, code: string): Promise<LoginRequestView> {
      const { nowMs, login } = await store.read(known(requestId), digest(code), caller.account);
      const type = login['type'] as DeviceType;
      return {
        request_id: requestId,
        device_name: login['name'] ?? '',
        device_type: type,
        source: { address: login['address'] ?? '', user_agent: login['agent'] ?? '' },
        age_seconds: Math.floor((nowMs - Number(login['created'])) / 1000),
        expires_at: Number(login['expires']),
        allowed_scopes: NATIVE.includes(type) ? ['full'] : ['guest', 'full'],
        allowed_persist: await grants.offered(approverOf(caller)),
      };
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
