import type { Redis } from 'ioredis';
import type { Fault } from '../../chaos/history.ts';
import { Takeovers } from '../../chaos/stores/takeovers.ts';

const { jest } = import.meta;

/** A node that reports the role that the test gives it. */
class Node {
  role: 'master' | 'slave';
  constructor(role: 'master' | 'slave') {
    this.role = role;
  }
  get look(): Redis {
    const call = () => Promise.resolve(this.role === 'master' ? ['master'] : ['slave', 'host', 1, 'connected']);
    return { call, options: { port: 7_000 } } as unknown as Redis;
  }
}

let old: Node;
let heir: Node;
let faults: Fault[];
let takeovers: Takeovers;

/** Lets this much time pass, and whatever happens in it. */
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

beforeEach(async () => {
  jest.useFakeTimers();
  [old, heir] = [new Node('master'), new Node('slave')];
  faults = [];
  const replicated = { looks: [old.look, heir.look], deadAfterMs: 1_000 };
  takeovers = new Takeovers({ replicated, faults, now: () => performance.now(), say: () => undefined });
  await takeovers.start();
  await pass(10_000);
});
afterEach(async () => {
  takeovers.stop();
  await pass(40_000);
  jest.useRealTimers();
});

test('a failover that nobody planned is a fault with a lost tail, until the old primary follows', async () => {
  const promotedAt = performance.now();
  heir.role = 'master';
  await pass(8_000);
  expect(takeovers.seen).toBe(1);
  expect(faults).toEqual([]);

  old.role = 'slave';
  await pass(3_000);
  await takeovers.settled();
  expect(faults).toEqual([expect.objectContaining({ kind: 'unplanned-failover', hidesDevices: true })]);
  const [{ startedAt, endedAt, loss }] = faults as [Fault];
  expect(startedAt).toBeLessThan(promotedAt);
  expect(loss?.since).toBeLessThan(startedAt);
  expect(endedAt).toBeGreaterThan(promotedAt + 8_000);
});

test('a failover that was planned is none', async () => {
  const isOver = takeovers.expect();
  [old.role, heir.role] = ['slave', 'master'];
  await pass(2_000);
  isOver();
  await pass(10_000);
  expect(takeovers.seen).toBe(0);

  [old.role, heir.role] = ['master', 'slave'];
  await pass(10_000);
  expect(takeovers.seen).toBe(1);
});
