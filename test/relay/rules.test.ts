import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { makeDevice, randomUser } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';
import { acknowledge, append, head, offsetOf, openUpload, pathOf, read, untilSent } from './support/asking.ts';
import { curlDown, curlUp, sha256 } from './support/curl.ts';
import { makeFolder, MIB, type Relayed, relayFiles, someBytes, writeFile } from './support/relayed.ts';

/** How long a request waits in vain before it ends: long enough for a test to do something meanwhile. */
const STALL_SECONDS = 8;

/** An upload that does not advance in this time has no room. It is a small part of the stall time. */
const STANDS_STILL_MS = 300;

let site: Site;
const folder = makeFolder();
beforeAll(async () => {
  site = await startSite({ APP_RELAY_STALL_SECONDS: String(STALL_SECONDS) });
});
afterEach(() => site.closeStreams());
afterAll(async () => {
  await site.stop();
  folder.remove();
});

const bytesFrom = (path: string, offset: number): Buffer => readFileSync(path).subarray(offset);

/** Expects a mismatch, which has fields of its own in addition to those of every problem. */
function expectMismatch(answer: WireAnswer, expected: number, provided: number): void {
  expect(answer.status).toBe(409);
  expect(answer.body).toMatchObject({
    type: 'https://iana.org/assignments/http-problem-types#mismatching-upload-offset',
    code: 'offset_mismatch',
    'expected-offset': expected,
    'provided-offset': provided,
  });
  expect(answer.headers['upload-offset']).toBe(String(expected));
}

