import { makeBreaker } from '../../../services/sync/sessions/auth-broker/breaker.ts';

let nowMs = 0;
let states: boolean[] = [];
let asked = 0;
const fresh = () => {
  [nowMs, states, asked] = [0, [], 0];
  const breaker = makeBreaker({ onChange: (isOpen) => states.push(isOpen), now: () => nowMs });
  const call = (outcome: 'ok' | 'fails' | 'refused') =>
    breaker
      .call(
        async () => {
          asked += 1;
          if (outcome !== 'ok') throw new Error(outcome);
        },
        (error) => (error as Error).message === 'fails',
      )
      .then(
        () => 'ok',
        (error: unknown) => (error as { code?: string }).code ?? (error as Error).message,
      );
  return { breaker, call };
};

test('five failures in a row open it, and nobody is asked until it has been open for two seconds', async () => {
  const { call } = fresh();
  for (let i = 0; i < 5; i++) await call('fails');
  nowMs = 1_999;
  expect(await call('ok')).toBe('broker_unavailable');
  expect([asked, states]).toEqual([5, [true]]);
  nowMs = 2_000;
  expect(await call('ok')).toBe('ok');
  expect(states).toEqual([true, false]);
});

test('a refusal is an answer: it ends the row of failures', async () => {
  const { call } = fresh();
  for (let i = 0; i < 4; i++) await call('fails');
  expect(await call('refused')).toBe('refused');
  for (let i = 0; i < 4; i++) await call('fails');
  expect([await call('ok'), states]).toEqual(['ok', []]);
});

test('a call from before it opened closes it, and says so', async () => {
  const { breaker, call } = fresh();
  let answer: () => void = () => undefined;
  const early = breaker.call(
    () =>
      new Promise<void>((resolve) => {
        answer = resolve;
      }),
    () => true,
  );
  for (let i = 0; i < 5; i++) await call('fails');
  answer();
  await early;
  expect([await call('ok'), states]).toEqual(['ok', [true, false]]);
});

test('one call alone tries whether it works again; when it fails it stays open', async () => {
  const { breaker, call } = fresh();
  for (let i = 0; i < 5; i++) await call('fails');
  nowMs = 2_000;
  let fail: (error: Error) => void = () => undefined;
  const probe = breaker
    .call(
      () =>
        new Promise<void>((_, reject) => {
          fail = reject;
        }),
      () => true,
    )
    .catch((error: unknown) => (error as Error).message);
  expect(await call('ok')).toBe('broker_unavailable');
  fail(new Error('still away'));
  expect(await probe).toBe('still away');
  expect(await call('ok')).toBe('broker_unavailable');
  expect(states).toEqual([true]);
  nowMs = 4_000;
  expect(await call('ok')).toBe('ok');
});
