import { makeBrokerIdentity } from '../../../services/sync/identity/modes/broker.ts';
import { makeStrangerLimit } from '../../../services/sync/identity/credentials/stranger-limit.ts';
import type { VerifiedIdentity } from '../../../shared/contract/modules/broker.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { identityRoutes } from '../../../shared/contract/modules/identity.ts';
import { codeOf, requestWith } from './request.ts';

const { jest } = import.meta;

/*
 * How many questions to the auth broker one client address can cause. Limits are at a hundredth: six refusals a minute.
 */

let nowMs = 0;
const now = () => nowMs;
beforeEach(() => {
  nowMs = 1_000_000;
  // The wall clock decides how long an answer of the broker is kept.
  jest.spyOn(Date, 'now').mockImplementation(now);
});
afterEach(() => void jest.restoreAllMocks());

const OFFICE = '203.0.113.7';
const HOME = '198.51.100.1';
const cookie = (name: string) => `v1.${name}.${'s'.repeat(43)}`;
const isGood = (credential: string) => credential.startsWith('v1.good');

type Answering = (credential: string) => Promise<VerifiedIdentity>;

const ofAlice = (): VerifiedIdentity => ({
  ...{ subject: 'alice', scope: 'full', meta: 'laptop-01', name: 'Alice', roles: [] },
  ...{ session_id: 's', expires_at: Number.MAX_SAFE_INTEGER },
});
const answering: Answering = (credential) =>
  isGood(credential) ? Promise.resolve(ofAlice()) : Promise.reject(new BatonError('session_expired'));

function scene({ answer = answering, ...limits }: { answer?: Answering; scale?: number; waitMs?: number } = {}) {
  const asked: string[] = [];
  const identity = makeBrokerIdentity({
    verify(shown) {
      const credential = 'credential' in shown ? shown.credential : '';
      asked.push(credential);
      return answer(credential);
    },
    keySet: () => Promise.reject(new Error('no token is shown here')),
    clock: { nowMs: Date.now },
    ...{ app: 'baton', cookieName: 'baton' },
    clientAddress: (req) => req.socket.remoteAddress ?? '',
    strangers: makeStrangerLimit({ scale: 0.01, atOnce: 3, mostWaiting: 4, now, ...limits }),
    isRevoked: () => false,
    isTombstoned: async () => false,
  });
  const identify = (credential: string, peer: string) =>
    identity.identify(requestWith([['Cookie', `baton=${credential}`]], { peer }), identityRoutes.getMe);
  const show = (credential: string, peer = OFFICE) => codeOf(() => identify(credential, peer));
  /** Returns the codes of this many invented cookies, one after the other. */
  const invent = async (many: number, peer = OFFICE, prefix = 'bad') => {
    const codes: string[] = [];
    for (let i = 0; i < many; i++) codes.push(await show(cookie(`${prefix}${i}`), peer));
    return codes;
  };
  return { asked, identify, show, invent };
}

const times = (many: number, code: string) => Array.from({ length: many }, () => code);

test('what is no credential of the broker is refused without asking it', async () => {
  const { asked, show } = scene();
  const odd = ['v1.x.y', `v1.x.${'s'.repeat(42)}`, `v2.x.${'s'.repeat(43)}`, `v1..${'s'.repeat(43)}`, 'x', ''];
  for (const credential of odd) expect(await show(credential)).toBe('unauthenticated');
  expect(asked).toEqual([]);
});

test('the broker is asked about so many unknown cookies of one address, and the others are told to come later', async () => {
  const { asked, identify, invent } = scene();
  expect(await invent(10)).toEqual([...times(6, 'unauthenticated'), ...times(4, 'rate_limited')]);
  expect(asked).toHaveLength(6);
  await expect(identify(cookie('bad99'), OFFICE)).rejects.toMatchObject({
    extras: {
      retryAfterSeconds: 10,
      rateGroup: 'unknown_credential',
      headers: { 'RateLimit-Policy': '"unknown_credential"; q=6; w=60' },
    },
  });
  nowMs += 10_000;
  expect(await invent(2, OFFICE, 'later')).toEqual(['unauthenticated', 'rate_limited']);
});

