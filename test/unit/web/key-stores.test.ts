import { BatonClientError } from '../../../shared/client/index.ts';

/* The keys of a browser whose databases have trouble. Each caller holds a lock of all tabs meanwhile. */

const { jest } = import.meta;

/** What the browser does with each request to open a database. */
let openKeys: () => object = () => ({});
Object.assign(globalThis, { addEventListener: () => {}, indexedDB: { open: () => openKeys() } });
const { answered } = await import('../../../services/web/open-database.ts');
const { makeStores } = await import('../../../services/web/sealing/stores.ts');

/** A request that fails with this error. */
const failing = (error: DOMException) => () => {
  const request = { error, onerror: () => {} };
  void Promise.resolve().then(() => request.onerror());
  return request;
};

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

test.each(['keys', 'asking'] as const)(
  'a browser that never opens the database of %s is not waited for',
  async (name) => {
    openKeys = () => ({});
    const store = makeStores()[name];
    const tried = [store.load(), store.clear()].map((work) => work.catch((error: unknown) => error));
    await jest.advanceTimersByTimeAsync(10_000);
    for (const error of await Promise.all(tried)) {
      expect(error).toBeInstanceOf(BatonClientError);
      expect(error).toMatchObject({ action: 'retry', outcome: 'none' });
    }
  },
);

test('an error of the browser is one after which the same work may succeed', async () => {
  openKeys = failing(new DOMException('Connection to Indexed Database server lost', 'UnknownError'));
  await expect(makeStores().keys.load()).rejects.toMatchObject({ name: 'BatonClientError', action: 'retry' });
});

test('a browser that answers again is waited for as long as before', async () => {
  const late = answered(new Promise(() => {})).catch(() => 'late');
  await jest.advanceTimersByTimeAsync(10_000);
  expect(await late).toBe('late');
  await answered(Promise.resolve());
  const slow = answered(new Promise((resolve) => setTimeout(() => resolve('slow'), 2_000)));
  await jest.advanceTimersByTimeAsync(2_000);
  expect(await slow).toBe('slow');
});
