import type { Parts } from '../../../services/web/engine/parts.ts';
import { makeHistory, makeTurns } from '../../../services/web/history/history.ts';
import { memoryDatabase } from '../../../services/web/history/memory-database.ts';
import { BatonClientError, type IncomingTransfer, type Transfer } from '../../../shared/client/index.ts';

const { jest } = import.meta;

// The code expects this of a browser, and the test does not use it.
Object.assign(globalThis, { window: {}, addEventListener: () => {}, indexedDB: {} });
const { makeFileCommands } = await import('../../../services/web/files/file-commands.ts');

const transfer = {
  ...{
    transfer_id: 'transfer-1',
    state: 'PENDING',
    mode: null,
    sealed: null,
    error: null,
    created_at: 1,
    updated_at: 1,
  },
  ...{ sender: { device_id: 'phone', name: 'Phone' }, receiver: { device_id: 'laptop', name: 'Laptop' } },
  ...{ files: [], file_count: 0, total_bytes: 0 },
} as unknown as Transfer;

test('an offer that ends while it is opened is not kept as one that can be accepted', async () => {
  const history = makeHistory(memoryDatabase(), () => {}, makeTurns());
  let learn: (none: null) => void = () => {};
  const keys = new Promise<null>((resolve) => {
    learn = resolve;
  });
  const commands = makeFileCommands({
    ...{ history, client: {}, entry: { userId: 'user-1', deviceId: 'laptop' }, keys: { ifKeyed: () => keys } },
    ...{ readiness: { watch: () => {} }, tabs: { command: () => {}, post: () => {}, isLeading: { value: true } } },
    queue: { all: () => Promise.resolve([]) },
  } as unknown as Parts);
  const offered = commands.onOffer({ id: transfer.transfer_id, transfer, isAccepted: false } as IncomingTransfer);
  await commands.onTransfer({ ...transfer, state: 'CANCELLED', updated_at: 2 });
  learn(null);
  await offered;
  expect(await history.byRef(transfer.transfer_id)).toMatchObject({ state: 'cancelled' });
});

test('an offer that ends while it is opened twice at once is not kept as one that can be accepted', async () => {
  const history = makeHistory(memoryDatabase(), () => {}, makeTurns());
  const answers: ((sealing: unknown) => void)[] = [];
  const keys = { ifKeyed: () => new Promise((resolve) => answers.push(resolve)) };
  const commands = makeFileCommands({
    ...{ history, client: {}, entry: { userId: 'user-1', deviceId: 'laptop' }, keys },
    ...{ readiness: { watch: () => {} }, tabs: { command: () => {}, post: () => {}, isLeading: { value: true } } },
    queue: { all: () => Promise.resolve([]) },
  } as unknown as Parts);
  const sealed = { ...transfer, sealed: 'AQ' } as Transfer;
  const offer = { id: sealed.transfer_id, transfer: sealed, isAccepted: false } as IncomingTransfer;
  const problem = new BatonClientError('unknown_key', 'Another key', { action: 'tell-user' });
  const opens = [commands.onOffer(offer), commands.onOffer(offer)];
  // The first one finds no key for the offer, the second one does.
  answers[0]?.({ openOffer: () => Promise.resolve({ kind: 'waits', problem }) });
  await opens[0];
  await commands.onTransfer({ ...sealed, state: 'CANCELLED', updated_at: 2 });
  answers[1]?.({ openOffer: () => Promise.resolve({ kind: 'opened', offer }) });
  await opens[1];
  expect(await history.byRef(sealed.transfer_id)).toMatchObject({ state: 'cancelled' });
});

test('an offer that the browser cannot open for a moment is opened later, though no other event comes', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const history = makeHistory(memoryDatabase(), () => {}, makeTurns());
  const sealed = { ...transfer, sealed: 'AQ' } as Transfer;
  const offer = { id: sealed.transfer_id, transfer: sealed, isAccepted: false } as IncomingTransfer;
  const answers = [
    () => Promise.reject(new DOMException('Connection to Indexed Database server lost', 'UnknownError')),
    () => Promise.resolve({ kind: 'opened', offer }),
  ];
  const commands = makeFileCommands({
    ...{ history, client: {}, entry: { userId: 'user-1', deviceId: 'laptop' } },
    keys: { ifKeyed: () => Promise.resolve({ openOffer: () => answers.shift()?.() }) },
    ...{ readiness: { watch: () => {} }, tabs: { command: () => {}, post: () => {}, isLeading: { value: true } } },
    queue: { all: () => Promise.resolve([]) },
  } as unknown as Parts);
  try {
    await commands.onOffer(offer);
    expect(await history.byRef(sealed.transfer_id)).toMatchObject({ state: 'offered', lock: 'waits' });
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await history.byRef(sealed.transfer_id)).toMatchObject({ state: 'offered', lock: 'sealed' });
  } finally {
    jest.useRealTimers();
  }
});

