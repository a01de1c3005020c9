import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Parts } from '../../../services/web/engine/parts.ts';
import type { FilesItem } from '../../../services/web/history/database.ts';
import { makeHistory, makeTurns } from '../../../services/web/history/history.ts';
import { memoryDatabase } from '../../../services/web/history/memory-database.ts';
import { makeQueue } from '../../../services/web/outbox/queue.ts';
import { BatonClientError } from '../../../shared/client/index.ts';

// Browser and build have these, but nothing here uses them.
Object.assign(globalThis, { window: {}, addEventListener: () => {} });
Object.assign(globalThis, { IDBKeyRange: { bound: () => ({ includes: () => false }) } });
Object.defineProperty(globalThis, 'navigator', { value: { storage: {} } });
const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, ...made: unknown[]) => void };
};
jest.unstable_mockModule('virtual:worker-address', () => ({ workerAddress: '' }), { virtual: true });
const { makeFileCommands } = await import('../../../services/web/files/file-commands.ts');
const { makeOutbox } = await import('../../../services/web/outbox/outbox.ts');

const item: FilesItem = {
  ...{ id: 'item', ref: 'offer', thread: 'phone', at: 1, isMine: true, kind: 'files', state: 'active', error: null },
  ...{
    files: [{ index: 0, name: 'a.txt', size: 1, type: 'text/plain' }],
    fileCount: 1,
    totalBytes: 1,
    kept: 'nothing',
  },
};
const chosen = { file: new File(['x'], 'a.txt'), name: 'a.txt' };

/** Makes the leading tab of an account whose service answers each request of a transfer with this error. */
function scene(error: Error = new BatonClientError('draining', 'away', { action: 'retry' })) {
  const inTurn = makeTurns();
  const database = memoryDatabase();
  const history = makeHistory(database, () => {}, inTurn);
  const queue = makeQueue(database, () => {}, inTurn);
  const asked: string[] = [];
  const answer = async (id: string) => {
    asked.push(id);
    // A network takes its time.
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    throw error;
  };
  const parts = {
    ...{ history, queue, entry: { userId: 'u', deviceId: 'laptop' } },
    client: { transfers: { resume: answer, get: answer } },
    keys: { ifKeyed: () => Promise.resolve(null), toSend: () => Promise.resolve(null) },
    readiness: { watch: () => {}, look: () => Promise.resolve('offline') },
    tabs: { command: () => {}, post: () => {}, ask: () => Promise.resolve(), stillLeads: () => Promise.resolve(true) },
  } as unknown as Parts;
  return { asked, database, commands: makeFileCommands(parts), history, outbox: makeOutbox(parts), queue };
}

describe('files that another page of this browser was sending', () => {
  test.each([
    ['the session is over', new BatonClientError('signed_out', 'no', { action: 'sign-in' }), true],
    ['a login page of a network answers', new BatonClientError('unexpected_answer', 'no', { status: 200 }), true],
    ['the app is closed', new BatonClientError('aborted', 'no'), true],
    ['this browser has no keys now', new BatonClientError('keys_lost', 'no', { action: 'tell-user' }), true],
    ['the service is away', new BatonClientError('draining', 'no', { action: 'retry' }), true],
    ['the transfer is gone', new BatonClientError('not_found', 'no', { status: 404 }), false],
  ])('are kept as long as they can be resumed: %s', async (_, error, isKept) => {
    const { commands, database, history } = scene(error);
    await database.put('items', item);
    await history.sources.keep('offer', [chosen]);
    await commands.goOn().catch(() => {});
    expect(await history.sources.all()).toEqual(isKept ? ['offer'] : []);
  });

  test.each([
    ['by a handle that may be read', 'granted', null, ['offer']],
    ['once the user allows it', 'prompt', null, []],
    ['from the copy of a dropped file, which needs no permission', 'prompt', chosen.file, ['offer']],
  ])('go on %s', async (_, permission, file, resumed) => {
    const { asked, commands, database, history } = scene();
    await database.put('items', item);
    const handle = { queryPermission: async () => permission, getFile: async () => chosen.file };
    await history.sources.keep('offer', []);
    // Only a browser can store a handle.
    history.sources.of = async () => [{ file, name: 'a.txt', handle: handle as unknown as FileSystemFileHandle }];
    await commands.goOn().catch(() => {});
    // The state of each transfer is read too.
    expect(asked).toEqual([...resumed, 'offer']);
    expect(await history.sources.all()).toEqual(['offer']);
  });

  test('go on once, although the user chooses them again at that moment', async () => {
    const { asked, commands, database, history } = scene();
    await database.put('items', item);
    await history.sources.keep('offer', [chosen]);
    history.unfinished = async () => [];
    await Promise.allSettled([commands.goOn(), commands.goOn()]);
    expect(asked).toEqual(['offer']);
  });

  test('are not forgotten while they are on their way into the outbox', async () => {
    const { commands, history, outbox, queue } = scene();
    let release = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { add } = queue;
    queue.add = (one) => slow.then(() => add(one));
    const sending = outbox.files([{ id: 'phone', name: 'Phone' }], [chosen]);
    while ((await history.sources.all()).length === 0) await nextTurn();
    const going = commands.goOn();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(await history.sources.all()).toHaveLength(1);
    release();
    await Promise.all([sending, going]);
    expect(await history.sources.all()).toHaveLength(1);
  });

  test('are forgotten where the page was closed before they were in the outbox', async () => {
    const { commands, history } = scene();
    await history.sources.keep('lost', [chosen]);
    await commands.goOn();
    expect(await history.sources.all()).toEqual([]);
  });
});

test('an item that is offered while its state is looked up does not end as interrupted', async () => {
  const { commands, database, history } = scene();
  await database.put('items', { ...item, ref: '', state: 'preparing' });
  const { unfinished } = history;
  history.unfinished = async () => {
    const found = await unfinished();
    await history.update('item', (one) => Object.assign(one, { ref: 'offer', state: 'offered' }));
    return found;
  };
  await commands.goOn();
  expect(await history.item('item')).toMatchObject({ ref: 'offer', state: 'offered', error: null });
});
