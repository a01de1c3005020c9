import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Redis } from 'ioredis';
import type { SessionAnswer } from '../../shared/contract/modules/sessions.ts';
import { eventually } from '../broker/support/brokers.ts';
import { serviceOf } from '../broker/support/service.ts';
import { approval, ask, poll } from '../signin/parties.ts';
import { connectTo, keysUnder, sharedRedisUrl } from '../support/redis/redis.ts';
import { type SignedIn, type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { keysHolding } from '../support/redis/stored.ts';
import type { WireAnswer } from '../support/wire.ts';

/*
 * Everything that is kept of an account goes at its request, even files on their way and sessions that nobody has used.
 */

const MIB = 1024 * 1024;
const ERASE = { method: 'DELETE', path: '/api/me/data' };

let site: SignInSite;
let redis: Redis;
beforeAll(async () => {
  site = await startSignInSite();
  redis = connectTo(sharedRedisUrl());
});
afterAll(async () => {
  redis.disconnect();
  await site.stop();
});

const pair = async () => {
  const laptop = await site.signIn();
  return { laptop, phone: await site.signIn(laptop.user, { device_name: 'Phone' }) };
};

const offered = ({ body }: WireAnswer): string => (body as { transfer: { transfer_id: string } }).transfer.transfer_id;

const offer = async (laptop: SignedIn, name: string, size = 64 * MIB): Promise<string> =>
  offered(
    await laptop.ask(site.one, {
      ...{ method: 'POST', path: '/api/transfer/init' },
      body: { to: 'Phone', files: [{ name, size }] },
    }),
  );

/** Starts a sender in the middle of a file. */
async function startUpload({ cookie }: SignedIn, transferId: string): Promise<ClientRequest> {
  const { hostname, port } = new URL(site.two.url);
  const sent = httpRequest({
    ...{ agent: false, hostname, port, method: 'PATCH', path: `/api/relay/${transferId}/0/0` },
    headers: {
      ...{ Cookie: cookie, Origin: 'http://localhost:8080', 'Content-Type': 'application/partial-upload' },
      ...{ 'Upload-Offset': '0', 'Upload-Complete': '?1', 'Content-Length': String(64 * MIB) },
    },
  });
  sent.write(Buffer.alloc(MIB));
  await eventually('the first bytes are in the relay', async () =>
    (await redis.xlen(`${site.prefix}:relay:{${transferId}}:0:0`)) > 0 ? true : null,
  );
  return sent;
}

test('files on their way go from the relay, whoever sends them is stopped, and the other party is told', async () => {
  const { laptop, phone } = await pair();
  const stream = phone.listen(site.two);
  await stream.next('ready');
  const id = await offer(laptop, 'private-plan.bin');
  await laptop.ask(site.one, { method: 'POST', path: `/api/transfer/${id}/relay` });
  await phone.ask(site.two, { method: 'POST', path: `/api/transfer/${id}/accept` });
  const upload = await startUpload(laptop, id);
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>;
  const places = `${site.prefix}:{${laptop.user}}:relay`;
  expect(await redis.zcard(places)).toBe(1);

  expect((await phone.ask(site.one, ERASE)).status).toBe(204);
  expect(await redis.exists(places)).toBe(0);
  expect(await keysUnder(redis, site.prefix, `:relay:{${id}}*`)).toEqual([]);
  expect(await keysHolding(redis, site.prefix, 'private-plan')).toEqual([]);
  const { data } = await stream.next('transfer:updated', ({ data: { transfer } }) => transfer.state === 'CANCELLED');
  expect(data.transfer.error).toEqual({ code: 'erased', detail: null, by_device_id: null });
  // The upload stops without having sent more: its transfer is cancelled, and is gone a moment later.
  const [response] = await answered;
  expect([404, 409]).toContain(response.statusCode);
  // The bytes that it goes on sending have nowhere to go.
  upload.on('error', () => undefined).write(Buffer.alloc(MIB));
  response.resume();
  upload.destroy();
  await stream.stop();
  expect(await keysUnder(redis, site.prefix, `:relay:{${id}}*`)).toEqual([]);
});

test('what is made anew of an account that was erased, and that nobody uses again, does not stay for ever', async () => {
  const laptop = await site.signIn();
  const keyOf = (name: string): string => `${site.prefix}:{${laptop.user}}:${name}`;
  const stream = laptop.listen(site.one);
  await stream.next('ready');
  await stream.stop();
  expect((await laptop.ask(site.one, ERASE)).status).toBe(204);
  for (const name of ['presence', 'log']) expect(await redis.ttl(keyOf(name))).toBeGreaterThan(0);
});

test('who is signed in stays the kind of device that it is', async () => {
  const laptop = await site.signIn(undefined, { device_type: 'linux' });
  const phone = await site.signIn(laptop.user, { device_name: 'Phone', device_type: 'ios' });
  // Streams put their rows back too, without a type.
  const streams = [laptop.listen(site.two), phone.listen(site.one)];
  for (const stream of streams) await stream.next('ready');
  expect((await laptop.ask(site.one, ERASE)).status).toBe(204);
  const { body } = await laptop.ask(site.two, { path: '/api/devices' });
  const kinds = (body as { devices: { name: string; type: string }[] }).devices.map(({ name, type }) => [name, type]);
  expect(kinds.sort()).toEqual([
    ['Laptop', 'linux'],
    ['Phone', 'ios'],
  ]);
  for (const stream of streams) await stream.stop();
});

test('ended transfers go too, with what a replica that died left of them in the relay', async () => {
  const { laptop, phone } = await pair();
  const id = await offer(laptop, 'private-one.txt', 3);
  await phone.ask(site.two, { method: 'POST', path: `/api/transfer/${id}/fail` });
  await redis.hset(`${site.prefix}:{${laptop.user}}:transfer:${id}`, 'r0', '0:0');
  await redis.hset(`${site.prefix}:relay:{${id}}:0:state`, 'g', '0');
  await redis.xadd(`${site.prefix}:relay:{${id}}:0:0`, '3-0', 'd', 'abc');

  expect((await laptop.ask(site.two, ERASE)).status).toBe(204);
  expect(await keysUnder(redis, site.prefix, `:relay:{${id}}*`)).toEqual([]);
  expect(await keysHolding(redis, site.prefix, 'private-one')).toEqual([]);
});

test('a session by a code that nobody has used yet still ends when its two minutes are over', async () => {
  const laptop = await site.signIn();
  const asked = await ask(site.one);
  await laptop.ask(site.one, approval(asked));
  const { device } = (await poll(site.two, asked)).body as SessionAnswer;
  expect((await laptop.ask(site.one, ERASE)).status).toBe(204);

  // By the store's clock the two minutes are over.
  const due = `${site.prefix}:{${laptop.user}}:due`;
  expect(await redis.zadd(due, 'XX', 'CH', 1, `claim:${device?.device_id}`)).toBe(1);
  for (let shard = 0; shard < 16; shard++) await redis.zadd(`${site.prefix}:due:{${shard}}`, 'XX', 1, laptop.user);
  await eventually('its session is over', async () => {
    const sessions = await serviceOf(site.broker).list(laptop.user);
    return sessions.some(({ meta }) => meta === device?.device_id) ? null : true;
  });
});
