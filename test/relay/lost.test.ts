import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeKeys } from '../../services/sync/redis/keys.ts';
import type { Site } from '../support/site.ts';
import { endTimeOf } from '../transfers/expiry.ts';
import { acknowledge, active, append, head, offsetOf, openUpload, pathOf, read, until } from './support/asking.ts';
import { curlDown, sha256 } from './support/curl.ts';
import { type SiteWithRelayStore, startSiteWithRelayStore } from './support/own-store.ts';
import { makeFolder, MIB, type Relayed, relayFiles, someBytes, writeFile } from './support/relayed.ts';
import { keepSending, sizeOf } from './support/resuming.ts';

/* What survives when the relay's own store forgets everything. A test decides when that happens. */

let own: SiteWithRelayStore;
let site: Site;
let bytesOf: SiteWithRelayStore['bytes'];
const folder = makeFolder();
beforeAll(async () => {
  own = await startSiteWithRelayStore({ APP_RELAY_STALL_SECONDS: '5' });
  ({ site, bytes: bytesOf } = own);
});
afterEach(() => site.closeStreams());
afterAll(async () => {
  await own.stop();
  folder.remove();
});

const forget = () => bytesOf.flushall();

const uploadOf = async (relayed: Relayed) => {
  const { body } = await relayed.sender.on(site.two).call('getTransfer', { params: { transfer_id: relayed.id } });
  return body.transfer.uploads?.[0];
};

/** Returns the files of the account that have a place. */
const placesOf = (relayed: Relayed) =>
  site.redis.zrange(makeKeys(site.prefix).relayFiles(encodeURIComponent(relayed.user)), 0, '+inf', 'BYSCORE');

const untilRead = () => until(async () => (await active(site.two, 'down')) === 0);

describe('a file that its receiver has', () => {
  const ways = {
    'because it read all of it': async (relayed: Relayed) => void (await read(relayed, site.two)),
    'because it read it in pieces': async (relayed: Relayed) => {
      await read(relayed, site.two, 'bytes=0-499');
      await read(relayed, site.two, 'bytes=400-');
    },
    'because it says so': async (relayed: Relayed) => void (await acknowledge(relayed, site.two, 1_000)),
  };

  test.each(Object.entries(ways))('stays delivered when the relay has forgotten it, %s', async (_, receive) => {
    const relayed = await relayFiles(site.one, { sizes: [1_000] });
    await append(relayed, site.one, { offset: 0, body: someBytes(1_000), complete: true });
    await receive(relayed);
    await untilRead();
    await until(async () => (await placesOf(relayed)).length === 0);
    await forget();
    expect(await uploadOf(relayed)).toEqual({ index: 0, upload_url: pathOf(relayed), offset: 1_000 });
    expect(offsetOf(await head(relayed, site.one))).toMatchObject({ offset: '1000', complete: '?1' });
    const again = await append(relayed, site.one, { offset: 1_000, body: Buffer.alloc(0), complete: true });
    expect([again.status, again.headers['upload-complete']]).toEqual([204, '?1']);
    expect(await uploadOf(relayed)).toMatchObject({ upload_url: pathOf(relayed) });
  });

  test('is sent again when the receiver asks for it again', async () => {
    const bytes = someBytes(1_000);
    const relayed = await relayFiles(site.one, { sizes: [1_000] });
    await append(relayed, site.one, { offset: 0, body: bytes, complete: true });
    await read(relayed, site.two);
    await forget();
    const reading = read(relayed, site.two, 'bytes=300-');
    await until(async () => (await uploadOf(relayed))?.offset === 300);
    await append(relayed, site.one, { offset: 300, body: bytes.subarray(300), complete: true, generation: 1 });
    expect((await reading).bytes.equals(bytes.subarray(300))).toBe(true);
  });
});

test('whoever asks for the end of a waiting file alone has not fetched it: it keeps its place and its time', async () => {
  const bytes = someBytes(1_000);
  const relayed = await relayFiles(site.one, { sizes: [1_000] });
  await append(relayed, site.one, { offset: 0, body: bytes, complete: true });
  expect((await read(relayed, site.two, 'bytes=-1')).bytes.equals(bytes.subarray(999))).toBe(true);
  await untilRead();
  expect(await placesOf(relayed)).toHaveLength(1);
  expect(await bytesOf.ttl(makeKeys(site.prefix).relayBytes(relayed.id, 0, 0))).toBeGreaterThan(3_000);
  expect((await read(relayed, site.two)).bytes.equals(bytes)).toBe(true);
  await until(async () => (await placesOf(relayed)).length === 0);
});