describe('an upload', () => {
  test('goes in pieces over both replicas, and HEAD tells how far it is', async () => {
    const bytes = someBytes(3 * MIB);
    const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
    expect(offsetOf(await head(relayed, site.two))).toEqual({ offset: '0', complete: '?0', length: '3145728' });
    const first = await append(relayed, site.one, { offset: 0, body: bytes.subarray(0, MIB) });
    expect([first.status, first.headers['upload-offset'], first.text]).toEqual([204, '1048576', '']);
    expect(first.headers['upload-draft-interop-version']).toBe('8');
    const rest = await append(relayed, site.two, { offset: MIB, body: bytes.subarray(MIB), complete: true });
    expect([rest.status, rest.headers['upload-complete']]).toEqual([204, '?1']);
    expect(offsetOf(await head(relayed, site.one))).toMatchObject({ offset: '3145728', complete: '?1' });
    expect((await read(relayed, site.one)).bytes.equals(bytes)).toBe(true);
  });

  test('in thousands of small parts among large ones arrives as it was sent', async () => {
    const sizes = [...Array<number>(3_000).fill(1), 70_000, 8_191, 8_192, ...Array<number>(100).fill(700), 300_000, 1];
    const bytes = someBytes(sizes.reduce((sum, size) => sum + size));
    const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
    const upload = openUpload(relayed, site.one, 0);
    let at = 0;
    for (const size of sizes) {
      upload.send(bytes.subarray(at, at + size));
      at += size;
    }
    upload.end();
    expect(await upload.answer).toMatchObject({ status: 204 });
    expect((await read(relayed, site.two)).bytes.equals(bytes)).toBe(true);
  });

  test('is told where to go on when it comes with another offset', async () => {
    const bytes = someBytes(1_000);
    const relayed = await relayFiles(site.one, { sizes: [2_000] });
    await append(relayed, site.one, { offset: 0, body: bytes });
    expectMismatch(await append(relayed, site.two, { offset: 0, body: bytes }), 1_000, 0);
    expectMismatch(await append(relayed, site.two, { offset: 1_500, body: bytes.subarray(0, 10) }), 1_000, 1_500);
  });

  test('is told so too where its offset makes it too long, or too short; and that it is late where it is', async () => {
    const relayed = await relayFiles(site.one, { sizes: [2_000] });
    expectMismatch(await append(relayed, site.two, { offset: 1_500, body: someBytes(1_000) }), 0, 1_500);
    await append(relayed, site.one, { offset: 0, body: someBytes(1_000) });
    const tooLong = await append(relayed, site.two, { offset: 1_500, body: someBytes(1_000) });
    expectMismatch(tooLong, 1_000, 1_500);
    expect(tooLong.headers).toMatchObject({ 'upload-offset': '1000', 'upload-draft-interop-version': '8' });
    const tooShort = { offset: 500, body: someBytes(1_000), complete: true };
    expectMismatch(await append(relayed, site.two, tooShort), 1_000, 500);
    expectProblem(await append(relayed, site.two, { ...tooShort, generation: 1 }), 'upload_gone');
  });

  test('of more bytes than were declared is refused, with and without a length', async () => {
    const relayed = await relayFiles(site.one, { sizes: [1_000] });
    expectProblem(await append(relayed, site.one, { offset: 0, body: someBytes(1_001) }), 'upload_length_mismatch');
    const chunked = await request(site.one, {
      method: 'PATCH',
      path: pathOf(relayed),
      headers: {
        ...relayed.sender.headers,
        'Content-Type': 'application/partial-upload',
        'Upload-Offset': '0',
      },
      body: someBytes(1_500),
      chunked: true,
    });
    expectProblem(chunked, 'upload_length_mismatch');
  });

  test('that says it is complete with fewer bytes is refused', async () => {
    const relayed = await relayFiles(site.one, { sizes: [1_000] });
    const answer = await append(relayed, site.one, { offset: 0, body: someBytes(999), complete: true });
    expectProblem(answer, 'upload_length_mismatch');
  });

  test.each([
    ['without an offset', { 'Upload-Offset': '' }, 'invalid_request'],
    ['with an offset that is no number', { 'Upload-Offset': '-1' }, 'invalid_request'],
    ['with a completeness that is none', { 'Upload-Complete': 'yes' }, 'invalid_request'],
    ['as another type', { 'Content-Type': 'application/octet-stream' }, 'unsupported_media_type'],
    ['compressed', { 'Content-Encoding': 'gzip' }, 'unsupported_media_type'],
    ['of another version of the draft', { 'Upload-Draft-Interop-Version': '3' }, 'invalid_request'],
  ] as const)('%s is refused', async (_, headers, code) => {
    const relayed = await relayFiles(site.one, { sizes: [10] });
    const answer = await append(relayed, site.one, { offset: 0, body: someBytes(10), headers: { ...headers } });
    expect(answer.body).toMatchObject({ code });
  });

  test('of nothing is complete at once', async () => {
    const relayed = await relayFiles(site.one, { sizes: [0] });
    expect((await append(relayed, site.one, { offset: 0, body: Buffer.alloc(0), complete: true })).status).toBe(204);
    const { answer, bytes } = await read(relayed, site.two);
    expect([answer.status, bytes.length]).toEqual([200, 0]);
  });

  test('is read from no further than the window, and told so when nobody makes room', async () => {
    const relayed = await relayFiles(site.one, { sizes: [40 * MIB] });
    const file = writeFile(folder.path, 'window', 40 * MIB);
    const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
    const { out } = await up.done;
    expect(out).toContain('window_full');
    const { offset } = offsetOf(await head(relayed, site.two));
    expect(Number(offset)).toBeLessThanOrEqual(8 * MIB);
    expect(Number(offset)).toBeGreaterThan(7 * MIB);
  });

  test('ends an older one of the same file on another replica, and the file still arrives whole', async () => {
    const size = 30 * MIB;
    const file = writeFile(folder.path, 'two', size);
    const relayed = await relayFiles(site.one, { sizes: [size] });
    const older = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
    let [before, at] = [-1, 0];
    // The window is full when it has no room for another chunk. The offset then stays the same.
    while (at < 7.5 * MIB || at !== before) {
      await new Promise((resolve) => setTimeout(resolve, STANDS_STILL_MS));
      [before, at] = [at, Number(offsetOf(await head(relayed, site.two)).offset)];
    }
    const newer = curlUp(relayed.url(site.two), relayed.sender.headers, '-', { offset: at });
    newer.process.stdin?.end(bytesFrom(file.path, at));
    expect((await older.done).out).toContain('offset_mismatch');
    const to = join(folder.path, 'two.out');
    expect(await curlDown(relayed.url(site.one), relayed.receiver.headers, to).done).toEqual({ code: 0, out: '' });
    expect((await newer.done).out).toBe('204');
    expect(await sha256(to)).toBe(file.sha);
  });
});

