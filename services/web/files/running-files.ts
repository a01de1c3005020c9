import { BatonClientError, type RunningTransfer } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import { noteRunning, type Running } from '../engine/shared-state.ts';
import type { FilesItem } from '../history/database.ts';

const TELL_MS = 200;
const ENDS: Readonly<Record<string, FilesItem['state']>> = { rejected: 'refused', cancelled: 'cancelled' };
/** It stops here and can be gone on with: nothing has become of it yet. */
const STOPPED = ['aborted', 'signed_out'];

export const codeOf = (error: unknown): string => (error instanceof BatonClientError ? error.code : 'unexpected');

/** Changes an item of the history that stands for files. */
export const makeChange =
  ({ history }: Pick<Parts, 'history'>) =>
  (id: string, edit: (item: FilesItem) => void): Promise<void> =>
    history.update(id, (item) => {
      if (item.kind === 'files') edit(item);
    });

/**
 * Shows how far files are read that are not offered yet. Gives what is told so many bytes of one of them, and what takes the bar
 * away. `onSum` hears how many bytes of all of them were read.
 */
const makePreparing =
  (tell: (id: string, value: Running | null) => void) =>
  (
    { id, totalBytes }: FilesItem,
    onSum: (bytes: number) => void,
  ): { read: (index: number, bytes: number) => void; end: () => void } => {
    const done: number[] = [];
    let shownAt = 0;
    function read(index: number, bytes: number): void {
      done[index] = bytes;
      if (Date.now() - shownAt < TELL_MS) return;
      shownAt = Date.now();
      const sum = done.reduce((all, one) => all + one, 0);
      onSum(sum);
      tell(id, { bytes: sum, totalBytes, bytesPerSecond: 0, secondsLeft: null, path: null, isPaused: false });
    }
    return { read, end: () => tell(id, null) };
  };

/** The transfers that run in this tab, and what all tabs see of them. */
export function makeRunningFiles({ history, tabs }: Pick<Parts, 'history' | 'tabs'>) {
  const handles = new Map<string, RunningTransfer>();
  const change = makeChange({ history });

  function tell(id: string, value: Running | null): void {
    noteRunning(id, value);
    tabs.post({ type: 'running', id, running: value });
  }

  function show(running: RunningTransfer, isOver = false): void {
    const { bytes, totalBytes, bytesPerSecond, secondsLeft, path, isPaused } = running.progress;
    tell(running.id, isOver ? null : { bytes, totalBytes, bytesPerSecond, secondsLeft, path, isPaused });
  }

  /** What became of it. Sources are kept for as long as it can be gone on with. */
  async function end(itemId: string, running: RunningTransfer, onDone: (item: FilesItem) => void): Promise<void> {
    try {
      await running.done;
      await change(itemId, onDone);
    } catch (error) {
      const code = codeOf(error);
      if (STOPPED.includes(code)) return;
      await change(itemId, (item) => {
        item.state = ENDS[code] ?? 'failed';
        item.error = code;
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

    /** From here on what the transfer does is seen in its item. */
    follow(itemId: string, running: RunningTransfer, onDone: (item: FilesItem) => void): void {
      handles.set(running.id, running);
      let shownAt = 0;
      show(running);
      running.onProgress(() => {
        if (Date.now() - shownAt < TELL_MS) return;
        shownAt = Date.now();
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
