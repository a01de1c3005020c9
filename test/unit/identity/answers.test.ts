import { makeAnswers, type Vouched } from '../../../services/sync/identity/credentials/answers.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { codeOf } from './request.ts';

/* The broker is asked about a credential once in ten seconds, and again at once after a revocation. */

let nowMs = 0;
let asked: string[] = [];
beforeEach(() => {
  [nowMs, asked] = [1_000_000, []];
});

const vouched = (
  account: string,
  deviceId: string | null = 'laptop-01',
  endsAtMs = Number.POSITIVE_INFINITY,
): Vouched => ({
  caller: { userId: account, account, scope: 'full', name: account, roles: [], deviceId },
  endsAtMs,
});
const answersOf = (most?: number) => makeAnswers({ now: () => nowMs, ...(most !== undefined && { most }) });
type Answers = ReturnType<typeof makeAnswers>;

const good =
  (answers: Answers) =>
  (shown: string, device: string | null = 'laptop-01', endsAtMs?: number) =>
    answers.get(shown, () => {
      asked.push(shown);
      return Promise.resolve(vouched('alice', device, endsAtMs));
    });
const refused = (answers: Answers, shown: string, code: 'session_revoked' | 'broker_unavailable' = 'session_revoked') =>
  codeOf(() =>
    answers.get(shown, () => {
      asked.push(shown);
      return Promise.reject(new BatonError(code));
    }),
  );

test('an answer is good for ten seconds', async () => {
  const show = good(answersOf());
  await show('a');
  nowMs += 9_999;
  await show('a');
  expect(asked).toEqual(['a']);
  nowMs += 1;
  await show('a');
  expect(asked).toEqual(['a', 'a']);
});

test('an answer is not good for longer than what was shown', async () => {
  const show = good(answersOf());
  await show('a', 'laptop-01', nowMs + 2_000);
  nowMs += 2_000;
  await show('a', 'laptop-01', nowMs + 2_000);
  expect(asked).toEqual(['a', 'a']);
});

test('a refusal is kept as long', async () => {
  const answers = answersOf();
  expect([await refused(answers, 'a'), await refused(answers, 'a')]).toEqual(['session_revoked', 'session_revoked']);
  expect(asked).toEqual(['a']);
  nowMs += 10_000;
  await refused(answers, 'a');
  expect(asked).toEqual(['a', 'a']);
});

test('that nobody could say is not kept', async () => {
  const answers = answersOf();
  expect(await refused(answers, 'a', 'broker_unavailable')).toBe('broker_unavailable');
  expect((await good(answers)('a')).account).toBe('alice');
  expect(asked).toEqual(['a', 'a']);
});

test('many who ask the same at once are one question', async () => {
  const show = good(answersOf());
  const callers = await Promise.all(Array.from({ length: 50 }, () => show('a')));
  expect(new Set(callers).size).toBe(1);
  expect(asked).toEqual(['a']);
});

test('the memory is bounded, and invented credentials do not push out good ones', async () => {
  const answers = answersOf(3);
  const show = good(answers);
  await show('a');
  for (let i = 0; i < 10; i++) await refused(answers, `invented-${i}`);
  await show('a');
  expect(asked.filter((shown) => shown === 'a')).toHaveLength(1);
  for (const shown of ['b', 'c', 'd']) await show(shown);
  await show('a');
  expect(asked.filter((shown) => shown === 'a')).toHaveLength(2);
});

describe('after a revocation', () => {
  test('the device is asked about again, and no other', async () => {
    const answers = answersOf();
    const show = good(answers);
    await show('laptop');
    await show('phone', 'phone-01');
    answers.forget('alice', 'laptop-01');
    expect(await refused(answers, 'laptop')).toBe('session_revoked');
    await show('phone', 'phone-01');
    expect(asked).toEqual(['laptop', 'phone', 'laptop']);
  });

  test('of the whole account every session is, those without device too', async () => {
    const answers = answersOf();
    const show = good(answers);
    await show('laptop');
    await show('login', null);
    answers.forget('bob', null);
    await show('laptop');
    answers.forget('alice', null);
    await show('laptop');
    await show('login', null);
    expect(asked).toEqual(['laptop', 'login', 'laptop', 'login']);
  });

  test('what was signed out is refused without asking, also when it was last shown long ago', async () => {
    const answers = answersOf();
    const show = good(answers);
    for (const shown of ['tab', 'app']) await show(shown);
    await show('phone', 'phone-01');
    nowMs += 60_000;
    answers.refuse('alice', 'laptop-01', null);
    for (const shown of ['tab', 'app', 'tab']) {
      expect(await refused(answers, shown, 'broker_unavailable')).toBe('session_revoked');
      nowMs += 60_000;
    }
    await show('phone', 'phone-01');
    expect(asked).toEqual(['tab', 'app', 'phone', 'phone']);
  });

  test('of sessions without a device that one is refused which was ended', async () => {
    const answers = answersOf();
    const logIn = (sessionId: string) =>
      answers.get(sessionId, () => {
        asked.push(sessionId);
        const { caller, endsAtMs } = vouched('alice', null);
        return Promise.resolve({ caller: { ...caller, sessionId }, endsAtMs });
      });
    for (const id of ['one', 'two']) await logIn(id);
    answers.refuse('alice', null, 'one');
    expect(await refused(answers, 'one', 'broker_unavailable')).toBe('session_revoked');
    expect((await logIn('two')).sessionId).toBe('two');
    expect(asked).toEqual(['one', 'two']);
  });

  test('an answer about an ended session that was on its way lets nobody in', async () => {
    const answers = answersOf();
    let answer: (vouched: Vouched) => void = () => undefined;
    const before = codeOf(() => answers.get('a', () => new Promise((resolve) => void (answer = resolve))));
    answers.refuse('alice', null, 'one');
    const { caller, endsAtMs } = vouched('alice', null);
    answer({ caller: { ...caller, sessionId: 'one' }, endsAtMs });
    expect(await before).toBe('session_revoked');
  });

  test('an answer that was on its way is not kept, and not shared with who asks after it', async () => {
    const answers = answersOf();
    let answer: (vouched: Vouched) => void = () => undefined;
    const before = answers.get('a', () => new Promise((resolve) => void (answer = resolve)));
    answers.forget('alice', 'laptop-01');
    const after = refused(answers, 'a');
    answer(vouched('alice'));
    expect((await before).account).toBe('alice');
    expect(await after).toBe('session_revoked');
    expect(await refused(answers, 'a')).toBe('session_revoked');
  });
});
