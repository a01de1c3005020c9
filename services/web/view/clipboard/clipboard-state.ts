import { effect, signal } from '@preact/signals';
import type { BatonClient, ClipboardEntry } from '../../../../shared/client/index.ts';
import { repeated } from '../../engine/repeated.ts';
import { shared } from '../../engine/shared-state.ts';
import type { History } from '../../history/history.ts';
import { noteClipboard } from '../../history/clipboard-history.ts';
import type { Gate } from '../../sealing/gate.ts';
import { keyState } from '../../sealing/key-state.ts';

/** The clipboard of the account; null as long as it is unknown. */
export const clipboardEntry = signal<ClipboardEntry | null>(null);

/** The time up to which entries were copied or dismissed here. No line shows them again. */
export const seenEntries = signal<number>(0);

/** The time of the entry whose text was touched here, and is shown; null while it is hidden. */
export const shownEntry = signal<number | null>(null);

export function noteSeen({ updated_at: at }: ClipboardEntry): void {
  seenEntries.value = Math.max(seenEntries.peek(), at ?? 0);
}

interface Reading {
  client: BatonClient;
  keys: Gate;
}

async function read({ client, keys }: Reading): Promise<void> {
  const entry = await client.clipboard.get();
  try {
    clipboardEntry.value = (await (await keys.ifKeyed())?.openEntry(entry)) ?? entry;
  } catch (error) {
    // Until it can be opened, the previous text cannot be copied in its place.
    clipboardEntry.value = entry.sealed === undefined ? entry : { ...entry, content: '' };
    throw error;
  }
}

let readAgain = (): void => {};
/** Reads the clipboard, again while the service does not respond. */
export const readClipboard = (): void => readAgain();

/**
 * Reads the clipboard when the service reports a change, and when the stream is open again, so that one click copies it. The
 * returned function ends it.
 */
export function followClipboard(app: Reading & { history: Pick<History, 'settings'> }): () => void {
  readAgain = repeated(async () => {
    await read(app);
    await noteClipboard(app.history, clipboardEntry.peek());
  });
  let known = '';
  return effect(() => {
    const { clipboard, connection, ringNumber } = shared.value;
    const now = `${clipboard?.updated_at ?? ''} ${connection === 'online'} ${ringNumber} ${keyState.value.kind}`;
    if (now === known) return;
    known = now;
    if (connection === 'online') readClipboard();
  });
}
