import type { Scope } from '../../../shared/contract/vocabulary/fields.ts';

/** The caller of a request in every identity mode. The identity in force makes it once per request. It is read-only. */
export interface Caller {
  /** The broker's subject, unchanged. */
  readonly userId: string;
  /** `userId` percent-encoded: the hash tag of the account's keys, and its name on the bus. */
  readonly account: string;
  readonly scope: Scope;
  /** The user's display name; the user id if there is none. */
  readonly name: string;
  readonly roles: readonly string[];
  /** Null for a session without a device. A value says nothing about whether the device has a row. */
  readonly deviceId: string | null;
  /** The session at the auth broker; absent if the identity in force does not name one. */
  readonly sessionId?: string;
}

/** The caller of a route that needs a device. */
export interface DeviceCaller {
  account: string;
  deviceId: string;
}

/**
 * Returns the caller as one with a device. Only for routes that need a device, on which the guard refuses other callers.
 */
export const deviceCallerOf = ({ account, deviceId }: Caller): DeviceCaller => ({
  account,
  deviceId: deviceId as string,
});

export const accountOf = (userId: string): string => encodeURIComponent(userId);