describe('when the relay forgets a file', () => {
  test('a receiver that waits for more goes on, also when its sender asks first', async () => {
    const size = 20 * MIB;
    const file = writeFile(folder.path, 'waits', size);
    const relayed = await relayFiles(site.one, { sizes: [size] });
    const first = readFileSync(file.path).subarray(0, 6 * MIB);
    await append(relayed, site.one, { offset: 0, body: first });
    const to = join(folder.path, 'waits.out');
    // Otherwise curl would keep the last bytes to itself until more come.
    const down = curlDown(relayed.url(site.two), relayed.receiver.headers, to, ['--no-buffer']);
    await until(async () => sizeOf(to) === 6 * MIB);
    await forget();
    expect((await head(relayed, site.one)).status).toBe(410);
    await until(async () => (await uploadOf(relayed))?.offset === 6 * MIB);
    const side = { device: relayed.sender, transferId: relayed.id, replica: () => site.one, path: file.path, size };
    const up = keepSending(side);
    expect(await down.done).toEqual({ code: 0, out: '' });
    up.stop();
    await up.done;
    expect(await sha256(to)).toBe(file.sha);
  });

  test('a receiver waits half a minute for a sender who does not come, and one that asks again no less', async () => {
    const bytes = someBytes(1_000);
    const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
    await append(relayed, site.one, { offset: 0, body: bytes.subarray(0, 500) });
    const events = site.listen(relayed.sender, site.two);
    await events.next('ready');
    await forget();
    // The connection breaks when the next request comes.
    const first = read(relayed, site.two).catch(() => undefined);
    expect((await events.next('relay:rewind')).data).toMatchObject({ upload_url: pathOf(relayed, 0, 1), offset: 0 });
    const again = await read(relayed, site.one);
    expect([again.answer.status, again.answer.headers.get('retry-after'), again.bytes.toString()]).toEqual([
      ...[503, '5'],
      expect.stringContaining('range_not_available'),
    ]);
    await first;
    const reading = read(relayed, site.two);
    await append(relayed, site.one, { offset: 0, body: bytes, complete: true, generation: 1 });
    expect((await reading).bytes.equals(bytes)).toBe(true);
  });

  test('a receiver that asks again and again for what it waits for is one event for its sender', async () => {
    const relayed = await relayFiles(site.one, { sizes: [1_000] });
    await append(relayed, site.one, { offset: 0, body: someBytes(500) });
    const events = site.listen(relayed.sender, site.two);
    await events.next('ready');
    await forget();
    const { headers } = relayed.receiver;
    const leaving = new AbortController();
    const readers: string[] = [];
    /** Starts a request, and resolves once it reads the file. */
    const ask = async (replica: { url: string }) => {
      fetch(relayed.url(replica), { headers, signal: leaving.signal }).catch(() => undefined);
      await until(async () => {
        const reader = await bytesOf.hget(makeKeys(site.prefix).relayState(relayed.id, 0), 'r');
        const isNew = reader !== null && !readers.includes(reader);
        if (isNew) readers.push(reader);
        return isNew;
      });
    };
    await ask(site.two);
    expect((await events.next('relay:rewind')).data).toMatchObject({ upload_url: pathOf(relayed, 0, 1), offset: 0 });
    for (let i = 0; i < 20; i++) {
      await ask(i % 2 === 0 ? site.one : site.two);
    }
    const account = encodeURIComponent(relayed.user);
    const log = await site.redis.xrange(makeKeys(site.prefix).log(account), '-', '+');
    expect(log.filter(([, fields]) => fields.includes('relay:rewind'))).toHaveLength(1);
    leaving.abort();
  });

  test('a sender that began anew at the start is told where its receiver is', async () => {
    const size = 20 * MIB;
    const relayed = await relayFiles(site.one, { sizes: [size] });
    await append(relayed, site.one, { offset: 0, body: someBytes(MIB) });
    const events = site.listen(relayed.sender, site.two);
    await events.next('ready');
    await forget();
    expect((await head(relayed, site.one)).status).toBe(410);
    expect((await events.next('relay:rewind')).data).toMatchObject({ upload_url: pathOf(relayed, 0, 1), offset: 0 });
    expect((await append(relayed, site.one, { offset: 0, body: someBytes(MIB), generation: 1 })).status).toBe(204);
    const controller = new AbortController();
    const headers = { ...relayed.receiver.headers, Range: `bytes=${14 * MIB}-` };
    const reading = fetch(relayed.url(site.two), { headers, signal: controller.signal }).catch(() => undefined);
    expect((await events.next('relay:rewind')).data).toMatchObject({
      ...{ upload_url: pathOf(relayed, 0, 2), offset: 14 * MIB },
    });
    controller.abort();
    await reading;
  });

  test('a sender whose window ends before its receiver is told where that is', async () => {
    const size = 20 * MIB;
    const bytes = someBytes(size);
    const relayed = await relayFiles(site.one, { sizes: [size] });
    await append(relayed, site.one, { offset: 0, body: bytes.subarray(0, MIB) });
    const reading = read(relayed, site.two, `bytes=${14 * MIB}-`);
    await until(async () => (await active(site.two, 'down')) === 1);
    const events = site.listen(relayed.sender, site.one);
    await events.next('ready');
    // The receiver's replica stands still while the sender goes on.
    site.two.process.kill('SIGSTOP');
    await forget();
    expect((await head(relayed, site.one)).status).toBe(410);
    expect((await events.next('relay:rewind')).data).toMatchObject({ offset: 0 });
    const answer = await append(relayed, site.one, { offset: 0, body: bytes.subarray(0, 7 * MIB), generation: 1 });
    site.two.process.kill('SIGCONT');
    expect(answer.status).toBe(204);
    expect((await events.next('relay:rewind')).data).toMatchObject({ offset: 14 * MIB });
    const rest = bytes.subarray(14 * MIB);
    await append(relayed, site.one, { offset: 14 * MIB, body: rest, complete: true, generation: 2 });
    expect((await reading).bytes.equals(rest)).toBe(true);
  });
});

