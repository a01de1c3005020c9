import type { IssuedSession, MintSession } from '../../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { ACCESS_TOKEN_SECONDS } from '../../../../shared/contract/modules/sessions.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Revocations } from '../revocation/revocations.ts';
import type { DeviceRows } from './rows.ts';

interface RowSessionsParts {
  devices: Pick<DeviceRows, 'admit' | 'remove'>;
  revocations: Pick<Revocations, 'isTombstoned'>;
  nowMs: () => Promise<number>;
}

/** A token that opens nothing, because the development identity reads no token. */
const NO_TOKEN = 'development';

/**
 * Makes sessions of the development identity without an auth broker. A device has only its row, which is written here. The
 * response is that of a mint, so that clients need not distinguish the two, but it carries no cookie.
 */
export function makeRowSessions({ devices, revocations, nowMs }: RowSessionsParts) {
  /** Throws `device_limit`, and `session_revoked` if the device is removed meanwhile. */
  return async function start({ account, userId, name }: Caller, wanted: MintSession) {
    const { meta: deviceId, label, scope, persist, ttl_seconds: seconds, device_type: type } = wanted;
    const device = await devices.admit(account, { deviceId, name: label, type, mode: 'minted', session: null });
    if (await revocations.isTombstoned(account, deviceId)) {
      await devices.remove(account, deviceId, 'revoked');
      throw new BatonError('session_revoked');
    }
    const createdAtMs = await nowMs();
    const issued: Omit<IssuedSession, 'cookie'> & { cookie: null } = {
      session_id: deviceId,
      subject: userId,
      meta: deviceId,
      label: device.name,
      scope,
      tier: scope,
      persist,
      created_at: createdAtMs,
      expires_at: createdAtMs + seconds * 1000,
      cookie: null,
      access_token: NO_TOKEN,
      expires_in: Math.min(seconds, ACCESS_TOKEN_SECONDS),
      user: { user_id: userId, name },
    };
    return { issued, device };
  };
}

export type RowSessions = ReturnType<typeof makeRowSessions>;
