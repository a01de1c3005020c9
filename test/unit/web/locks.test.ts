import { makeChannels, makePageLocks } from '../../support/page-locks.ts';

/* The locks between the pages of the app. One page is the real code, and the test plays the others. */

const { jest } = import.meta as unknown as {
  jest: ImportMeta['jest'] & { unstable_mockModule: (name: string, make: () => object) => void };
};

const locksOf = makePageLocks();
const Channel = makeChannels();
const page = { visibilityState: 'visible' };
Object.assign(globalThis, { addEventListener: () => {}, document: page, BroadcastChannel: Channel });
Object.defineProperty(globalThis, 'navigator', { value: { locks: locksOf('page') }, configurable: true });
Object.assign(globalThis, { indexedDB: { open: () => ({}) } });
const removed: string[] = [];
jest.unstable_mockModule('idb', () => ({ openDB: () => {}, deleteDB: async (name: string) => removed.push(name) }));
const { inLock } = await import('../../../services/web/locks.ts');
const { dropKeys } = await import('../../../services/web/sealing/key-state.ts');
const { makeStores } = await import('../../../services/web/sealing/stores.ts');
const other = locksOf('other page');

beforeEach(() => {
  removed.length = 0;
  page.visibilityState = 'visible';
  jest.useFakeTimers();
});
afterEach(() => jest.useRealTimers());

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns work that takes so long, and notes when it begins and ends. */
function makeNoted() {
  const noted: string[] = [];
  const work = (name: string, ms: number) => async () => {
    noted.push(`${name} begins`);
    await after(ms);
    noted.push(`${name} ends`);
  };
  return { noted, work };
}

const IN_TURN = ['first begins', 'first ends', 'second begins', 'second ends'];

test('two works of one page with one lock run one after the other, however long the first takes', async () => {
  const { noted, work } = makeNoted();
  const both = Promise.allSettled([inLock('push', work('first', 60_000)), inLock('push', work('second', 1_000))]);
  await jest.advanceTimersByTimeAsync(70_000);
  expect((await both).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(noted).toEqual(IN_TURN);
});

test('of two works that wait for a page that does not move, one takes the lock, and the other waits for that one', async () => {
  const { noted, work } = makeNoted();
  other.request('frozen', () => new Promise(() => {})).catch(() => {});
  const both = Promise.allSettled([inLock('frozen', work('first', 60_000)), inLock('frozen', work('second', 1_000))]);
  await jest.advanceTimersByTimeAsync(80_000);
  expect((await both).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(noted).toEqual(IN_TURN);
});

test('a page that takes a lock from one that does not move tells the others, so that they go on waiting', async () => {
  const said: unknown[] = [];
  const channel = new Channel('baton/locks');
  channel.addEventListener('message', (event) => said.push((event as MessageEvent).data));
  other.request('told', () => new Promise(() => {})).catch(() => {});
  const taken = inLock('told', () => after(0));
  await jest.advanceTimersByTimeAsync(10_000);
  await taken;
  expect(said.at(-1)).toEqual({ type: 'alive', name: 'told' });
  channel.close();
});

describe('a page at work with its keys', () => {
  test('answers for their lock, so that a sign-out in another tab waits for it', async () => {
    const said: unknown[] = [];
    const channel = new Channel('baton/locks');
    channel.addEventListener('message', (event) => said.push((event as MessageEvent).data));
    const working = makeStores().keys.lock(() => after(30_000));
    await jest.advanceTimersByTimeAsync(20_000);
    said.length = 0;
    channel.postMessage({ type: 'ask', name: 'baton-keys' });
    await jest.advanceTimersByTimeAsync(20_000);
    await working;
    expect(said).toEqual([{ type: 'alive', name: 'baton-keys' }]);
    channel.close();
  });

  test('does not write them back after another tab has taken the lock, because this one did not move', async () => {
    const { keys } = makeStores();
    let saved: Promise<unknown> = Promise.resolve();
    const working = keys.lock(async () => {
      await after(10_000);
      saved = keys.save({} as never).catch((error: unknown) => error);
      await saved;
    });
    const lost = working.catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(1_000);
    await other.request('baton-keys', { steal: true }, async () => {});
    await jest.advanceTimersByTimeAsync(20_000);
    expect(await lost).toMatchObject({ name: 'BatonClientError', action: 'retry' });
    expect(await saved).toMatchObject({ message: 'The keys of this browser cannot be read', cause: { name: 'Error' } });
  });
});

describe('a sign-out removes the keys', () => {
  test('although a tab that does not move has their lock', async () => {
    other.request('baton-keys', () => new Promise(() => {})).catch(() => {});
    const gone = dropKeys();
    await jest.advanceTimersByTimeAsync(9_000);
    expect(await gone).toBe(true);
    expect(removed.toSorted()).toEqual(['baton-asking-keys', 'baton-keys']);
  });

  test('in its own time, and never later, when somebody may have signed in again', async () => {
    const { timeout } = AbortSignal;
    // The timers of the test do not move that of Node.
    AbortSignal.timeout = (ms) => {
      const ending = new AbortController();
      setTimeout(() => ending.abort(), ms);
      return ending.signal;
    };
    // A page that nobody sees takes no lock.
    page.visibilityState = 'hidden';
    void other.request('baton-keys', () => after(20_000));
    const gone = dropKeys();
    await jest.advanceTimersByTimeAsync(15_000);
    expect(await gone).toBe(false);
    await jest.advanceTimersByTimeAsync(15_000);
    expect(removed).toEqual(['baton-asking-keys']);
    AbortSignal.timeout = timeout;
  });
});
