import { generateKeyPair, SignJWT } from 'jose';
import { makeBrokerIdentity } from '../../../services/sync/identity/modes/broker.ts';
import { makeStrangerLimit } from '../../../services/sync/identity/credentials/stranger-limit.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { identityRoutes } from '../../../shared/contract/modules/identity.ts';
import { sessionRoutes } from '../../../shared/contract/modules/sessions.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import { requestWith } from './request.ts';

async function scene({ verifies = new BatonError('session_expired'), clock = { nowMs: Date.now } } = {}) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const identity = makeBrokerIdentity({
    verify: () => Promise.reject(verifies),
    keySet: () => Promise.resolve(publicKey),
    clock,
    app: 'baton',
    cookieName: 'baton',
    clientAddress: () => '127.0.0.1',
    strangers: makeStrangerLimit({ scale: 1 }),
    isRevoked: () => false,
    isTombstoned: async (_account, deviceId) => deviceId === 'signed-out',
  });
  const tokenUntil = (seconds: number, claims: object = {}, { audience = 'baton', typ = 'at+jwt' } = {}) =>
    new SignJWT({ iat: Math.floor(Date.now() / 1000), meta: 'laptop-01', scope: 'full', ...claims })
      .setProtectedHeader({ alg: 'ES256', typ })
      .setSubject('alice')
      .setAudience(audience)
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(privateKey);
  const refusal = async (headers: [string, string][], route: Route = identityRoutes.getMe): Promise<string> => {
    try {
      const { scope, deviceId } = await identity.identify(requestWith(headers), route);
      return `let in: ${scope} ${deviceId}`;
    } catch (error) {
      return error instanceof BatonError ? `${error.code}: ${error.message}` : String(error);
    }
  };
  return { identity, refusal, tokenUntil };
}

test('who shows nothing, a token that is over, one that is none, and one of a session that is over is told which', async () => {
  const { refusal, tokenUntil } = await scene();
  const shown = (token: string): [string, string][] => [['Authorization', `Bearer ${token}`]];
  expect(await refusal([])).toBe('unauthenticated: Sign in first');
  expect(await refusal(shown(await tokenUntil(-3_600)))).toBe('unauthenticated: The access token has expired');
  expect(await refusal(shown('made.up.token'))).toBe('unauthenticated: The access token is not valid');
  expect(await refusal(shown(await tokenUntil(3_600)))).toBe('unauthenticated: The session has ended');
  expect(await refusal([['Cookie', `baton=v1.session.${'s'.repeat(43)}`]])).toBe(
    'unauthenticated: The session has ended',
  );
});

const AWAY = 'broker_unavailable';
type Scene = Awaited<ReturnType<typeof scene>>;

test.each<[string, string, (scene: Scene) => Promise<string>]>([
  ['a token that is good', 'let in: full laptop-01', ({ tokenUntil }) => tokenUntil(60)],
  ['a token that ends in a moment', 'let in: full laptop-01', ({ tokenUntil }) => tokenUntil(5)],
  ["a guest's token", 'let in: guest laptop-01', ({ tokenUntil }) => tokenUntil(60, { scope: 'guest' })],
  ['a token that has just run out', 'unauthenticated', ({ tokenUntil }) => tokenUntil(-1)],
  ['a token that ran out long ago', 'unauthenticated', ({ tokenUntil }) => tokenUntil(-600)],
  ['a token of another app', 'unauthenticated', ({ tokenUntil }) => tokenUntil(60, {}, { audience: 'other' })],
  ['another kind of token', 'unauthenticated', ({ tokenUntil }) => tokenUntil(60, {}, { typ: 'JWT' })],
  ['a token without scope', 'unauthenticated', ({ tokenUntil }) => tokenUntil(60, { scope: undefined })],
  ['a token of another scope', 'unauthenticated', ({ tokenUntil }) => tokenUntil(60, { scope: 'full guest' })],
  ['a token of a session without device', AWAY, ({ tokenUntil }) => tokenUntil(60, { meta: '' })],
  [
    'a token of a device signed out elsewhere',
    'session_revoked',
    ({ tokenUntil }) => tokenUntil(60, { meta: 'signed-out' }),
  ],
])('with the broker away, %s that would sign out a device is: %s', async (_what, outcome, make) => {
  const here = await scene({ verifies: new BatonError(AWAY) });
  const told = await here.refusal([['Authorization', `Bearer ${await make(here)}`]], sessionRoutes.removeSession);
  expect(told.startsWith(outcome)).toBe(true);
});

test('with the broker away, a token from before a log-in minted its session anew signs nothing out', async () => {
  const { identity, refusal, tokenUntil } = await scene({ verifies: new BatonError(AWAY) });
  const token = (iat: number) => tokenUntil(60, { iat });
  const shown = async (iat: number) =>
    refusal([['Authorization', `Bearer ${await token(iat)}`]], sessionRoutes.removeDevice);
  const now = Math.floor(Date.now() / 1000);
  identity.replaced('alice', 'laptop-01');
  expect(await shown(now - 10)).toMatch(AWAY);
  expect(await shown(now + 1)).toBe('let in: full laptop-01');
  identity.replaced('alice', 'another-01');
  expect(await shown(now - 20)).toMatch(AWAY);
});

test('with the broker away, the other routes are closed to every token', async () => {
  const { refusal, tokenUntil } = await scene({ verifies: new BatonError(AWAY) });
  const shown: [string, string][] = [['Authorization', `Bearer ${await tokenUntil(60)}`]];
  for (const route of [identityRoutes.getMe, sessionRoutes.removeOtherSessions, sessionRoutes.eraseAccount]) {
    expect(await refusal(shown, route)).toMatch(AWAY);
  }
  expect(await refusal(shown, sessionRoutes.logOut)).toBe('let in: full laptop-01');
});

test('a token is judged by the clock of the broker, however wrong that of this machine is', async () => {
  const aheadMs = 3_600_000;
  const { refusal, tokenUntil } = await scene({
    verifies: new BatonError('session_expired'),
    clock: { nowMs: () => Date.now() - aheadMs },
  });
  const shown = async (seconds: number): Promise<[string, string][]> => [
    ['Authorization', `Bearer ${await tokenUntil(seconds)}`],
  ];
  // By this machine's clock it ended an hour ago. The broker, which has the last word, is asked.
  expect(await refusal(await shown(-3_500))).toBe('unauthenticated: The session has ended');
  expect(await refusal(await shown(-3_700))).toBe('unauthenticated: The access token has expired');
});
