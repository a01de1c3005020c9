import type { Parts } from '../engine/parts.ts';
import type { ChosenFile } from '../files/choosing.ts';
import { addPreviews } from '../files/previews.ts';
import type { FilesItem, Item, MessageItem } from '../history/database.ts';
import { newId } from '../../../shared/client/new-id.ts';
import { keyState } from '../sealing/key-state.ts';
import { serverNow } from '../server-time.ts';
import { allowSources, inSources, keepSources } from './kept-sources.ts';
import { isWaitingItem } from './queue.ts';
import { makeSendingMessages } from './sending-messages.ts';

interface To {
  id: string;
  name: string;
}

/** How long a page of a version without an outbox may still be sending a message. */
const ORPHAN_MS = 60_000;

function filesItem(to: string, files: readonly ChosenFile[]): FilesItem {
  return {
    ...{ id: newId(), ref: '', thread: to, at: serverNow(), isMine: true, kind: 'files' },
    files: files.map(({ file, name }, index) => ({ index, name, size: file.size, type: file.type })),
    ...{ fileCount: files.length, totalBytes: files.reduce((sum, { file }) => sum + file.size, 0) },
    ...{ state: 'preparing', error: null, kept: 'nothing' },
  };
}

/** Finds messages that are no longer being sent and whose outcome is unknown. */
async function findOrphans({ history, queue }: Parts): Promise<void> {
  const old = serverNow() - ORPHAN_MS;
  const waiting = new Set((await queue.all()).map(({ id }) => id));
  for (const item of await history.unsent()) {
    if (!isWaitingItem(item) || waiting.has(item.id) || item.at > old) continue;
    await history.update(item.id, (one) => {
      if (one.kind === 'message') Object.assign(one, { state: 'failed', error: 'maybe_sent' });
    });
  }
}

/**
 * Stores everything that the user writes or chooses before it is sent. Items leave when the service can take them: in order,
 * once each, from whichever tab is open then.
 */
export function makeOutbox(parts: Parts) {
  const { history, queue, readiness, tabs } = parts;
  const messages = makeSendingMessages(parts);
  let writtenAt = 0;

  /** Returns a time later than the one before, even within a millisecond. */
  function now(): number {
    writtenAt = Math.max(serverNow(), writtenAt + 1);
    return writtenAt;
  }

  async function sendFiles({ id: to, name }: To, files: readonly ChosenFile[]): Promise<void> {
    const item = filesItem(to, files);
    const waiting = (await queue.all()).filter(({ kind }) => kind === 'files').map(({ id }) => id);
    // Stored before the user sees that the item waits, and may close the page.
    await inSources(() => keepSources(history, item, files, waiting).then(() => queue.add(item)));
    await history.note(item, name);
    void tabs.ask('send-files', item.id, files).catch(() => {});
    void addPreviews(history, item.id, files).catch(() => {});
  }

  return {
    /** Resolves when the message is in the history and in the outbox, whatever happens to it later. */
    async message({ id: to, name }: To, text: string): Promise<void> {
      const item: MessageItem = {
        ...{ id: newId(), ref: '', thread: to, at: now(), isMine: true },
        ...{ kind: 'message', text, state: 'sending', error: null },
      };
      await queue.add(item);
      messages.send(to);
      await history.note(item, name);
    },

    async files(to: readonly To[], files: readonly ChosenFile[]): Promise<void> {
      for (const one of to) await sendFiles(one, files);
    },

    /** Puts an item that was not sent, or may have been, at the end of the line, because the user asks for it. */
    async again(item: Item): Promise<void> {
      if (item.kind === 'message') {
        const next: MessageItem = { ...item, ref: '', at: now(), state: 'sending', error: null };
        if (await queue.addAgain(next, item.state)) messages.send(item.thread);
        return;
      }
      const { lock: _lock, fileKey: _key, ...rest } = item;
      const next: FilesItem = { ...rest, ref: '', state: 'preparing', error: null };
      if (await queue.addAgain(next, item.state)) await tabs.ask('send-files', item.id, null);
    },

    /** Takes the files that the user chose again for a waiting item. */
    async chosen(item: FilesItem, files: readonly ChosenFile[]): Promise<void> {
      await keepSources(history, item, files, [item.id]);
      await tabs.ask('send-files', item.id, files);
    },

    /** Lets the browser ask whether the files may be read. Call it from a click. */
    async allow(item: FilesItem): Promise<void> {
      if (await allowSources(history, item)) await tabs.ask('send-files', item.id, null);
    },

    async remove({ id, ref }: Item): Promise<void> {
      await queue.remove(id);
      await history.sources.forget(id);
      await history.sources.forget(ref);
    },

    findOrphans: (): Promise<void> => findOrphans(parts),

    count: async (): Promise<number> => (await queue.all()).length,

    start(): void {
      const again = () => void messages.sendAll().catch(() => {});
      readiness.watch(again);
      // Calls it at once, too.
      keyState.subscribe(again);
    },
  };
}

export type Outbox = ReturnType<typeof makeOutbox>;
