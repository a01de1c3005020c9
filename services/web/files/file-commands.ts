import {
  BatonClientError,
  blobSource,
  type FileSource,
  type IncomingTransfer,
  type RunningTransfer,
  type Transfer,
} from '../../../shared/client/index.ts';
import type { Leading } from '../engine/leader.ts';
import { runningOf } from '../engine/shared-state.ts';
import type { FilesItem } from '../history/database.ts';
import { stateOf } from '../history/history.ts';
import { canKeepFiles, openKept, removeKept } from './kept-files.ts';

/** A file that somebody chose, and what it is called for the receiver. */
export interface ChosenFile {
  file: File;
  name: string;
}

/** So much is kept of what is sent, to go on by itself after a reload. More is asked for again. */
const KEPT_SOURCE_BYTES = 32 * 1024 * 1024;
/** A browser opens six connections to one origin, and the stream has one of them. */
const CONCURRENCY = 2;
const TELL_MS = 200;
/** What fits in the relay may wait there for a receiver that is away. */
const SMALL_BYTES = 8 * 1024 * 1024;

const ALWAYS = 'always-from';

const sourcesOf = (files: readonly ChosenFile[]): FileSource[] => files.map(({ file, name }) => blobSource(file, name));

const codeOf = (error: unknown): string => (error instanceof BatonClientError ? error.code : 'unexpected');

const ENDS: Readonly<Record<string, FilesItem['state']>> = { rejected: 'refused', cancelled: 'cancelled' };

