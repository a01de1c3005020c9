import { signal } from '@preact/signals';
import type { BatonClient, ClipboardEntry } from '../../../../shared/client/index.ts';
import { shared } from '../../engine/shared-state.ts';
import type { History } from '../../history/history.ts';
import { noteClipboard } from '../../history/clipboard-history.ts';
import { serverNow } from '../../server-time.ts';

/** The clipboard of the account; null as long as it is unknown. */
export const clipboardEntry = signal<ClipboardEntry | null>(null);

/** Tells whether an entry has content that this browser cannot open. */
export const isSealedEntry = ({ content, sealed }: ClipboardEntry): boolean => content === '' && sealed !== undefined;

/** Tells whether an entry has no content, sealed or not. */
export const isEmptyEntry = (entry: ClipboardEntry): boolean => entry.content === '' && !isSealedEntry(entry);

/** Returns an entry with content, sealed or not; null where it is empty, or its time is over. */
export const filledEntry = (entry: ClipboardEntry | null): ClipboardEntry | null =>
  entry === null || isEmptyEntry(entry) || (entry.expires_at !== null && entry.expires_at <= serverNow())
    ? null
    : entry;

/** The time up to which entries were copied or dismissed here. No line shows them any more. */
export const seenEntries = signal<number>(0);

export function noteSeen({ updated_at: at }: ClipboardEntry): void {
  seenEntries.value = Math.max(seenEntries.peek(), at ?? 0);
}

export async function readClipboard(client: BatonClient): Promise<void> {
  clipboardEntry.value = await client.clipboard.get();
}

/**
 * Reads the clipboard when the service reports a change, and when the stream is open again, so that one click copies it. The
 * returned function ends it.
 */
export function followClipboard(client: BatonClient, history: Pick<History, 'settings'>): () => void {
  let known = '';
  return shared.subscribe(({ clipboard, connection }) => {
    const now = `${clipboard?.updated_at ?? ''} ${connection === 'online'}`;
    if (now === known) return;
    known = now;
    if (connection !== 'online') return;
    readClipboard(client)
      .then(() => noteClipboard(history, clipboardEntry.peek()))
      .catch(() => {});
  });
}