describe('a download', () => {
  test('has what a browser needs to take it for a file and nothing else', async () => {
    const names = ['folder/ta"g und Übung.html'];
    const relayed = await relayFiles(site.one, { sizes: [4], names });
    await append(relayed, site.one, { offset: 0, body: Buffer.from('abcd'), complete: true });
    const { answer } = await read(relayed, site.two);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '4',
      'content-disposition': `attachment; filename="ta_g und _bung.html"; filename*=UTF-8''ta%22g%20und%20%C3%9Cbung.html`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    });
  });

  test('of a range has that range, also twice', async () => {
    const bytes = someBytes(MIB);
    const relayed = await relayFiles(site.one, { sizes: [MIB] });
    await append(relayed, site.one, { offset: 0, body: bytes, complete: true });
    for (const start of [0, 1, 300_000, MIB - 1, 5]) {
      const { answer, bytes: got } = await read(relayed, site.two, `bytes=${start}-`);
      expect(answer.status).toBe(206);
      expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${MIB - 1}/${MIB}`);
      expect(got.equals(bytes.subarray(start))).toBe(true);
    }
    const { bytes: some } = await read(relayed, site.two, 'bytes=10-19');
    expect(some.equals(bytes.subarray(10, 20))).toBe(true);
    // The bytes behind a range are not missed, so the sender does not send them again.
    expect(offsetOf(await head(relayed, site.one))).toMatchObject({ offset: String(MIB), complete: '?1' });
    const { bytes: all } = await read(relayed, site.two);
    expect(all.equals(bytes)).toBe(true);
  });

  test('that begins in the same moment as its upload does not send it away', async () => {
    const sizes = Array.from({ length: 8 }, () => 1_000);
    for (let round = 0; round < 5; round++) {
      const relayed = await relayFiles(site.one, { sizes });
      const answers = sizes.map(async (size, index) => {
        const reading = read(relayed, site.two, undefined, index);
        const sent = await append(relayed, site.one, { offset: 0, body: someBytes(size), index });
        return [sent.status, (await reading).bytes.length];
      });
      expect(await Promise.all(answers)).toEqual(sizes.map((size) => [204, size]));
    }
  });

  test('from the end or behind it is refused', async () => {
    const relayed = await relayFiles(site.one, { sizes: [100] });
    for (const range of ['bytes=100-', 'bytes=1000-', 'bytes=12345678901234567890-']) {
      const answer = await request(site.two, {
        path: pathOf(relayed),
        headers: { ...relayed.receiver.headers, Range: range },
      });
      expectProblem(answer, 'range_not_available');
    }
  });

  test('may begin before its sender, while the transfer is pending too', async () => {
    const bytes = someBytes(2 * MIB);
    const relayed = await relayFiles(site.one, { sizes: [bytes.length], accept: false });
    const reading = read(relayed, site.two);
    await append(relayed, site.one, { offset: 0, body: bytes, complete: true });
    expect((await reading).bytes.equals(bytes)).toBe(true);
  });

  test('gets a file that waited for it without its sender', async () => {
    const bytes = someBytes(8 * MIB);
    const relayed = await relayFiles(site.one, { sizes: [bytes.length], accept: false });
    expect((await append(relayed, site.one, { offset: 0, body: bytes, complete: true })).status).toBe(204);
    await relayed.receiver.on(site.two).call('acceptTransfer', { params: { transfer_id: relayed.id } });
    expect((await read(relayed, site.two)).bytes.equals(bytes)).toBe(true);
  });

  test('of what is not kept any more sends the sender back, who is told where to go on', async () => {
    const size = 24 * MIB;
    const file = writeFile(folder.path, 'rewind', size);
    const relayed = await relayFiles(site.one, { sizes: [size] });
    const events = site.listen(relayed.sender, site.two);
    await events.next('ready');
    const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
    const to = join(folder.path, 'rewind.out');
    expect((await curlDown(relayed.url(site.two), relayed.receiver.headers, to).done).code).toBe(0);
    await up.done;
    const again = join(folder.path, 'rewind.again');
    writeFileSync(again, bytesFrom(file.path, 0).subarray(0, 5 * MIB));
    const down = curlDown(relayed.url(site.two), relayed.receiver.headers, again);
    const { data } = await events.next('relay:rewind');
    expect(data).toEqual({
      transfer_id: relayed.id,
      index: 0,
      upload_url: pathOf(relayed, 0, 1),
      offset: 5 * MIB,
    });
    expectProblem(await append(relayed, site.one, { offset: size, body: Buffer.alloc(0) }), 'upload_gone');
    expect((await head(relayed, site.one)).status).toBe(410);
    const { body } = await relayed.sender.on(site.two).call('getTransfer', { params: { transfer_id: relayed.id } });
    expect(body.transfer.uploads).toEqual([{ index: 0, upload_url: pathOf(relayed, 0, 1), offset: 5 * MIB }]);
    const resumed = curlUp(relayed.url(site.one, 0, 1), relayed.sender.headers, '-', { offset: 5 * MIB });
    resumed.process.stdin?.end(bytesFrom(file.path, 5 * MIB));
    expect(await resumed.done).toMatchObject({ code: 0, out: '204' });
    expect((await down.done).code).toBe(0);
    expect(await sha256(again)).toBe(file.sha);
  });

  test('that never reads holds up to the window, the tail and some sockets, and is ended', async () => {
    const size = 64 * MIB;
    const file = writeFile(folder.path, 'never', size);
    const relayed = await relayFiles(site.one, { sizes: [size] });
    const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
    const socket = connect(Number(new URL(site.two.url).port), '127.0.0.1').pause();
    const headers = Object.entries(relayed.receiver.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${pathOf(relayed)} HTTP/1.1\r\nHost: localhost\r\n${headers.join('')}\r\n`);
    expect((await up.done).out).toContain('window_full');
    const kept = await site.redis.memory('USAGE', `${site.prefix}:relay:{${relayed.id}}:0:0`, 'SAMPLES', 0);
    expect(kept).toBeLessThan(14 * MIB);
    const isServed = async () => {
      const metrics = await (await fetch(`${site.two.adminUrl}/metrics`)).text();
      return /^baton_relay_active\{direction="down"\} [1-9]/m.test(metrics);
    };
    while (await isServed()) await new Promise((resolve) => setTimeout(resolve, 100));
    // The download is cut: the bytes in the sockets end before the file does.
    let bytes = 0;
    socket
      .on('error', () => undefined)
      .on('data', (part) => {
        bytes += part.length;
      });
    socket.resume();
    await once(socket, 'close');
    expect(bytes).toBeLessThan(size);
  });
});

