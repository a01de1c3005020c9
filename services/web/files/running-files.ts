import { BatonClientError, type RunningTransfer } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import { noteRunning, type Running } from '../engine/shared-state.ts';
import type { FilesItem } from '../history/database.ts';
import { errorOf } from '../history/history.ts';

const TELL_MS = 200;
const ENDS: Readonly<Record<string, FilesItem['state']>> = { rejected: 'refused', cancelled: 'cancelled' };
/** The codes of a transfer that stopped here and can be resumed. */
const STOPPED = ['aborted', 'signed_out'];

export const codeOf = (error: unknown): string => (error instanceof BatonClientError ? error.code : 'unexpected');

/** Makes a function that changes a files item of the history. */
export const makeChange =
  ({ history }: Pick<Parts, 'history'>) =>
  (id: string, edit: (item: FilesItem) => void): Promise<void> =>
    history.update(id, (item) => {
      if (item.kind === 'files') edit(item);
    });

/**
 * Shows how far files are read that are not offered yet. Returns a function that takes the bytes read of one file, and one
 * that removes the bar. `onSum` gets the bytes read of all files.
 */
const makePreparing =
  (tell: (id: string, value: Running | null) => void) =>
  (
    { id, totalBytes }: FilesItem,
    onSum: (bytes: number) => void,
  ): { read: (index: number, bytes: number) => void; end: () => void } => {
    const done: number[] = [];
    let shownAt = Number.NEGATIVE_INFINITY;
    function read(index: number, bytes: number): void {
      done[index] = bytes;
      if (performance.now() - shownAt < TELL_MS) return;
      shownAt = performance.now();
      const sum = done.reduce((all, one) => all + one, 0);
      onSum(sum);
      tell(id, { bytes: sum, totalBytes, bytesPerSecond: 0, secondsLeft: null, path: null, isPaused: false });
    }
    return { read, end: () => tell(id, null) };
  };

/** Keeps the transfers that run in this tab, and shows them to all tabs. */
export function makeRunningFiles({ history, tabs }: Pick<Parts, 'history' | 'tabs'>) {
  const handles = new Map<string, RunningTransfer>();
  const change = makeChange({ history });

  function tell(id: string, value: Running | null): void {
    // The files of a tab that no longer leads go on in another one, which tells how far.
    if (!tabs.isLeading.value) return;
    noteRunning(id, value);
    tabs.post({ type: 'running', id, running: value });
  }

  function show(running: RunningTransfer, isOver = false): void {
    const { bytes, totalBytes, bytesPerSecond, secondsLeft, path, isPaused } = running.progress;
    tell(running.id, isOver ? null : { bytes, totalBytes, bytesPerSecond, secondsLeft, path, isPaused });
  }

  /** Notes how a transfer ended. Sources are kept as long as it can be resumed. */
  async function end(itemId: string, running: RunningTransfer, onDone: (item: FilesItem) => void): Promise<void> {
    try {
      await running.done;
      await change(itemId, (item) => {
        onDone(item);
        delete item.fileKey;
      });
    } catch (error) {
      const code = codeOf(error);
      if (STOPPED.includes(code)) return;
      await change(itemId, (item) => {
        if (item.state === 'done') return;
        item.state = ENDS[code] ?? 'failed';
        item.error = (code === 'failed' ? errorOf(running.transfer, item.isMine) : null) ?? code;
        delete item.fileKey;
      });
    } finally {
      handles.delete(running.id);
      show(running, true);
    }
    await history.sources.forget(running.id);
  }

  return {
    has: (transferId: string): boolean => handles.has(transferId),
    get: (transferId: string): RunningTransfer | undefined => handles.get(transferId),

    prepare: makePreparing(tell),

    /** Shows the progress of the transfer in its item from now on. */
    follow(itemId: string, running: RunningTransfer, onDone: (item: FilesItem) => void): void {
      handles.set(running.id, running);
      let shownAt = Number.NEGATIVE_INFINITY;
      show(running);
      running.onProgress(() => {
        if (performance.now() - shownAt < TELL_MS) return;
        shownAt = performance.now();
        show(running);
      });
      end(itemId, running, onDone).catch(() => {});
    },

    steer(transferId: string, how: 'pause' | 'resume'): void {
      const running = handles.get(transferId);
      if (running === undefined) return;
      running[how]();
      show(running);
    },
  };
}

export type RunningFiles = ReturnType<typeof makeRunningFiles>;
