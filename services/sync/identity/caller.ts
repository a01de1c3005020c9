import type { Scope } from '../../../shared/contract/vocabulary/fields.ts';

/** Who is asking, whatever the identity mode. Made once per request by the identity in force, then read-only. */
export interface Caller {
  /** The broker's subject, as it came. */
  readonly userId: string;
  /** `userId` percent-encoded: the hash tag of the account's keys, and its name on the bus. */
  readonly account: string;
  readonly scope: Scope;
  /** The user's display name; the user id where there is none. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Null for a session without a device. A value says nothing about whether the device has a row. */
  readonly deviceId: string | null;
  /** The session at the auth broker; absent where the identity in force does not name it. */
  readonly sessionId?: string;
}

/** The caller of a route that needs a device. */
export interface DeviceCaller {
  account: string;
  deviceId: string;
}

/** The guard lets no caller without a device get to such a route. */
export const deviceCallerOf = ({ account, deviceId }: Caller): DeviceCaller => ({
  account,
  deviceId: deviceId as string,
});

export const accountOf = (userId: string): string => encodeURIComponent(userId);