describe('who may', () => {
  const asking = (device: { headers: Record<string, string> }, relayed: Relayed, method: string) =>
    request(site.two, {
      method,
      path: pathOf(relayed) + (method === 'POST' ? '/ack' : ''),
      headers: { ...device.headers, ...(method === 'PATCH' && { 'Upload-Offset': '0' }) },
      ...(method === 'POST' && { body: { received_bytes: 0 } }),
    });

  test('another account does not learn that the file exists', async () => {
    const relayed = await relayFiles(site.one, { sizes: [10] });
    const stranger = makeDevice({ user: randomUser() });
    await stranger.on(site.one).call('getMe');
    for (const method of ['PATCH', 'GET', 'POST']) expectProblem(await asking(stranger, relayed, method), 'not_found');
    expect((await asking(stranger, relayed, 'HEAD')).status).toBe(404);
  });

  test('the third device of the account takes no part, and each party only its own', async () => {
    const relayed = await relayFiles(site.one, { sizes: [10] });
    for (const method of ['PATCH', 'GET', 'POST']) {
      expectProblem(await asking(relayed.third, relayed, method), 'not_a_party');
    }
    for (const method of ['GET', 'POST']) expectProblem(await asking(relayed.sender, relayed, method), 'not_a_party');
    expectProblem(await asking(relayed.receiver, relayed, 'PATCH'), 'not_a_party');
  });

  test('a guest relays like any device', async () => {
    const user = randomUser();
    const guest = makeDevice({ user, name: 'Guest', scope: 'guest' });
    const other = makeDevice({ user, name: 'Other' });
    for (const device of [guest, other]) await device.on(site.one).call('getMe');
    const { body } = await guest
      .on(site.one)
      .call('initTransfer', { body: { to: 'Other', files: [{ name: 'a', size: 3 }] } });
    const params = { transfer_id: body.transfer.transfer_id };
    await guest.on(site.one).call('relayTransfer', { params });
    const path = `/api/relay/${params.transfer_id}/0/0`;
    const headers = { ...guest.headers, 'Content-Type': 'application/partial-upload', 'Upload-Offset': '0' };
    const sent = await request(site.one, { method: 'PATCH', path, headers, body: Buffer.from('abc') });
    expect(sent.status).toBe(204);
    expect((await request(site.two, { path, headers: other.headers })).text).toBe('abc');
  });

  test('nobody, before the relay is in use and after the transfer has ended', async () => {
    const relayed = await relayFiles(site.one, { sizes: [10] });
    await append(relayed, site.one, { offset: 0, body: someBytes(5) });
    await relayed.receiver.on(site.two).call('cancelTransfer', { params: { transfer_id: relayed.id }, body: {} });
    const answer = await append(relayed, site.one, { offset: 5, body: someBytes(5) });
    expect(answer.body).toMatchObject({ code: 'invalid_transition', state: 'CANCELLED' });
    expect((await asking(relayed.receiver, relayed, 'GET')).body).toMatchObject({ code: 'invalid_transition' });
  });

  test('a ninth file of an account waits until one of eight has gone', async () => {
    const relayed = await relayFiles(site.one, { sizes: Array.from({ length: 9 }, () => 10) });
    for (let index = 0; index < 8; index++) {
      expect((await append(relayed, site.one, { offset: 0, body: someBytes(10), index })).status).toBe(204);
    }
    const ninth = { offset: 0, body: someBytes(10), index: 8 };
    expectProblem(await append(relayed, site.two, ninth), 'relay_busy');
    await read(relayed, site.two, undefined, 3);
    // A place is free a moment after the last byte of its file has come.
    while ((await append(relayed, site.two, ninth)).status === 503);
    expect((await append(relayed, site.two, { ...ninth, offset: 10, body: Buffer.alloc(0) })).status).toBe(204);
  });
});

