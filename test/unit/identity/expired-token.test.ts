import { generateKeyPair, SignJWT } from 'jose';
import { makeBrokerIdentity } from '../../../services/sync/identity/modes/broker.ts';
import { makeStrangerLimit } from '../../../services/sync/identity/credentials/stranger-limit.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { identityRoutes } from '../../../shared/contract/modules/identity.ts';
import { requestWith } from './request.ts';

async function scene() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const identity = makeBrokerIdentity({
    verify: () => Promise.reject(new BatonError('session_expired')),
    keySet: () => Promise.resolve(publicKey),
    app: 'baton',
    cookieName: 'baton',
    clientAddress: () => '127.0.0.1',
    strangers: makeStrangerLimit({ scale: 1 }),
    isRevoked: () => false,
  });
  const tokenUntil = (seconds: number) =>
    new SignJWT({ meta: 'laptop-01' })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
      .setSubject('alice')
      .setAudience('baton')
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(privateKey);
  const refusal = async (headers: [string, string][]): Promise<string> => {
    try {
      await identity.identify(requestWith(headers), identityRoutes.getMe);
      return 'let in';
    } catch (error) {
      return error instanceof BatonError ? `${error.code}: ${error.message}` : String(error);
    }
  };
  return { refusal, tokenUntil };
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
