/* The exports of `@baton/client`. */
export type * from './api.ts';
export {
  BatonClientError,
  type ErrorAction,
  type ErrorDetails,
  type LocalErrorCode,
} from './errors/baton-client-error.ts';
export type { Outcome } from './errors/outcome.ts';
export { makeBatonClient } from './baton-client.ts';
export { cookieSession } from './session/cookie-session.ts';
export type * from './events.ts';
export type * from './files/files.ts';
export { checkService } from './session/service.ts';
export { memorySession, type Session, type SessionStore } from './session/session.ts';
export {
  type DeviceSessionOptions,
  proposeDeviceName,
  requestSignIn,
  type RequestOptions,
  type SignInOptions,
  type SignInRequest,
  startDeviceSession,
} from './session/sign-in.ts';
export { readSignInLink } from './session/sign-in-link.ts';
export { blobSource, streamSource } from './files/sources.ts';
export type * from './wire.ts';
