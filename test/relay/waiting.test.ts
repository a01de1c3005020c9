import { makeKeys } from '../../services/sync/redis/keys.ts';
import { LIMITS, RELAY_ACCOUNT_BYTES } from '../../shared/contract/limits.ts';
import type { Site } from '../support/site.ts';
import { acknowledge, active, append, head, openUpload, read, until } from './support/asking.ts';
import { type SiteWithRelayStore, startSiteWithRelayStore } from './support/own-store.ts';
import { type Relayed, relayFiles, someBytes } from './support/relayed.ts';

/* What requests cost that wait for the other side. Requests that only ask create nothing. */

let own: SiteWithRelayStore;
let site: Site;
let bytesOf: SiteWithRelayStore['bytes'];
const waiting = new Set<AbortController>();
beforeAll(async () => {
  own = await startSiteWithRelayStore({});
  ({ site, bytes: bytesOf } = own);
});
afterEach(async () => {
  for (const controller of waiting) controller.abort();
  waiting.clear();
  await until(async () => (await activeDown()) === 0);
  await site.closeStreams();
});
afterAll(async () => {
  await own.stop();
});

const keys = () => makeKeys(site.prefix);
const files = (count: number, size = 10) => relayFiles(site.one, { sizes: Array.from({ length: count }, () => size) });
const activeDown = async () => (await active(site.one, 'down')) + (await active(site.two, 'down'));
const accountOf = ({ user }: Relayed) => encodeURIComponent(user);

/** Returns the number of connections for bytes, including resting ones. */
const connections = async () =>
  String(await bytesOf.call('CLIENT', 'LIST'))
    .split('\n')
    .filter((line) => line.includes('name=baton:bulk')).length;

/** Returns the keys of the relay for this transfer. */
const keysOf = (relayed: Relayed) => bytesOf.keys(`*${relayed.id}*`);

/** Starts a download that nobody reads further. It ends with the test. */
async function ask(relayed: Relayed, replica: { url: string }, index = 0, range?: string) {
  const controller = new AbortController();
  waiting.add(controller);
  const headers = { ...relayed.receiver.headers, ...(range !== undefined && { Range: range }) };
  const answer = await fetch(relayed.url(replica, index), { headers, signal: controller.signal });
  return { answer, controller };
}

const isCut = ({ answer }: { answer: Response }) =>
  answer.arrayBuffer().then(
    () => false,
    () => true,
  );

describe('downloads that wait for a sender who has not begun', () => {
  test('cost the store of the relay nothing, and an account has only so many', async () => {
    const relayed = await files(150);
    const before = await connections();
    const asked = await Promise.all(
      Array.from({ length: 150 }, (_, index) => ask(relayed, index % 2 ? site.one : site.two, index)),
    );
    const statuses = asked.map(({ answer }) => answer.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMITS.relayReads);
    const refused = asked.filter(({ answer }) => answer.status !== 200).map(({ answer }) => answer);
    expect(refused.every((answer) => answer.status === 503 && answer.headers.get('retry-after') !== null)).toBe(true);
    expect(await refused[0]?.json()).toMatchObject({ code: 'relay_busy' });
    expect([await connections(), await keysOf(relayed)]).toEqual([before, []]);
    const record = await site.redis.hkeys(keys().transfer(accountOf(relayed), relayed.id));
    expect(record.filter((field) => /^r\d/.test(field))).toEqual([]);
    expect(await site.redis.ttl(keys().relayReads(accountOf(relayed)))).toBeGreaterThan(0);
  });

  test('give their places back when they leave', async () => {
    const relayed = await files(LIMITS.relayReads + 1);
    const asked = await Promise.all(Array.from({ length: LIMITS.relayReads }, (_, i) => ask(relayed, site.one, i)));
    expect((await ask(relayed, site.two, LIMITS.relayReads)).answer.status).toBe(503);
    asked[3]?.controller.abort();
    await until(async () => (await ask(relayed, site.two, LIMITS.relayReads)).answer.status === 200);
  });

  test('are ended by a newer one for the same file, which gets the bytes', async () => {
    const relayed = await files(1);
    const older = await ask(relayed, site.one);
    const newer = await ask(relayed, site.two);
    expect(await isCut(older)).toBe(true);
    await append(relayed, site.one, { offset: 0, body: Buffer.from('0123456789'), complete: true });
    expect(await newer.answer.text()).toBe('0123456789');
  });

  test('go on as soon as it begins, on whatever replica, also when they ask for a part', async () => {
    const relayed = await files(2, 1_000);
    const bytes = someBytes(1_000);
    const asked = [await ask(relayed, site.two, 0), await ask(relayed, site.one, 1, 'bytes=300-')];
    for (const index of [0, 1]) await append(relayed, site.one, { offset: 0, body: bytes, complete: true, index });
    const got = await Promise.all(asked.map(async ({ answer }) => Buffer.from(await answer.arrayBuffer())));
    expect([got[0]?.equals(bytes), got[1]?.equals(bytes.subarray(300))]).toEqual([true, true]);
  });

  test('end with their transfer', async () => {
    const relayed = await files(1);
    const asked = await ask(relayed, site.one);
    await relayed.sender.on(site.two).call('cancelTransfer', { params: { transfer_id: relayed.id }, body: {} });
    expect(await isCut(asked)).toBe(true);
  });
});