test('whoever was told to come later is let in later', async () => {
  const { invent, show } = scene();
  await invent(6);
  expect(await show(cookie('good'))).toBe('rate_limited');
  nowMs += 10_000;
  expect(await show(cookie('good'))).toBe('none');
});

test('another address is not told to come later, and a customer of IPv6 is one address', async () => {
  const { invent, show } = scene();
  await invent(6, '2001:db8:1:100::1');
  expect(await show(cookie('other'), '2001:db8:1:1ff::9')).toBe('rate_limited');
  expect(await show(cookie('other'), '2001:db8:1:200::9')).toBe('unauthenticated');
  expect(await show(cookie('another'), HOME)).toBe('unauthenticated');
});

test('an office of thousands of sessions behind one address never notices', async () => {
  const { asked, show } = scene();
  for (let i = 0; i < 2_000; i++) expect(await show(cookie(`good${i}`))).toBe('none');
  expect(asked).toHaveLength(2_000);
});

test('a session that was good goes on beside a flood from its own address, also after its answer is forgotten', async () => {
  const { asked, invent, show } = scene();
  expect(await show(cookie('good'))).toBe('none');
  await invent(20);
  expect(await show(cookie('good'))).toBe('none');
  const before = asked.length;
  nowMs += 10_000;
  await invent(20, OFFICE, 'more');
  expect(await show(cookie('good'))).toBe('none');
  expect(asked.slice(before).filter(isGood)).toHaveLength(1);
});

test('a repeated refusal is one question and counts once', async () => {
  const { asked, show } = scene();
  for (let i = 0; i < 50; i++) expect(await show(cookie('bad'))).toBe('unauthenticated');
  expect(asked).toHaveLength(1);
});

test('a broker that is away counts for nobody', async () => {
  const { asked, show } = scene({ answer: () => Promise.reject(new BatonError('broker_unavailable')) });
  for (let i = 0; i < 50; i++) expect(await show(cookie(`any${i}`))).toBe('broker_unavailable');
  expect(asked).toHaveLength(50);
});

describe('slow refusals', () => {
  /** Makes a broker that answers when the test says so. */
  function slow(limits: { waitMs?: number } = {}) {
    const held: (() => void)[] = [];
    const parts = scene({
      ...{ scale: 0, ...limits },
      answer: (credential) =>
        isGood(credential)
          ? answering(credential)
          : new Promise((_, reject) => held.push(() => reject(new BatonError('session_expired')))),
    });
    return { ...parts, held };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  test('of one address take so many places at the broker; some wait, and more are told to come later', async () => {
    const { asked, held, show } = slow();
    const shown = Array.from({ length: 9 }, (_, i) => show(cookie(`bad${i}`)));
    expect(await Promise.race(shown)).toBe('rate_limited');
    expect(asked).toHaveLength(3);
    expect(await show(cookie('good'), HOME)).toBe('none');
    while (held.length > 0) {
      held.shift()?.();
      await turn();
    }
    const codes = await Promise.all(shown);
    expect(codes.slice(0, 7)).toEqual(times(7, 'unauthenticated'));
    expect(codes.slice(7)).toEqual(times(2, 'rate_limited'));
  });

  test('keep the others of their address waiting for so long, and then they are told to come later', async () => {
    const { asked, held, show } = slow({ waitMs: 10 });
    const shown = Array.from({ length: 3 }, (_, i) => show(cookie(`bad${i}`)));
    expect(await show(cookie('good'))).toBe('rate_limited');
    expect(asked).toHaveLength(3);
    for (const answer of held) answer();
    expect(await Promise.all(shown)).toEqual(times(3, 'unauthenticated'));
    expect(await show(cookie('good'))).toBe('none');
  });
});
