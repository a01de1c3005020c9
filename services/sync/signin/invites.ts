import { randomBytes } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { SigninRequested } from '../../../shared/contract/modules/signin.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Caller } from '../identity/caller.ts';
import type { Db } from '../redis/db.ts';
import { known } from './request-secrets.ts';
import { inviteAdd, invitePending, inviteTake } from './scripts.ts';

interface InvitesParts extends Db {
  /** The lifetime of a login request in seconds. */
  requestSeconds: number;
}

/**
 * Makes invites. A signed-in device shows a code. The new device that scans it starts a login request, and the inviting
 * device is told. The invite grants nothing: the request is approved or denied like any other.
 */
export function makeInvites({ redis, scripts, keys, requestSeconds }: InvitesParts) {
  const addScript = scripts.define(inviteAdd);
  const takeScript = scripts.define(inviteTake);
  const pendingScript = scripts.define(invitePending);
  const ttlMs = LIMITS.inviteSeconds * 1000;

  return {
    /** Makes an invite of the caller's device. Throws `device_required`, `rate_limited`. */
    async invite({ account, deviceId }: Caller): Promise<{ inviteId: string; expiresAtMs: number }> {
      if (deviceId === null) throw new BatonError('device_required');
      const inviteId = randomBytes(16).toString('base64url');
      const accountKeys = keys.inAccount(account, { rate: keys.rate(account, 'qr_invite', deviceId) });
      const args = { invite: inviteId, device: deviceId, ttlMs, requestMs: requestSeconds * 1000 };
      const { expiresAtMs } = await addScript(accountKeys, args);
      // The device that scans the code has no identity yet, so only this key says which account the code belongs to.
      await orFault(redis, () => redis.set(keys.invite(inviteId), account, 'PX', ttlMs));
      return { inviteId, expiresAtMs };
    },

    /** Resolves to the account of an invite. Throws `not_found` for one that is unknown or expired. */
    async accountOf(inviteId: string): Promise<string> {
      const key = keys.invite(known(inviteId));
      const account = await orFault(redis, () => redis.get(key));
      if (account === null) throw new BatonError('not_found');
      return account;
    },

    /** Uses the invite for a login request, and tells the inviting device. Throws `not_found`, even for a used invite. */
    async take(account: string, inviteId: string, requested: SigninRequested): Promise<void> {
      await takeScript(keys.inAccount(account), {
        invite: inviteId,
        request: requested.request_id,
        requestExpires: requested.expires_at,
        data: JSON.stringify(requested),
      });
    },

    /** Resolves to the requests that wait for this device, as JSON of the event `signin:requested`. */
    async pending(account: string, deviceId: string): Promise<string[]> {
      const { events } = await pendingScript(keys.inAccount(account), { device: deviceId });
      return events;
    },

    /** Removes a decided request that was made with an invite of the account. No device is asked about it any more. */
    async settle(account: string, requestId: string): Promise<void> {
      await orFault(redis, () => redis.hdel(keys.invites(account), `request:${requestId}`));
    },
  };
}

export type Invites = ReturnType<typeof makeInvites>;
