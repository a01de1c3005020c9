/* Everything that `@baton/client` has. */
export type * from './api.ts';
export { BatonClientError, type ErrorAction, type ErrorDetails, type LocalErrorCode } from './baton-client-error.ts';
export { makeBatonClient } from './baton-client.ts';
export { cookieSession } from './cookie-session.ts';
export type * from './files.ts';
export { memorySession, type Session, type SessionStore } from './session.ts';
export {
  type DeviceSessionOptions,
  proposeDeviceName,
  requestSignIn,
  type SignInOptions,
  type SignInRequest,
  startDeviceSession,
} from './sign-in.ts';
export { readSignInLink } from './sign-in-link.ts';
export { blobSource, streamSource } from './sources.ts';
export type * from './wire.ts';
