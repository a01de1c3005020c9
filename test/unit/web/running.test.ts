import { noteRunning, type Running, runningIds, runningOf } from '../../../services/web/engine/shared-state.ts';

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
