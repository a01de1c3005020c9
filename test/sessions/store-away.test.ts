import { startOwnRedis, type OwnRedis } from '../support/redis/own-redis.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import type { WireAnswer } from '../support/wire.ts';

/* The auth broker and the replicas share one store, as with `npm start`. The broker is asked first. */

let redis: OwnRedis;
let site: SignInSite;
beforeAll(async () => {
  redis = await startOwnRedis();
  site = await startSignInSite({}, {}, redis.url);
}, 120_000);
afterAll(async () => {
  redis.resume();
  await site.stop();
  await redis.stop();
});

const codeOf = ({ body }: WireAnswer): string => String((body as { code?: unknown } | null)?.code);

test('while the store stands still nobody is told that the sign-in service is away', async () => {
  const device = await site.signIn();
  // The session was not checked yet, so each request asks the broker first.
  const ask = async () => codeOf(await device.ask(site.one, { path: '/api/devices' }));
  const codes: string[] = [];
  redis.pause();
  try {
    // Until the replica notices that the store is away, it only knows that the broker does not answer.
    while (codes.at(-1) !== 'store_unavailable' && codes.length < 20) codes.push(await ask());
    for (let i = 0; i < 8; i++) codes.push(await ask());
  } finally {
    redis.resume();
  }
  expect(codes.slice(-9)).toEqual(Array(9).fill('store_unavailable'));
  expect(codes.length).toBeLessThan(15);
}, 120_000);