/** What the leading tab does with files. */
export function makeFileCommands({ client, entry, history, tabs }: Leading) {
  const offers = new Map<string, IncomingTransfer>();
  const handles = new Map<string, RunningTransfer>();
  /** Digests are made before there is a transfer that could be cancelled. */
  const preparing = new Map<string, AbortController>();

  const change = (id: string, edit: (item: FilesItem) => void): Promise<void> =>
    history.update(id, (item) => {
      if (item.kind === 'files') edit(item);
    });

  function show(running: RunningTransfer, isOver = false): void {
    const { bytes, totalBytes, bytesPerSecond, secondsLeft, path, isPaused } = running.progress;
    const value = isOver ? null : { bytes, totalBytes, bytesPerSecond, secondsLeft, path, isPaused };
    runningOf(running.id).value = value;
    tabs.post({ type: 'running', id: running.id, running: value });
  }

  /** From here on what the transfer does is seen in its item. */
  function follow(itemId: string, running: RunningTransfer, onDone: (item: FilesItem) => void): void {
    handles.set(running.id, running);
    let shownAt = 0;
    show(running);
    running.onProgress(() => {
      if (Date.now() - shownAt < TELL_MS) return;
      shownAt = Date.now();
      show(running);
    });
    running.done
      .then(
        () => change(itemId, onDone),
        (error: unknown) => {
          const code = codeOf(error);
          if (code === 'aborted' || code === 'signed_out') return;
          return change(itemId, (item) => {
            item.state = ENDS[code] ?? 'failed';
            item.error = code;
          });
        },
      )
      .finally(() => {
        handles.delete(running.id);
        show(running, true);
        if (codeOfEnd(running) !== null) void history.sources.forget(running.id);
      })
      .catch(() => {});
  }

  const codeOfEnd = ({ transfer }: RunningTransfer): string | null =>
    ['DONE', 'FAILED', 'CANCELLED'].includes(transfer.state) ? transfer.state : null;

  async function sendTo(to: { id: string; name: string }, files: readonly ChosenFile[]): Promise<void> {
    const totalBytes = files.reduce((sum, { file }) => sum + file.size, 0);
    const item: FilesItem = {
      ...{ id: crypto.randomUUID(), ref: '', thread: to.id, at: Date.now(), isMine: true, kind: 'files' },
      files: files.map(({ file, name }, index) => ({ index, name, size: file.size, type: file.type })),
      ...{ fileCount: files.length, totalBytes, state: 'preparing', error: null, kept: 'nothing' },
    };
    const stopping = new AbortController();
    preparing.set(item.id, stopping);
    await history.add(item, to.name);
    const offlineMs = totalBytes <= SMALL_BYTES ? null : undefined;
    try {
      const running = await client.transfers.send({ device_id: to.id }, sourcesOf(files), {
        ...{ concurrency: CONCURRENCY, signal: stopping.signal },
        ...(offlineMs === null && { offlineMs }),
      });
      follow(item.id, running, (one) => {
        one.state = 'done';
      });
      await change(item.id, (one) => {
        one.ref = running.id;
        if (one.state === 'preparing') one.state = stateOf(running.transfer);
      });
      if (totalBytes <= KEPT_SOURCE_BYTES) await history.sources.keep(running.id, [...files]).catch(() => {});
    } catch (error) {
      const code = codeOf(error);
      await change(item.id, (one) => {
        one.state = code === 'aborted' ? 'cancelled' : 'failed';
        one.error = code;
      });
    } finally {
      preparing.delete(item.id);
    }
  }

  async function accept(transferId: string): Promise<void> {
    if (!canKeepFiles()) throw new BatonClientError('sink_failed', 'No file system', { action: 'tell-user' });
    const offer = offers.get(transferId) ?? (await client.transfers.incoming(transferId));
    const item = await history.transfer(offer.transfer, false);
    const open = (file: Parameters<typeof openKept>[2]) => openKept(entry.userId, transferId, file);
    const running = offer.accept(open, { concurrency: CONCURRENCY });
    await change(item.id, (one) => {
      one.state = 'active';
    });
    follow(item.id, running, (one) => {
      one.state = 'done';
      one.kept = 'here';
    });
  }

  async function goOnSending(transferId: string, files: readonly ChosenFile[]): Promise<void> {
    const item = await history.byRef(transferId);
    if (item === undefined || handles.has(transferId)) return;
    const running = await client.transfers.resume(transferId, sourcesOf(files), { concurrency: CONCURRENCY });
    follow(item.id, running, (one) => {
      one.state = 'done';
    });
  }

  async function cancel(itemId: string): Promise<void> {
    preparing.get(itemId)?.abort();
    const item = await history.item(itemId);
    if (item === undefined || item.ref === '') return;
    const running = handles.get(item.ref);
    if (running === undefined) await client.transfers.cancel(item.ref);
    else await running.cancel();
  }

  /** The service's word on a transfer of this history. What runs here says itself how it ended. */
  async function onTransfer(transfer: Transfer): Promise<void> {
    const id = transfer.transfer_id;
    const item = await history.byRef(id);
    const state = stateOf(transfer);
    const isOver = !['offered', 'active'].includes(state);
    if (item?.kind !== 'files' || item.state === state || (isOver && handles.has(id))) return;
    await change(item.id, (one) => {
      one.state = state;
      one.error = transfer.error?.code ?? null;
    });
    if (isOver && !item.isMine && item.kept === 'nothing') await removeKept(entry.userId, id);
  }

  /** What became, while this browser was away, of a transfer that was not over. */
  async function lookAgain({ id, ref }: FilesItem): Promise<void> {
    if (handles.has(ref) || preparing.has(id)) return;
    const end = (error: string) =>
      change(id, (one) => {
        one.state = 'failed';
        one.error = error;
      });
    if (ref === '') return end('interrupted');
    try {
      await onTransfer(await client.transfers.get(ref));
    } catch (error) {
      if (codeOf(error) === 'not_found') await end('transfer_gone');
    }
  }

  const alwaysFrom = (): Promise<string[]> => history.settings.get<string[]>(ALWAYS, []);

  tabs.command('send', (to: { id: string; name: string }[], files: ChosenFile[]) => {
    for (const one of to) void sendTo(one, files);
  });
  tabs.command('accept', accept);
  tabs.command('refuse', async (transferId: string) => {
    await (offers.get(transferId) ?? (await client.transfers.incoming(transferId))).reject();
  });
  tabs.command('cancel', cancel);
  tabs.command('pause', (transferId: string) => {
    handles.get(transferId)?.pause();
    showNow(transferId);
  });
  tabs.command('resume', (transferId: string) => {
    handles.get(transferId)?.resume();
    showNow(transferId);
  });
  tabs.command('go-on', goOnSending);

  function showNow(transferId: string): void {
    const running = handles.get(transferId);
    if (running !== undefined) show(running);
  }

  return {
    async onOffer(offer: IncomingTransfer): Promise<void> {
      offers.set(offer.id, offer);
      await history.transfer(offer.transfer, false);
      const isWelcome = offer.isAccepted || (await alwaysFrom()).includes(offer.transfer.sender.device_id);
      if (isWelcome) await accept(offer.id).catch(() => {});
    },

    onTransfer,

    /** What this browser was sending when it was closed, as far as it still has it. */
    async goOn(): Promise<void> {
      for (const item of await history.unfinished()) await lookAgain(item);
      for (const transferId of await history.sources.all()) {
        const files = await history.sources.of(transferId);
        if (files === null) continue;
        await goOnSending(transferId, files).catch(async (error: unknown) => {
          if (error instanceof BatonClientError && error.action !== 'retry') await history.sources.forget(transferId);
        });
      }
    },
  };
}

/** Whether files of a device are taken without asking. */
export async function setAlways(history: Leading['history'], deviceId: string, isAlways: boolean): Promise<void> {
  const others = (await history.settings.get<string[]>(ALWAYS, [])).filter((id) => id !== deviceId);
  await history.settings.set(ALWAYS, isAlways ? [...others, deviceId] : others);
}

export const isAlways = async (history: Leading['history'], deviceId: string): Promise<boolean> =>
  (await history.settings.get<string[]>(ALWAYS, [])).includes(deviceId);
