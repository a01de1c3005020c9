import type { CallSettings } from '../api.ts';

/** The keys of the account, or the account, that are removed at a time, unless a member objects. */
export interface Deletion {
  readonly of: 'keys' | 'account';
  readonly at: number;
}

/** Removes all keys of the account, so that it can start again. */
export interface Deletions {
  /** Returns what was announced, and can be cancelled until then. */
  pending(settings?: CallSettings): Promise<readonly Deletion[]>;
  /** Returns the same without a request, as the last answer about the rings had it: call `rings.current` before. */
  announced(): readonly Deletion[];
  /** Removes all keys at once, as a member. Call `rings.create` with `anew` then. */
  removeKeys(): Promise<void>;
  /**
   * Announces the removal to all devices, as a device without keys. It is carried out after 24 hours. Null: there were no keys.
   */
  announceRemoval(): Promise<Deletion | null>;
  /** Cancels everything that was announced, as a member. */
  keepKeys(): Promise<void>;
  /** Erases the account: at once as a member (null), and otherwise 24 hours after it was announced. */
  eraseAccount(): Promise<Deletion | null>;
}
