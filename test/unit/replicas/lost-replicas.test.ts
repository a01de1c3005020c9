import { LostReplicas } from '../../../services/sync/replicas/failure-detection/lost-replicas.ts';

const { jest } = import.meta;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Reads a lease table every 2 s. `there` has the replicas in it, `heard` those whose channel has a listener. */
function setUp() {
  const there = new Set(['a', 'b']);
  const heard = new Set<string>();
  const asked: string[] = [];
  const lostReplicas = new LostReplicas((id) => {
    asked.push(id);
    return Promise.resolve(heard.has(id));
  });
  let before = new Set(there);
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 2_000) {
      lostReplicas.observe(before, (id) => there.has(id));
      before = new Set(there);
      await jest.advanceTimersByTimeAsync(2_000);
    }
  };
  return { there, heard, asked, lostReplicas, pass };
}

test('an id that has been gone for 12 s is named once, and counts as dead once nobody was found on its channel three times', async () => {
  const { there, asked, lostReplicas, pass } = setUp();
  await pass(10_000);
  expect(asked).toEqual([]);
  there.delete('a');
  await pass(12_000);
  expect(lostReplicas.unheard()).toEqual([]);
  expect(lostReplicas.take()).toEqual(['a']);
  expect(lostReplicas.take()).toEqual([]);
  await pass(8_000);
  expect(lostReplicas.unheard()).toEqual(['a']);
  await pass(20_000);
  expect(asked).toEqual(['a', 'a', 'a']);
});

test('it is forgotten when no row of it can count as open any more, or when it is back', async () => {
  const { there, lostReplicas, pass } = setUp();
  there.clear();
  await pass(24_000);
  expect(lostReplicas.unheard().sort()).toEqual(['a', 'b']);
  there.add('b');
  await pass(2_000);
  expect(lostReplicas.unheard()).toEqual(['a']);
  await pass(150_000);
  expect(lostReplicas.unheard()).toEqual(['a']);
  await pass(60_000);
  expect(lostReplicas.unheard()).toEqual([]);
});

test('one that is only cut off from the leases is alive as long as somebody listens on its channel', async () => {
  const { there, heard, lostReplicas, pass } = setUp();
  heard.add('a');
  there.delete('a');
  await pass(60_000);
  expect(lostReplicas.unheard()).toEqual([]);
  heard.delete('a');
  await pass(4_000);
  heard.add('a');
  await pass(2_000);
  heard.delete('a');
  await pass(4_000);
  expect(lostReplicas.unheard()).toEqual([]);
  await pass(2_000);
  expect(lostReplicas.unheard()).toEqual(['a']);
});