test('who waits for more of a file gives its connection back, and gets the rest when it comes', async () => {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => files(8, 20)));
  const each = accounts.flatMap((relayed) => Array.from({ length: 8 }, (_, index) => ({ relayed, index })));
  for (const { relayed, index } of each) await append(relayed, site.one, { offset: 0, body: someBytes(10), index });
  const asked = await Promise.all(each.map(({ relayed, index }) => ask(relayed, site.two, index)));
  const readers = asked.map(({ answer }) => answer.body?.getReader());
  const next = () => Promise.all(readers.map(async (reader) => (await reader?.read())?.value?.length));
  expect(new Set(await next())).toEqual(new Set([10]));
  // These are the resting connections, sixteen on each of two replicas.
  await until(async () => (await connections()) <= 32);
  expect(await active(site.two, 'down')).toBe(each.length);
  for (const { relayed, index } of each) await append(relayed, site.one, { offset: 10, body: someBytes(10), index });
  expect(new Set(await next())).toEqual(new Set([10]));
});

test('uploads of which nothing has come hold no connection to the store', async () => {
  const accounts = await Promise.all(Array.from({ length: 40 }, () => files(1)));
  const before = await connections();
  const uploads = accounts.map((relayed) => openUpload(relayed, site.one, 0));
  await until(async () => (await active(site.one, 'up')) === uploads.length);
  expect(await connections()).toBeLessThanOrEqual(before);
  for (const upload of uploads) upload.send(someBytes(10));
  for (const upload of uploads) upload.end();
  for (const upload of uploads) expect(await upload.answer).toMatchObject({ status: 204 });
});

