import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Site, startSite } from '../support/site.ts';
import { expectProblem } from '../support/wire.ts';
import { acknowledge, active, append, openUpload, pathOf, read, until, untilSent } from './support/asking.ts';
import { curlDown, curlUp, sha256 } from './support/curl.ts';
import { makeFolder, MIB, type Relayed, relayFiles, someBytes, writeFile } from './support/relayed.ts';
import { sizeOf } from './support/resuming.ts';

/* The stall time is a minute here, so a request that ends sooner was ended by its replacement. */

let site: Site;
const folder = makeFolder();
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(async () => {
  await site.stop();
  folder.remove();
});

const uploadOf = async (relayed: Relayed) => {
  const { body } = await relayed.sender.on(site.two).call('getTransfer', { params: { transfer_id: relayed.id } });
  return body.transfer.uploads?.[0];
};

describe('a newer download', () => {
  test('ends an older one whose receiver does not read, on another replica', async () => {
    const size = 30 * MIB;
    const file = writeFile(folder.path, 'unread', size);
    const relayed = await relayFiles(site.one, { sizes: [size] });
    const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
    const socket = connect(Number(new URL(site.two.url).port), '127.0.0.1').pause();
    const headers = Object.entries(relayed.receiver.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${pathOf(relayed)} HTTP/1.1\r\nHost: localhost\r\n${headers.join('')}\r\n`);
    // Nobody reads: sender, window and sockets are full. The window may have room for less than a chunk.
    await untilSent(relayed, site.one, 7 * MIB);
    const to = join(folder.path, 'unread.out');
    await until(async () => (await active(site.two, 'down')) === 1);
    const newer = curlDown(relayed.url(site.one), relayed.receiver.headers, to);
    await until(async () => (await active(site.two, 'down')) === 0);
    expect(await newer.done).toEqual({ code: 0, out: '' });
    expect((await up.done).out).toBe('204');
    expect(await sha256(to)).toBe(file.sha);
    const closed = once(
      socket.on('error', () => undefined),
      'close',
    );
    socket.resume();
    await closed;
    expect(site.two.log()).not.toContain('relay download');
  });

  test('is not sent back by the older one, which falls behind it', async () => {
    const size = 40 * MIB;
    const file = writeFile(folder.path, 'behind', size);
    const relayed = await relayFiles(site.one, { sizes: [size] });
    const up = curlUp(relayed.url(site.one), relayed.sender.headers, file.path);
    const slowly = join(folder.path, 'behind.slow');
    const older = curlDown(relayed.url(site.two), relayed.receiver.headers, slowly, ['--limit-rate', '200k']);
    await until(async () => sizeOf(slowly) > 100_000);
    // The older download has what sockets hold, which is less than this. Its receiver is too slow to get further.
    const to = join(folder.path, 'behind.out');
    writeFileSync(to, readFileSync(file.path).subarray(0, 16 * MIB));
    const newer = curlDown(relayed.url(site.one), relayed.receiver.headers, to);
    expect(await newer.done).toEqual({ code: 0, out: '' });
    expect((await up.done).out).toBe('204');
    expect(await sha256(to)).toBe(file.sha);
    await until(async () => (await active(site.two, 'down')) === 0);
    // Otherwise it would first read on from its socket.
    older.kill();
    expect((await older.done).code).not.toBe(0);
    expect(await uploadOf(relayed)).toEqual({ index: 0, upload_url: pathOf(relayed), offset: size });
  });
});

describe('an upload of which nothing comes', () => {
  test('ends when another begins, on another replica', async () => {
    const bytes = someBytes(2_000);
    const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
    const older = openUpload(relayed, site.one, 0);
    older.send(bytes.subarray(0, 500));
    await untilSent(relayed, site.two, 500);
    const newer = openUpload(relayed, site.two, 500);
    expect(await older.answer).toMatchObject({ status: 409 });
    newer.send(bytes.subarray(500));
    newer.end();
    expect(await newer.answer).toMatchObject({ status: 204 });
    expect((await read(relayed, site.one)).bytes.equals(bytes)).toBe(true);
  });

  test('is not disturbed by one that is refused for its offset', async () => {
    const bytes = someBytes(2_000);
    const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
    const upload = openUpload(relayed, site.one, 0);
    upload.send(bytes.subarray(0, 500));
    await untilSent(relayed, site.two, 500);
    const late = await append(relayed, site.two, { offset: 100, body: bytes.subarray(100, 200) });
    expect(late.status).toBe(409);
    upload.send(bytes.subarray(500));
    upload.end();
    expect(await upload.answer).toMatchObject({ status: 204 });
    expect((await read(relayed, site.one)).bytes.equals(bytes)).toBe(true);
  });

  test('is not disturbed by a late one for the generation before', async () => {
    const bytes = someBytes(2_000);
    const relayed = await relayFiles(site.one, { sizes: [bytes.length] });
    await append(relayed, site.one, { offset: 0, body: bytes, complete: true });
    await acknowledge(relayed, site.one, bytes.length);
    const events = site.listen(relayed.sender, site.two);
    await events.next('ready');
    const reading = read(relayed, site.two, 'bytes=500-');
    await events.next('relay:rewind');
    const upload = openUpload(relayed, site.one, 500, 1);
    upload.send(bytes.subarray(500, 700));
    await untilSent(relayed, site.two, 700, 1);
    expectProblem(await append(relayed, site.two, { offset: 700, body: bytes.subarray(700) }), 'upload_gone');
    upload.send(bytes.subarray(700));
    upload.end();
    expect(await upload.answer).toMatchObject({ status: 204 });
    expect((await reading).bytes.equals(bytes.subarray(500))).toBe(true);
  });
});
