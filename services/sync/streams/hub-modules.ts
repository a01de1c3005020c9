import type { Presence } from '../../../shared/contract/modules/presence.ts';
import type { Caller } from '../identity/caller.ts';
import type { PendingEvent } from './delivery/catch-up.ts';
import type { Stream } from './stream/stream.ts';

/** The functions of other modules that the hub calls. */
export interface HubModules {
  readPresence: (account: string) => Promise<Presence>;
  /** Reads what is pending for a stream beside the log, page by page. */
  pending: (stream: Stream, position: string) => AsyncIterable<PendingEvent[]>;
  /** Recreates a missing device row; resolves to false when there is none to recreate. */
  restoreRow: (caller: Caller) => Promise<boolean>;
  /** Whether the device was signed out, as far as this replica has heard. */
  isRevoked: (account: string, deviceId: string) => boolean;
  /** Makes sure the account is in the index of due things. */
  scheduleDue: (account: string, inMs: number) => Promise<void>;
}
