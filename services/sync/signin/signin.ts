import { randomBytes } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import { type DeviceRef, type DeviceType, parseDeviceName } from '../../../shared/contract/vocabulary/fields.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { DeviceKeys } from '../../../shared/contract/vocabulary/sealed.ts';
import { checkSealed } from '../../../shared/service-kit/sealed-text.ts';
import type { ApproveLogin, LoginRequestView } from '../../../shared/contract/modules/signin.ts';
import type { Operation } from '../../../shared/service-kit/operation.ts';
import type { Caller } from '../identity/caller.ts';
import { checkScope, NATIVE, newDeviceId } from '../sessions/sessions.ts';
import { oddKeyOf } from '../../../shared/service-kit/p256-points.ts';
import { payloadOf } from '../redis/bus/payloads.ts';
import type { Consume } from './polling/consume.ts';
import type { Approver, Grants } from './approval/grants.ts';
import { makePolling } from './polling/polling.ts';
import type { Polls } from './polling/polls.ts';
import type { Invites } from './invites.ts';
import { digest, known } from './request-secrets.ts';
import type { LoginStore } from './store.ts';

const SEALED_GRANT = {
  field: 'sealed',
  most: LIMITS.sealedGrantBytes,
  tooLong: { code: 'body_too_large' },
} as const;

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');

const approverOf = ({ userId, account, deviceId, sessionId = '' }: Caller): Approver => ({
  user: userId,
  account,
  deviceId: deviceId ?? '',
  sessionId,
});

/** Returns what a device that may approve a request sees of it. */
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
    ...(login['keys'] !== undefined && { keys: JSON.parse(login['keys']) as DeviceKeys }),
    ...(login['owner'] !== undefined && { relink: true }),
    allowed_scopes: NATIVE.includes(type) ? ['full'] : ['guest', 'full'],
  };
}

interface SigninParts {
  store: LoginStore;
  invites: Invites;
  polls: Polls;
  /** Null without an auth broker, and then nothing can make a session. */
  consume: Consume | null;
  grants: Pick<Grants, 'check' | 'offered' | 'heldBy'>;
  publicUrl: string;
  requestSeconds: number;
  ownDevice: (caller: Pick<Caller, 'account' | 'deviceId'>) => Promise<DeviceRef | null>;
  /** Returns this replica's channel, through which its polls are notified. */
  channel: () => string;
  publish: (channel: string, payload: string) => Promise<unknown>;
  onOutcome: (outcome: string) => void;
  onFailure: (task: string, error: unknown) => void;
}

/** Returns a function that tells a waiting poll, here or on another replica, to read its request again or to end. */
function makeNotifying({ polls, channel, publish, onFailure }: SigninParts) {
  return (waiter: string, word: 'read' | 'end'): void => {
    const [to, pollId] = waiter.split('\n');
    if (!to || !pollId) return;
    if (to === channel()) return polls.wake(pollId, word);
    publish(to, payloadOf('login', pollId, word)).catch((error: unknown) => onFailure('notify poll', error));
  };
}

/** Returns public keys as they are kept: the two texts, and nothing else that was sent. Throws `invalid_request`. */
function keptKeys({ enc, sig }: DeviceKeys): string {
  const odd = oddKeyOf({ enc, sig });
  if (odd === null) return JSON.stringify({ enc, sig });
  const errors = [{ path: `/body/keys/${odd}`, message: 'is not a point of P-256' }];
  throw new BatonError('invalid_request', `/body/keys/${odd} is not a point of P-256`, { errors });
}

interface Source {
  address: string;
  agent: string;
}

/** Returns a function that writes a request, and resolves to what its device shows and polls with. */
function makeWriting({ store, publicUrl, requestSeconds, onOutcome }: SigninParts) {
  return async function write(about: Record<string, string>) {
    const [requestId, code, secret] = [random(16), random(16), random(32)];
    const secrets = { poll: digest(secret), code: digest(code) };
    const { expiresAtMs } = await store.start(requestId, requestSeconds * 1000, { ...secrets, ...about });
    onOutcome('started');
    return {
      code,
      started: {
        request_id: requestId,
        poll_secret: secret,
        expires_at: expiresAtMs,
        qr_payload: `${publicUrl}/link?r=${requestId}&c=${code}`,
      },
    };
  };
}

/**
 * Makes the start of a login request. With `invite`, the device that invited is asked. Throws `invalid_device_name`,
 * and `not_found` for the invite.
 */
