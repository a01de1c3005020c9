import { makeGate } from '../../../services/sync/redis/gate.ts';

const REFUSAL = expect.objectContaining({ code: 'store_unavailable' });

/** Makes a gate before the primaries `a` and `b`, and its clock. Keys begin with the name of their primary. */
function setUp({ isUp = true } = {}) {
  const clock = { ms: 0 };
  const gate = makeGate({ partOf: (key) => key[0] ?? null, isUp: () => isUp, now: () => clock.ms });
  const fail = (key: string, times: number) => {
    for (let i = 0; i < times; i++) gate.enter(key)(false);
  };
  return { gate, clock, fail };
}

test('while the store is away nothing is sent', () => {
  const { gate } = setUp({ isUp: false });
  expect(() => gate.enter('a1')).toThrow(REFUSAL);
});

test('a primary that does not answer closes its own keys and no others', () => {
  const { gate, fail } = setUp();
  fail('a1', 3);

  expect(() => gate.enter('a2')).toThrow(REFUSAL);
  expect(() => gate.enter('b1')).not.toThrow();
});

test('a closed primary is tried by one command at a time, and is open again once it has answered', () => {
  const { gate, clock, fail } = setUp();
  fail('a1', 3);
  clock.ms = 500;
  const leave = gate.enter('a1');

  expect(() => gate.enter('a2')).toThrow(REFUSAL);
  leave(true);
  expect(() => gate.enter('a2')).not.toThrow();
});

test('failures that are not in a row close nothing', () => {
  const { gate, fail } = setUp();
  fail('a1', 2);
  gate.enter('a1')(true);
  fail('a1', 2);

  expect(() => gate.enter('a1')).not.toThrow();
});

test('no more than 5,000 commands wait for an answer', () => {
  const { gate } = setUp();
  const waiting = Array.from({ length: 5_000 }, () => gate.enter('a1'));

  expect(() => gate.enter('b1')).toThrow(REFUSAL);
  waiting[0]?.(true);
  expect(() => gate.enter('b1')).not.toThrow();
});

test('a store with one primary is never closed by single failures', () => {
  const gate = makeGate({ partOf: () => null, isUp: () => true });
  for (let i = 0; i < 10; i++) gate.enter('a1')(false);

  expect(() => gate.enter('a1')).not.toThrow();
});
