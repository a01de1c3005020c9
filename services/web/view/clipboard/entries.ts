import type { ClipboardEntry } from '../../../../shared/client/index.ts';
import { serverNow } from '../../server-time.ts';

/** Tells whether an entry has content that this browser cannot open. */
export const isSealedEntry = ({ content, sealed }: ClipboardEntry): boolean => content === '' && sealed !== undefined;

/** Tells whether an entry has no content, sealed or not. */
export const isEmptyEntry = (entry: ClipboardEntry): boolean => entry.content === '' && !isSealedEntry(entry);

/** Returns an entry with content, sealed or not; null if it is empty, or its time is over. */
export const filledEntry = (entry: ClipboardEntry | null): ClipboardEntry | null =>
  entry === null || isEmptyEntry(entry) || (entry.expires_at !== null && entry.expires_at <= serverNow())
    ? null
    : entry;