// Proves G19.
test('a complete upload of which the store lost the end is asked for again, although its sender has left', async () => {
  const bytes = someBytes(3 * MIB);
  const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
  await append(relayed, site.one, { offset: 0, body: bytes, complete: true });
  // This is the state after a failover that lost the last chunks.
  const keys = makeKeys(site.prefix);
  const [stream, state] = [keys.relayBytes(relayed.id, 0, 0), keys.relayState(relayed.id, 0)];
  const chunks = await bytesOf.xrangeBuffer(stream, '-', '+', 'COUNT', 3);
  await bytesOf.del(stream);
  for (const [id, [field, value]] of chunks as [Buffer, [Buffer, Buffer]][])
    await bytesOf.xadd(stream, id, field, value);
  const end = Number.parseInt(String(chunks.at(-1)?.[0]), 10);
  await bytesOf.hset(state, 'end', end);
  const events = site.listen(relayed.sender, site.one);
  await events.next('ready');
  const reading = read(relayed, site.two);
  expect((await events.next('relay:rewind')).data).toMatchObject({ upload_url: pathOf(relayed), offset: end });
  await append(relayed, site.one, { offset: end, body: bytes.subarray(end), complete: true });
  expect((await reading).bytes.equals(bytes)).toBe(true);
});

describe('a request of a transfer that is over', () => {
  const isCut = async (relayed: Relayed) => {
    const answer = await fetch(relayed.url(site.two), { headers: relayed.receiver.headers });
    return answer.arrayBuffer().then(
      () => false,
      () => true,
    );
  };
  const send = (command: string, ...args: [string, ...(string | number)[]]) => site.redis.call(command, ...args);

  test('ends with it when its time is over, and leaves nothing', async () => {
    const relayed = await relayFiles(site.one, { sizes: [1_000] });
    await append(relayed, site.one, { offset: 0, body: someBytes(500) });
    const cut = isCut(relayed);
    await until(async () => (await active(site.two, 'down')) === 1);
    await endTimeOf(relayed.id, relayed.user, site.prefix, send);
    expect(await cut).toBe(true);
    expect(await bytesOf.keys(`*${relayed.id}*`)).toEqual([]);
    expect(await placesOf(relayed)).toEqual([]);
  });

  test('ends also when nobody told it', async () => {
    const relayed = await relayFiles(site.one, { sizes: [1_000 * MIB] });
    const cut = isCut(relayed);
    await until(async () => (await active(site.two, 'down')) === 1);
    const upload = openUpload(relayed, site.one, 0);
    // Neither side is slow.
    const bytes = someBytes(MIB / 8);
    const sending = setInterval(() => upload.send(bytes), 200);
    await until(async () => (await active(site.one, 'up')) === 1);
    await site.redis.del(makeKeys(site.prefix).transfer(encodeURIComponent(relayed.user), relayed.id));
    expect([await cut, (await upload.answer)?.status]).toEqual([true, 404]);
    clearInterval(sending);
  });

  test('gives back its places although the bytes cannot be dropped now', async () => {
    const relayed = await relayFiles(site.one, { sizes: [1_000] });
    await append(relayed, site.one, { offset: 0, body: someBytes(500) });
    expect(await placesOf(relayed)).toHaveLength(1);
    await own.store.kill();
    await relayed.sender.on(site.one).call('cancelTransfer', { params: { transfer_id: relayed.id }, body: {} });
    await until(async () => (await placesOf(relayed)).length === 0);
    await own.store.start();
  });
});
