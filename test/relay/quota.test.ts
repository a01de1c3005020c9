import { makeKeys } from '../../services/sync/redis/keys.ts';
import type { Site } from '../support/site.ts';
import { expectProblem } from '../support/wire.ts';
import { append, head, openUpload, read, until, untilSent } from './support/asking.ts';
import { type SiteWithRelayStore, startSiteWithRelayStore } from './support/own-store.ts';
import { MIB, type Relayed, relayFiles, someBytes } from './support/relayed.ts';

/* At most eight files of an account hold bytes in the relay, and new ones only start while its store has memory. */

let own: SiteWithRelayStore;
let site: Site;
let bytesOf: SiteWithRelayStore['bytes'];
beforeAll(async () => {
  own = await startSiteWithRelayStore({ APP_TRANSFER_REDELIVERY_SECONDS: '20' });
  ({ site, bytes: bytesOf } = own);
});
afterAll(async () => {
  await own.stop();
});

const TEN = someBytes(10);

const files = (count: number, size = 10) => relayFiles(site.one, { sizes: Array.from({ length: count }, () => size) });

/** Returns the file and the time when its place is free again. */
const placesOf = async (relayed: Relayed) =>
  site.redis.zrange(makeKeys(site.prefix).relayFiles(encodeURIComponent(relayed.user)), '0', '-1', 'WITHSCORES');

test('empty files take no place of those that have bytes', async () => {
  const relayed = await relayFiles(site.one, { sizes: [...Array.from({ length: 9 }, () => 0), 10] });
  const empty = { offset: 0, body: Buffer.alloc(0), complete: true };
  for (let index = 0; index < 9; index++)
    expect((await append(relayed, site.one, { ...empty, index })).status).toBe(204);
  expect((await append(relayed, site.two, { offset: 0, body: TEN, index: 9 })).status).toBe(204);
});

test('uploads that are refused, and those that bring nothing more, take no place', async () => {
  const relayed = await files(9);
  for (let index = 0; index < 8; index++) {
    expect((await append(relayed, site.one, { offset: 5, body: someBytes(5), index })).status).toBe(409);
  }
  expect((await append(relayed, site.one, { offset: 0, body: TEN, index: 8 })).status).toBe(204);
  await read(relayed, site.two, undefined, 8);
  await until(async () => (await placesOf(relayed)).length === 0);
  expect((await append(relayed, site.one, { offset: 10, body: Buffer.alloc(0), index: 8 })).status).toBe(204);
  expect(await placesOf(relayed)).toEqual([]);
});

test('an upload keeps its place for as long as it goes on', async () => {
  const relayed = await files(1, 1_000);
  const upload = openUpload(relayed, site.one, 0);
  upload.send(TEN);
  await untilSent(relayed, site.two, 10);
  const [, first] = await placesOf(relayed);
  await until(async () => Number((await placesOf(relayed))[1]) > Number(first));
  upload.end();
  expect(await upload.answer).toMatchObject({ status: 204 });
});

describe('above the memory mark', () => {
  /** Sets the store's limit so low that nine tenths of it are in use. The replicas look again every second. */
  const fill = async () => {
    await bytesOf.setrange('something else', 64 * MIB - 1, 'x');
    const used = Number(/used_memory:(\d+)/.exec(await bytesOf.info('memory'))?.[1]);
    await bytesOf.config('SET', 'maxmemory', String(Math.ceil(used / 0.9)));
  };
  afterEach(async () => {
    await bytesOf.config('SET', 'maxmemory', '0');
    await bytesOf.del('something else');
  });

  /** Begins a file without sending bytes. Repeats that if it got a place by an earlier reading of the memory. */
  async function beginUntilRefused(relayed: Relayed, index: number) {
    const key = makeKeys(site.prefix).relayFiles(encodeURIComponent(relayed.user));
    for (;;) {
      const answer = await append(relayed, site.one, { offset: 0, body: Buffer.alloc(0), index });
      if (answer.status !== 204) return answer;
      await site.redis.zrem(key, `${relayed.id}/${index}`);
    }
  }

  const looks = {
    'that nobody has asked about': async () => undefined,
    'whose sender has asked how far it is': async (relayed: Relayed) => void (await head(relayed, site.one)),
    'whose receiver waits for it': async (relayed: Relayed) => {
      const controller = new AbortController();
      await fetch(relayed.url(site.two), { headers: relayed.receiver.headers, signal: controller.signal });
      controller.abort();
    },
  };

  test.each(Object.entries(looks))('no upload of a file begins %s', async (_, look) => {
    const relayed = await files(1);
    await look(relayed);
    await fill();
    const answer = await beginUntilRefused(relayed, 0);
    expectProblem(answer, 'relay_busy');
    expect(await placesOf(relayed)).toEqual([]);
  });

  test('an upload that has begun goes on', async () => {
    const relayed = await files(2);
    // The reading from another test may still be in force.
    await until(async () => (await append(relayed, site.one, { offset: 0, body: someBytes(5) })).status === 204);
    await fill();
    await beginUntilRefused(relayed, 1);
    expect((await append(relayed, site.one, { offset: 5, body: someBytes(5) })).status).toBe(204);
  });
});