function makeStart({ invites }: SigninParts, write: ReturnType<typeof makeWriting>) {
  return async function start(
    wanted: { device_name: string; device_type: DeviceType; invite?: string; keys?: DeviceKeys },
    source: Source,
  ) {
    const name = parseDeviceName(wanted.device_name);
    if (name === null) throw new BatonError('invalid_device_name');
    const keys = wanted.keys && keptKeys(wanted.keys);
    const account = wanted.invite === undefined ? null : await invites.accountOf(wanted.invite);
    const [type, deviceId] = [wanted.device_type, newDeviceId()];
    const about = { name, type, device: deviceId, ...source, ...(keys && { keys }) };
    const { code, started } = await write({ ...about, ...(account !== null && { inviter: account }) });
    if (account !== null && wanted.invite !== undefined) {
      await invites.take(account, wanted.invite, {
        request_id: started.request_id,
        approval_code: code,
        device_name: name,
        device_type: type,
        source: { address: source.address, user_agent: source.agent },
        expires_at: started.expires_at,
        device_id: deviceId,
        ...(keys && { keys: JSON.parse(keys) as DeviceKeys }),
      });
    }
    return started;
  };
}

/** Makes a signed-in device's request for keys, seen by its account only. Throws `device_required`, `invalid_request`. */
function makeRelink({ ownDevice }: SigninParts, write: ReturnType<typeof makeWriting>) {
  return async function relink(caller: Caller, keys: DeviceKeys, source: Source) {
    const kept = keptKeys(keys);
    const own = await ownDevice(caller);
    if (own === null) throw new BatonError('device_required');
    const { device_id: device, name, type } = own;
    const about = { name, type, device, owner: caller.account, user: caller.userId, ...source, keys: kept };
    return (await write(about)).started;
  };
}

/** Makes sign-in by a code: the new device shows the code, and a signed-in device reads it. */
export function makeSignin(parts: SigninParts) {
  const { store, invites, polls, grants, publicUrl, onOutcome, onFailure } = parts;

  const notify = makeNotifying(parts);
  const write = makeWriting(parts);

  async function decide(
    { account, scope }: Caller,
    { requestId, code }: { requestId: string; code: string | undefined },
    decision: { operation: Operation; state: 'approved' | 'denied'; fields: Record<string, string> },
  ): Promise<void> {
    const { operation, state, fields } = decision;
    const { waiter, inviter } = await store.decide(known(requestId), code === undefined ? '' : digest(code), {
      operationId: operation.id,
      account,
      state,
      fields,
      // A guest can approve nothing, so its wrong codes must not keep the other devices of its account from approving.
      countsTries: scope === 'full',
    });
    onOutcome(state);
    notify(waiter, 'read');
    // Another account than the one that invited may have decided. If this fails, the entry expires with the request. Until
    // then a stream that opens may ask once more.
    await invites.settle(inviter || account, requestId).catch((error: unknown) => onFailure('settle invite', error));
  }

  return {
    start: makeStart(parts, write),
    relink: makeRelink(parts, write),

    /** Makes an invite. Throws `device_required`, `rate_limited`. */
    async invite(caller: Caller) {
      const { inviteId, expiresAtMs } = await invites.invite(caller);
      return { invite_id: inviteId, invite_payload: `${publicUrl}/join?i=${inviteId}`, expires_at: expiresAtMs };
    },

    poll: makePolling({ ...parts, notify }),

    /**
     * Throws `not_found` (also for a wrong code), `login_expired`, `login_consumed`, `already_decided`, `rate_limited`.
     */
    async read(caller: Caller, requestId: string, code: string): Promise<LoginRequestView> {
      const read = await store.read(known(requestId), digest(code), caller.account);
      const offered = await grants.offered(approverOf(caller));
      const view = { ...viewOf(requestId, read), allowed_persist: offered };
      const held = view.relink === true ? await grants.heldBy(caller.userId, view.device_id) : null;
      if (held === null) return view;
      // Such a device keeps what it has. Its approver has to know whether that is a guest.
      const allowed_persist = offered.filter((persist) => persist === held.persist);
      return { ...view, allowed_scopes: [held.scope], ...(allowed_persist.length > 0 && { allowed_persist }) };
    },

    /**
     * Approves a request. `sealed` is kept with the request for its device. Throws the errors of `read`, and
     * `scope_not_allowed`, `tier_exceeded`, `broker_unavailable`, `broker_contract`, `invalid_request`, `body_too_large`.
     */
    async approve(caller: Caller, wanted: ApproveLogin, operation: Operation): Promise<void> {
      const { request_id: requestId, approval_code: code, scope, persist, sealed } = wanted;
      if (sealed !== undefined) checkSealed(sealed, SEALED_GRANT);
      checkScope(scope, caller.scope, 'browser');
      const approver = approverOf(caller);
      await grants.check(approver, persist);
      const { user, account, deviceId, sessionId: session } = approver;
      const fields = { user, account, approver: deviceId, session, scope, persist, ...(sealed && { sealed }) };
      await decide(caller, { requestId, code }, { operation, state: 'approved', fields });
    },

    /** Denies a request. The code may be missing: anybody who knows the id may keep a device out. Throws as `read`. */
    deny: (caller: Caller, requestId: string, code: string | undefined, operation: Operation): Promise<void> =>
      decide(caller, { requestId, code }, { operation, state: 'denied', fields: {} }),

    drain: polls.drain,
  };
}

export type Signin = ReturnType<typeof makeSignin>;
