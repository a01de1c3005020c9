import type { Redis } from 'ioredis';
import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { approval, ask, poll } from '../signin/parties.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { connectTo, keysUnder } from '../support/redis/redis.ts';
import { untilBeat } from '../support/replicas.ts';
import { cookieOf, type SignInSite, signedIn, startSignInSite } from '../support/sign-in/sign-in.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { startTcpProxy, type TcpProxy } from '../support/redis/tcp-proxy.ts';
import { expectProblem } from '../support/wire.ts';

/* The store did what it was asked, and the connection was cut before the answer. The request comes again. */

let own: OwnRedis;
let proxy: TcpProxy;
let site: SignInSite;
let redis: Redis;
beforeAll(async () => {
  own = await startOwnRedis();
  proxy = await startTcpProxy(own.url);
  site = await startSignInSite({}, {}, proxy.url);
  redis = connectTo(own.url);
});
afterAll(async () => {
  redis.disconnect();
  await site.stop();
  await proxy.stop();
  await own.stop();
});

const ERASE = { method: 'DELETE', path: '/api/me/data' };

const approved = async () => {
  const [laptop, asked] = [await site.signIn(), await ask(site.one)];
  expect((await laptop.ask(site.one, approval(asked))).status).toBe(200);
  return { laptop, asked };
};

test('a sign-in by a code that was ended in the store reaches the device all the same', async () => {
  // From then on the store knows the scripts, and they take effect at the first try.
  expect((await poll(site.two, (await approved()).asked)).status).toBe(200);
  const { laptop, asked } = await approved();
  await untilBeat(site.two, redis, site.prefix);
  const wasCut = proxy.cutBeforeAnswerTo('$8\r\nconsumed\r\n');
  const [answer] = await Promise.all([poll(site.two, asked), wasCut]);

  expect(answer.status).toBe(200);
  const phone = signedIn(laptop.user, cookieOf(answer), answer.body as SessionAnswer);
  expect((await phone.ask(site.one, { path: '/api/me' })).status).toBe(200);
  expectProblem(await poll(site.one, asked), 'login_consumed');
});

test('an account that was erased in the store leaves no transfers behind', async () => {
  const other = await site.signIn();
  await untilBeat(site.two, redis, site.prefix);
  expect((await other.ask(site.two, ERASE)).status).toBe(204);
  const laptop = await site.signIn();
  await site.signIn(laptop.user, { device_name: 'Phone' });
  const files = [{ name: 'private.txt', size: 3 }];
  await laptop.ask(site.one, { method: 'POST', path: '/api/transfer/init', body: { to: 'Phone', files } });
  await untilBeat(site.two, redis, site.prefix);
  // This is the only key that nothing else of this request touches.
  const wasCut = proxy.cutBeforeAnswerTo(`{${laptop.user}}:clipboard`);
  const [answer] = await Promise.all([laptop.ask(site.two, ERASE), wasCut]);

  expect(answer.status).toBe(204);
  expect(await keysUnder(redis, site.prefix, `:{${laptop.user}}:transfer:*`)).toEqual([]);
  expect(await keysHolding(redis, site.prefix, 'private.txt')).toEqual([]);
  const jobs = await redis.zrange(`${site.prefix}:{${laptop.user}}:due`, '0', '-1');
  expect(jobs.filter((job) => job.startsWith('transfer:'))).toEqual([]);
});
