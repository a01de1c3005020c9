import type { RunningTransfer } from '../../../shared/client/index.ts';
import { noteRunning, type Running, runningIds, runningOf } from '../../../services/web/engine/shared-state.ts';
import { makeRunningFiles } from '../../../services/web/files/running-files.ts';
import type { FilesItem } from '../../../services/web/history/database.ts';

const { jest } = import.meta;

const MOVES: Running = {
  ...{ bytes: 1, totalBytes: 2, bytesPerSecond: 1, secondsLeft: 1 },
  ...{ path: 'relay', isPaused: false },
};

test('the progress of a transfer is kept until it is over and nobody shows it', () => {
  const progress = runningOf('a');
  const leave = progress.subscribe(() => {});
  noteRunning('a', MOVES);
  leave();
  expect(runningOf('a')).toBe(progress);

  const leaveAgain = progress.subscribe(() => {});
  noteRunning('a', null);
  expect(runningOf('a')).toBe(progress);
  leaveAgain();
  expect(runningOf('a')).not.toBe(progress);
});

test('nor is the progress of one that was never shown', () => {
  noteRunning('unseen', MOVES);
  const progress = runningOf('unseen');
  noteRunning('unseen', null);
  expect(runningOf('unseen')).not.toBe(progress);
});

test('a transfer that is paused is not over', () => {
  noteRunning('b', { ...MOVES, isPaused: true });
  expect([...runningIds.value]).toEqual(['b']);
  noteRunning('b', null);
  expect([...runningIds.value]).toEqual([]);
});

test('the progress of a transfer goes on when the clock of the device is set back', () => {
  jest.useFakeTimers();
  const posted: (number | undefined)[] = [];
  const running = makeRunningFiles({
    history: { update: () => Promise.resolve() },
    tabs: {
      isLeading: { value: true },
      post: (message: { running: Running | null }) => posted.push(message.running?.bytes),
    },
  } as unknown as Parameters<typeof makeRunningFiles>[0]);
  const progress = { ...MOVES };
  let report = (): void => {};
  running.follow(
    'item',
    {
      ...{ id: 'moves', progress, done: new Promise(() => {}) },
      onProgress: (listener: () => void) => {
        report = listener;
      },
    } as unknown as RunningTransfer,
    () => {},
  );
  const bar = running.prepare({ id: 'reads', totalBytes: 9 } as FilesItem, () => {});
  const moveTo = (bytes: number) => {
    Object.assign(progress, { bytes });
    report();
    bar.read(0, bytes);
    return posted.splice(0);
  };
  expect(moveTo(2)).toEqual([1, 2, 2]);
  expect(moveTo(3)).toEqual([]);
  jest.setSystemTime(Date.now() - 3_600_000);
  jest.advanceTimersByTime(200);
  expect(moveTo(4)).toEqual([4, 4]);
  jest.useRealTimers();
});