test('files whose transfer the browser cannot resume for a moment are kept, and are resumed with the next try', async () => {
  const history = makeHistory(memoryDatabase(), () => {}, makeTurns());
  const file = new File(['a'], 'a.txt');
  const mine = { ...transfer, file_count: 1, sender: transfer.receiver, receiver: transfer.sender };
  await history.offered(mine);
  await history.sources.keep(mine.transfer_id, [{ file, name: 'a.txt' }]);
  const commands = makeFileCommands({
    ...{ history, entry: { userId: 'user-1', deviceId: 'laptop' }, keys: { ifKeyed: () => Promise.resolve(null) } },
    client: {
      transfers: {
        get: () => Promise.resolve(mine),
        resume: () => Promise.reject(new DOMException('Connection to Indexed Database server lost', 'UnknownError')),
      },
    },
    ...{ readiness: { watch: () => {} }, tabs: { command: () => {}, post: () => {}, isLeading: { value: true } } },
    queue: { all: () => Promise.resolve([]), has: () => Promise.resolve(false) },
  } as unknown as Parts);
  await expect(commands.goOn()).rejects.toMatchObject({ action: 'retry' });
  expect(await history.sources.all()).toEqual([mine.transfer_id]);
});

test.each([
  ['that were cancelled', { state: 'CANCELLED' }, true, { state: 'cancelled', thread: 'phone' }],
  ['whose sealed names are gone', { state: 'FAILED', sealed: '' }, true, { state: 'failed', lock: 'waits', files: [] }],
  ['of another device', { state: 'CANCELLED', receiver: { device_id: 'tablet', name: 'Tablet' } }, false, undefined],
])('a notification leads to files %s, if they were for this device', async (_, ended, isThere, shown) => {
  const history = makeHistory(memoryDatabase(), () => {}, makeTurns());
  const commands = new Map<string, (id: string) => Promise<boolean>>();
  makeFileCommands({
    ...{ history, entry: { userId: 'user-1', deviceId: 'laptop' }, keys: { ifKeyed: () => Promise.resolve(null) } },
    client: { transfers: { get: () => Promise.resolve({ ...transfer, ...ended }) } },
    readiness: { watch: () => {} },
    tabs: { command: (name: string, work: (id: string) => Promise<boolean>) => commands.set(name, work) },
    queue: { all: () => Promise.resolve([]) },
  } as unknown as Parts);
  expect(await commands.get('find')?.(transfer.transfer_id)).toBe(isThere);
  const item = await history.byRef(transfer.transfer_id);
  if (shown === undefined) expect(item).toBeUndefined();
  else expect(item).toMatchObject(shown);
});

test('an offer is accepted once, although the user accepts it while the app does', async () => {
  const history = makeHistory(memoryDatabase(), () => {}, makeTurns());
  const storage = { getDirectory: () => Promise.resolve({}) };
  Object.defineProperty(globalThis, 'navigator', { value: { storage }, configurable: true });
  Object.assign(globalThis, { isSecureContext: true });
  const given = new Map<string, (id: string) => Promise<void>>();
  const tabs = { command: (name: string, work: () => Promise<void>) => given.set(name, work) };
  const stillLeads = () => new Promise((resolve) => setTimeout(() => resolve(true), 50));
  let begun = 0;
  const accept = () => {
    begun += 1;
    return { id: transfer.transfer_id, done: new Promise(() => {}), progress: {}, onProgress: () => {} };
  };
  const offer = { id: transfer.transfer_id, transfer, isAccepted: true, accept } as unknown as IncomingTransfer;
  const commands = makeFileCommands({
    ...{ history, client: {}, entry: { userId: 'user-1', deviceId: 'laptop' }, queue: { all: async () => [] } },
    ...{ keys: { ifKeyed: async () => null }, readiness: { watch: () => {} } },
    tabs: { ...tabs, post: () => {}, isLeading: { value: true }, stillLeads },
  } as unknown as Parts);
  await commands.onOffer({ ...offer, isAccepted: false });
  await Promise.all([commands.onOffer(offer), given.get('accept')?.(transfer.transfer_id)]);
  expect(begun).toBe(1);
});