test('running requests end with their transfer, and nothing of the file is left', async () => {
  const relayed = await relayFiles(site.one, { sizes: [20 * MIB] });
  const file = writeFile(folder.path, 'cancelled', 20 * MIB);
  const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
  while (Number(offsetOf(await head(relayed, site.two)).offset) < 7 * MIB);
  await relayed.receiver.on(site.two).call('cancelTransfer', { params: { transfer_id: relayed.id }, body: {} });
  expect((await up.done).out).toContain('invalid_transition');
  expect(await site.redis.keys(`${site.prefix}:relay:*${relayed.id}*`)).toEqual([]);
});

test('a device that is signed out neither sends nor reads on, on whatever replica it was', async () => {
  // More than the relay and the buffers of the kernel (`tcp_rmem`, up to 32 MiB) hold, so that the upload cannot have ended.
  const size = 64 * MIB;
  const relayed = await relayFiles(site.one, { sizes: [size] });
  const file = writeFile(folder.path, 'revoked', size);
  const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
  const to = join(folder.path, 'revoked.out');
  const down = curlDown(relayed.url(site.two), relayed.receiver.headers, to, ['--limit-rate', '1M']);
  while (Number(offsetOf(await head(relayed, site.two)).offset) < 7 * MIB);
  await relayed.sender.on(site.one).call('removeDevice', { params: { device_id: relayed.receiver.id } });
  expect((await down.done).code).not.toBe(0);
  expect((await up.done).out).toContain('invalid_transition');
  expect(await site.redis.keys(`${site.prefix}:relay:*${relayed.id}*`)).toEqual([]);
});

