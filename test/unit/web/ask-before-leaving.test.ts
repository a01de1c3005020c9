import { signal } from '@preact/signals';
import type { Parts } from '../../../services/web/engine/parts.ts';
import { noteRunning } from '../../../services/web/engine/shared-state.ts';
import type { FilesItem } from '../../../services/web/history/database.ts';
import { makeHistory, makeTurns } from '../../../services/web/history/history.ts';
import { makeQueue } from '../../../services/web/outbox/queue.ts';
import { memoryDatabase } from '../../../services/web/history/memory-database.ts';

const { jest } = import.meta;
const { unstable_mockModule: mockModule } = jest as unknown as {
  unstable_mockModule: (name: string, made: () => unknown) => void;
};
// Browser and build have these, but nothing here uses them.
Object.assign(globalThis, { window: {}, addEventListener: () => {}, indexedDB: {} });
Object.assign(globalThis, { IDBKeyRange: { bound: () => ({ includes: () => false }) } });
const [endedBy, isHistoryLost] = [signal<string | null>(null), signal(false)];
const changes = signal({ thread: '', turn: 0 });
mockModule('../../../services/web/engine/app.ts', () => ({ changes, endedBy, isHistoryLost }));
const { askBeforeLeaving } = await import('../../../services/web/engine/ask-before-leaving.ts');

const moves = {
  ...{ bytes: 1, totalBytes: 2, bytesPerSecond: 1, secondsLeft: 1 },
  ...{ path: 'relay', isPaused: false },
};

function scene() {
  const database = memoryDatabase();
  const onChange = (thread: string) => void (changes.value = { thread, turn: changes.value.turn + 1 });
  const inTurn = makeTurns();
  const [history, queue] = [makeHistory(database, onChange, inTurn), makeQueue(database, onChange, inTurn)];
  const isLeading = signal(true);
  const listeners = new Set<EventListener>();
  const page = {
    addEventListener: (_: string, listener: EventListener) => void listeners.add(listener),
    removeEventListener: (_: string, listener: EventListener) => void listeners.delete(listener),
  } as unknown as EventTarget;
  const stop = askBeforeLeaving({ history, queue, tabs: { isLeading } as unknown as Parts['tabs'] }, page);
  const asks = async (): Promise<boolean> => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const event = new Event('beforeunload', { cancelable: true });
    for (const listener of listeners) listener(event);
    return event.defaultPrevented;
  };
  const add = (ref: string, isMine: boolean) =>
    database.put('items', {
      ...{ id: `item of ${ref}`, ref, thread: 'phone', at: 1, isMine, kind: 'files', state: 'active', error: null },
      ...{ files: [], fileCount: 1, totalBytes: 40_000_000, kept: 'nothing' },
    } satisfies FilesItem);
  return { add, asks, history, isLeading, listeners, queue, stop };
}

test('the browser asks before the leading tab is left with files that would have to be chosen again', async () => {
  const { add, asks, history, isLeading, listeners, stop } = scene();
  await add('large', true);
  await add('small', true);
  await add('received', false);
  await history.sources.keep('small', [{ file: new File(['x'], 'a.txt'), name: 'a.txt' }]);
  for (const id of ['small', 'received']) noteRunning(id, moves);
  expect(await asks()).toBe(false);
  noteRunning('large', moves);
  expect(await asks()).toBe(true);
  isLeading.value = false;
  expect(await asks()).toBe(false);
  isLeading.value = true;
  expect(await asks()).toBe(true);
  endedBy.value = 'expired';
  expect(await asks()).toBe(false);
  endedBy.value = null;
  noteRunning('large', null);
  expect(await asks()).toBe(false);
  // The browser keeps a page for the way back only if it has no listener.
  expect(listeners.size).toBe(0);
  isHistoryLost.value = true;
  expect(await asks()).toBe(true);
  isHistoryLost.value = false;
  stop();
  for (const id of ['small', 'received']) noteRunning(id, null);
});

test('it does not ask about files that are kept just after they are offered', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const { add, asks, history, stop } = scene();
    await add('small', true);
    noteRunning('small', moves);
    expect(await asks()).toBe(true);
    await history.sources.keep('small', [{ file: new File(['x'], 'a.txt'), name: 'a.txt' }]);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await asks()).toBe(false);
    stop();
    noteRunning('small', null);
  } finally {
    jest.useRealTimers();
  }
});

test('it asks about received files that only this page knows of, until they are saved, and about what is not sent', async () => {
  const { add, asks, history, queue, stop } = scene();
  await add('received', false);
  await history.update('item of received', (one) => {
    if (one.kind === 'files') Object.assign(one, { state: 'done', kept: 'here' });
  });
  // They outlast the page.
  expect(await asks()).toBe(false);
  isHistoryLost.value = true;
  expect(await asks()).toBe(true);
  await history.update('item of received', (one) => {
    if (one.kind === 'files') one.kept = 'saved';
  });
  expect(await asks()).toBe(false);
  await queue.add({
    ...{ id: 'm', ref: '', thread: 'phone', at: 2, isMine: true, kind: 'message' },
    ...{ text: 'not sent', state: 'sending', error: null },
  });
  expect(await asks()).toBe(true);
  await queue.remove('m');
  expect(await asks()).toBe(false);
  isHistoryLost.value = false;
  stop();
});