describe('nothing is made', () => {
  test('by asking how far uploads are that have not begun', async () => {
    const relayed = await files(100);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => head(relayed, site.two, 0, index)));
    expect(new Set(answers.map(({ status, headers }) => `${status} ${headers['upload-offset']}`))).toEqual(
      new Set(['204 0']),
    );
    expect((await head(relayed, site.one, 1, 0)).status).toBe(410);
    expect(await keysOf(relayed)).toEqual([]);
  });

  test('by uploads that cannot begin, nor for files without bytes', async () => {
    const relayed = await relayFiles(site.one, { sizes: [10, 0] });
    expect((await append(relayed, site.one, { offset: 5, body: someBytes(5) })).status).toBe(409);
    expect((await append(relayed, site.one, { offset: 0, body: someBytes(10), generation: 1 })).status).toBe(410);
    const empty = { offset: 0, body: Buffer.alloc(0), complete: true, index: 1 };
    expect((await append(relayed, site.one, empty)).status).toBe(204);
    expect((await read(relayed, site.two, undefined, 1)).bytes).toHaveLength(0);
    expect(await keysOf(relayed)).toEqual([]);
  });

  test('for a transfer that ends while its upload begins', async () => {
    const relayed = await files(1);
    // Scripts of the relay's store wait until the pause is over.
    await bytesOf.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const upload = openUpload(relayed, site.one, 0);
    upload.send(someBytes(5));
    await until(async () => (await site.redis.zcard(keys().relayFiles(accountOf(relayed)))) === 1);
    await relayed.sender.on(site.two).call('cancelTransfer', { params: { transfer_id: relayed.id }, body: {} });
    await bytesOf.call('CLIENT', 'UNPAUSE');
    const answer = await upload.answer;
    expect([answer?.status, JSON.parse(answer?.body ?? '{}')]).toEqual([
      409,
      expect.objectContaining({ code: 'invalid_transition', state: 'CANCELLED' }),
    ]);
    await until(async () => (await keysOf(relayed)).length === 0);
  });
});

describe('what an account has in the relay', () => {
  test('is not kept alive by asking how far it is, or by acknowledging', async () => {
    const relayed = await files(1, 1_000);
    await append(relayed, site.one, { offset: 0, body: someBytes(1_000), complete: true });
    const [stream, state] = [keys().relayBytes(relayed.id, 0, 0), keys().relayState(relayed.id, 0)];
    for (const key of [stream, state]) await bytesOf.pexpire(key, 1_000_000);
    await head(relayed, site.one);
    await acknowledge(relayed, site.two, 10);
    await append(relayed, site.one, { offset: 1_000, body: Buffer.alloc(0), complete: true });
    for (const key of [stream, state]) expect(await bytesOf.pttl(key)).toBeLessThanOrEqual(1_000_000);
  });

  // Proves G30.
  test('is of delivered files only the newest ones', async () => {
    const count = LIMITS.relayKeptFiles + 4;
    const relayed = await files(count, 1_000);
    for (let index = 0; index < count; index++) {
      await append(relayed, site.one, { offset: 0, body: someBytes(1_000), complete: true, index });
      await read(relayed, site.two, undefined, index);
      await until(async () => (await site.redis.zcard(keys().relayFiles(accountOf(relayed)))) === 0);
    }
    await until(async () => (await keysOf(relayed)).length === 2 * LIMITS.relayKeptFiles);
    expect((await read(relayed, site.two, undefined, count - 1)).bytes).toHaveLength(1_000);
    expect((await head(relayed, site.one)).headers['upload-complete']).toBe('?1');
    // The relay asks the sender of the first file for it again.
    const events = site.listen(relayed.sender, site.one);
    await events.next('ready');
    const again = ask(relayed, site.two, 0).catch(() => undefined);
    expect((await events.next('relay:rewind')).data).toMatchObject({ index: 0, offset: 0 });
    for (const controller of waiting) controller.abort();
    await again;
  });

  // Proves G31.
  test('is bounded however many files its receiver takes', async () => {
    const count = 30;
    const size = LIMITS.relayWindowBytes;
    const relayed = await files(count, size);
    const bytes = someBytes(size);
    for (let index = 0; index < count; index++) {
      const sent = async () => (await append(relayed, site.one, { offset: 0, body: bytes, index })).status === 204;
      await until(sent);
      expect((await read(relayed, site.two, undefined, index)).bytes.equals(bytes)).toBe(true);
    }
    await until(async () => (await site.redis.zcard(keys().relayFiles(accountOf(relayed)))) === 0);
    const usage = (key: string) => bytesOf.call('MEMORY', 'USAGE', key, 'SAMPLES', '0');
    const used = async () => (await Promise.all((await keysOf(relayed)).map(usage))).map(Number);
    await until(async () => (await used()).reduce((sum, each) => sum + each, 0) < RELAY_ACCOUNT_BYTES);
  });
});