test('a sender that is signed out in the middle of its upload is told so', async () => {
  const relayed = await relayFiles(site.one, { sizes: [1_000] });
  const upload = openUpload(relayed, site.one, 0);
  upload.send(someBytes(500));
  await untilSent(relayed, site.two, 500);
  await relayed.receiver.on(site.one).call('removeDevice', { params: { device_id: relayed.sender.id } });
  const answer = await upload.answer;
  expect([answer?.status, JSON.parse(answer?.body ?? '{}').code]).toEqual([401, 'session_revoked']);
});

// Proves G30.
test('every key of the relay has an end', async () => {
  const relayed = await relayFiles(site.one, { sizes: [1_000, 2_000] });
  await append(relayed, site.one, { offset: 0, body: someBytes(1_000) });
  await append(relayed, site.one, { offset: 0, body: someBytes(500), index: 1 });
  await read(relayed, site.two);
  const keys = (await site.redis.keys(`${site.prefix}:*`)).filter((key) => /:relay(:|$)/.test(key));
  expect(keys.length).toBeGreaterThanOrEqual(5);
  const ttls = await Promise.all(keys.map((key) => site.redis.ttl(key)));
  // A key that has gone meanwhile had an end.
  expect(ttls.filter((ttl) => ttl === -1)).toEqual([]);
});

test('acknowledged bytes are let go of', async () => {
  const bytes = someBytes(2 * MIB);
  const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
  await append(relayed, site.one, { offset: 0, body: bytes, complete: true });
  expect((await acknowledge(relayed, site.two, bytes.length)).status).toBe(204);
  expect(await site.redis.xlen(`${site.prefix}:relay:{${relayed.id}}:0:0`)).toBe(0);
});

test('acknowledged bytes are the progress of the transfer, over all its files, and are told', async () => {
  const relayed = await relayFiles(site.one, { sizes: [1_000, 2_000] });
  for (const [index, size] of [1_000, 2_000].entries()) {
    await append(relayed, site.one, { offset: 0, body: someBytes(size), complete: true, index });
  }
  const events = site.listen(relayed.sender, site.one);
  await events.next('ready');
  const acks = [
    [0, 400],
    [1, 2_000],
    [0, 1_000],
    [0, 300],
  ] as const;
  for (const [index, bytes] of acks) {
    expect((await acknowledge(relayed, site.two, bytes, index)).status).toBe(204);
  }
  const { body } = await relayed.receiver.on(site.two).call('getTransfer', { params: { transfer_id: relayed.id } });
  expect(body.transfer.progress).toEqual({ sent_bytes: 0, received_bytes: 3_000 });
  const told: number[] = [];
  while (told.at(-1) !== 3_000) {
    const { data } = await events.next('transfer:updated');
    told.push(data.transfer.progress.received_bytes);
  }
  expect(told[0]).toBeGreaterThanOrEqual(400);
});

test('a file goes back a hundred times and no further', async () => {
  const relayed = await relayFiles(site.one, { sizes: [1_000] });
  await append(relayed, site.one, { offset: 0, body: someBytes(1_000), complete: true });
  await acknowledge(relayed, site.one, 1_000);
  const events = site.listen(relayed.sender, site.one);
  await events.next('ready');
  const ask = (start: number, signal: AbortSignal | null) => {
    const headers = { ...relayed.receiver.headers, Range: `bytes=${start}-` };
    return fetch(relayed.url(site.two), { headers, signal });
  };
  for (let rewinds = 1; rewinds <= 100; rewinds++) {
    const leaving = new AbortController();
    const asked = ask(900 - rewinds, leaving.signal).catch(() => undefined);
    expect((await events.next('relay:rewind')).data).toMatchObject({ offset: 900 - rewinds });
    leaving.abort();
    await asked;
  }
  const answer = await ask(700, null);
  expect([answer.status, await answer.json()]).toEqual([416, expect.objectContaining({ code: 'range_not_available' })]);
});
