import type { BatonClientOptions, CallSettings, SignInLink } from './api.ts';
import type { Session, SessionStore } from './session.ts';
import type { DeviceType, Persist, Scope } from './wire.ts';

export interface SignInOptions extends CallSettings, Pick<BatonClientOptions, 'baseUrl' | 'headers' | 'fetch'> {
  /** 1 to 32 printable ASCII characters; `proposeDeviceName` makes some of any text. */
  deviceName: string;
  deviceType: DeviceType;
  /** Where the session is saved. */
  session?: SessionStore;
}

/** A device that waits to be let in. */
export interface SignInRequest {
  readonly requestId: string;
  /** To be shown, as a QR code and as text, to whoever approves it. It is no secret that signs anybody in by itself. */
  readonly link: string;
  /** In Unix milliseconds. */
  readonly expiresAt: number;
  /**
   * Waits for the approval; gives the session when it is saved. Rejects with `access_denied`, `login_expired`,
   * `login_consumed`.
   */
  approved(settings?: CallSettings): Promise<Session>;
}

export interface DeviceSessionOptions extends SignInOptions {
  /** Stable for this installation: 8 to 64 of `[A-Za-z0-9_-]`. */
  deviceId: string;
  scope?: Scope;
  persist?: Persist;
}

/** Asks to be let in by a device that is signed in. */
export declare function requestSignIn(options: SignInOptions): Promise<SignInRequest>;
/** Makes the caller of a session without a device one, or renews a device's own session under a new name. */
export declare function startDeviceSession(options: DeviceSessionOptions): Promise<Session>;
/** What a QR code says; null when it is none of Baton's. */
export declare function readSignInLink(text: string): Exclude<SignInLink, string> | null;
/** A device name that the service takes, made of any text. */
export declare function proposeDeviceName(text: string): string;
