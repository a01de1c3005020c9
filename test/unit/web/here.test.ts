const { jest } = import.meta;
const { unstable_mockModule: mockModule } = jest as unknown as {
  unstable_mockModule: (name: string, made: () => unknown) => void;
};

// The code expects this of a browser, and the test does not use it.
Object.assign(globalThis, { addEventListener: () => {} });
let closed = 0;
const never = (): Promise<never> => new Promise(() => {});
mockModule('idb', () => ({
  openDB: async () => ({ get: never, getAll: never, put: never, close: () => void (closed += 1) }),
}));
const { accountHere, noteAccount } = await import('../../../services/web/service-worker/here.ts');

const { clearShares } = await import('../../../services/web/service-worker/shares.ts');

test('the app starts, although an open database of the browser never answers', async () => {
  jest.useFakeTimers();
  try {
    const asked = Promise.all([noteAccount('ann'), accountHere(), clearShares('ann')]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await asked).toEqual([undefined, undefined, undefined]);
    expect(closed).toBe(2);
  } finally {
    jest.useRealTimers();
  }
});
