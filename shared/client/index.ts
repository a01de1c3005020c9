/* Everything that `@baton/client` has. */
export type * from './api.ts';
export type * from './files.ts';
export type * from './wire.ts';
export { BatonClientError, type ErrorAction, type ErrorDetails, type LocalErrorCode } from './baton-client-error.ts';
export { memorySession, type Session, type SessionStore } from './session.ts';
export {
  type DeviceSessionOptions,
  proposeDeviceName,
  readSignInLink,
  requestSignIn,
  type SignInOptions,
  type SignInRequest,
  startDeviceSession,
} from './sign-in.ts';
import type { BatonClient, BatonClientOptions, PeerCarrier } from './api.ts';
import type { FileSource } from './files.ts';
import type { SessionStore } from './session.ts';

export declare function makeBatonClient(options: BatonClientOptions): BatonClient;
export declare function blobSource(blob: Blob, name?: string): FileSource;
export declare function streamSource(
  stream: ReadableStream<Uint8Array>,
  about: { name: string; size: number; type?: string; sha256?: string },
): FileSource;
export declare function cookieSession(): SessionStore;
export declare function peerToPeer(): PeerCarrier;
