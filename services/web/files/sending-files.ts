import { blobSource, type FileSource } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import type { FilesItem } from '../history/database.ts';
import { stateOf } from '../history/history.ts';
import type { ChosenFile } from './choosing.ts';
import { digestFile } from './digesting.ts';
import { filePieces } from './file-pieces.ts';
import { codeOf, makeChange, type RunningFiles } from './running-files.ts';
import { newId } from '../new-id.ts';

/** So much is kept of what is sent, to go on by itself after a reload. More is asked for again. */
const KEPT_SOURCE_BYTES = 32 * 1024 * 1024;
/** A browser opens six connections to one origin, and the stream has one of them. */
export const CONCURRENCY = 2;
/** What fits in the relay may wait there for a receiver that is away. */
const SMALL_BYTES = 8 * 1024 * 1024;

/** Its bytes are read and digested elsewhere than in the page, wherever that can be. */
const sourcesOf = (
  files: readonly ChosenFile[],
  onRead: (index: number, bytes: number) => void = () => {},
): FileSource[] =>
  files.map(({ file, name }, index) => ({
    ...blobSource(file, name),
    digest: (signal) => digestFile(file, signal, (bytes) => onRead(index, bytes)),
    pieces: () => filePieces(file),
  }));

const sent = (item: FilesItem): void => {
  Object.assign(item, { state: 'done' } satisfies Partial<FilesItem>);
};

function newItem(to: string, files: readonly ChosenFile[]): FilesItem {
  return {
    ...{ id: newId(), ref: '', thread: to, at: Date.now(), isMine: true, kind: 'files' },
    files: files.map(({ file, name }, index) => ({ index, name, size: file.size, type: file.type })),
    ...{ fileCount: files.length, totalBytes: files.reduce((sum, { file }) => sum + file.size, 0) },
    ...{ state: 'preparing', error: null, kept: 'nothing' },
  };
}

/** Sends files, and goes on with what another page of this browser was sending. */
export function makeSendingFiles({ client, history }: Parts, running: RunningFiles) {
  const change = makeChange({ history });
  /** Digests are made before there is a transfer that could be cancelled. */
  const preparing = new Map<string, AbortController>();

  async function offer(item: FilesItem, files: readonly ChosenFile[], signal: AbortSignal): Promise<void> {
    const isSmall = item.totalBytes <= SMALL_BYTES;
    const bar = running.prepare(item);
    const to = { device_id: item.thread };
    const options = { concurrency: CONCURRENCY, signal, ...(isSmall && { offlineMs: null }) };
    const transfer = await client.transfers.send(to, sourcesOf(files, bar.read), options).finally(bar.end);
    running.follow(item.id, transfer, sent);
    await change(item.id, (one) => {
      one.ref = transfer.id;
      if (one.state === 'preparing') one.state = stateOf(transfer.transfer);
    });
    // A browser without room for them has them chosen again.
    if (item.totalBytes <= KEPT_SOURCE_BYTES) await history.sources.keep(transfer.id, [...files]).catch(() => {});
  }

  return {
    isPreparing: (itemId: string): boolean => preparing.has(itemId),
    stopPreparing: (itemId: string): void => preparing.get(itemId)?.abort(),

    async send(to: { id: string; name: string }, files: readonly ChosenFile[]): Promise<void> {
      const item = newItem(to.id, files);
      const stopping = new AbortController();
      preparing.set(item.id, stopping);
      await history.add(item, to.name);
      try {
        await offer(item, files, stopping.signal);
      } catch (error) {
        await change(item.id, (one) => {
          one.error = codeOf(error);
          one.state = one.error === 'aborted' ? 'cancelled' : 'failed';
        });
      } finally {
        preparing.delete(item.id);
      }
    },

    async goOn(transferId: string, files: readonly ChosenFile[]): Promise<void> {
      const item = await history.byRef(transferId);
      if (item === undefined || running.has(transferId)) return;
      const transfer = await client.transfers.resume(transferId, sourcesOf(files), { concurrency: CONCURRENCY });
      running.follow(item.id, transfer, sent);
    },
  };
}
