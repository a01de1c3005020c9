import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IncomingTransfer } from '../../shared/client/api.ts';
import { fileSource, folderSink, folderSources, sha256 } from '../../shared/client/node.ts';
import { blobSource, streamSource } from '../../shared/client/files/sources.ts';
import { makeFolder, MIB, writeFile } from '../relay/support/relayed.ts';
import type { TestDevice } from '../support/device.ts';
import { offered, progressed, useClients } from './clients.ts';

const clients = useClients({ sha256 });
const { joined, pair } = clients;
const folder = makeFolder();
afterAll(() => folder.remove());

/** Resolves to what is offered to a device that comes back. An offer may come in the same moment as it is online. */
const offeredOnReturn = (device: TestDevice, replica: { url: string }): Promise<IncomingTransfer> =>
  offered(clients.started(device, replica));

const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
let folders = 0;
const newFolder = (): string => {
  const path = join(folder.path, `into-${folders++}`);
  mkdirSync(path);
  return path;
};

test('a receiver that stopped in the middle goes on in another process where its file ends', async () => {
  const { laptop, phone, devices } = await pair();
  const file = writeFile(folder.path, 'film.mkv', 60 * MIB);
  const into = newFolder();
  const offer = offered(phone);
  const sending = await laptop.transfers.send('Phone', [await fileSource(file.path)]);
  const first = (await offer).accept(folderSink(into));
  await progressed(first, 10 * MIB);
  await phone.close();
  await expect(first.done).rejects.toMatchObject({ code: 'aborted' });
  expect(sending.transfer.state).toBe('RELAY_ACTIVE');

  const resumed = await offeredOnReturn(devices[1], clients.site.one);
  expect([resumed.isAccepted, resumed.id]).toEqual([true, sending.id]);
  const second = resumed.accept(folderSink(into));
  const told: number[] = [];
  second.onProgress(({ bytes }) => told.push(bytes));
  expect((await second.done).state).toBe('DONE');
  expect((await sending.done).state).toBe('DONE');
  expect(told[0]).toBeGreaterThanOrEqual(10 * MIB);
  expect(readdirSync(into)).toEqual(['film.mkv']);
  expect(digestOf(join(into, 'film.mkv'))).toBe(file.sha);
});

test('a sender that stopped in the middle goes on in another process', async () => {
  const { laptop, phone, devices } = await pair();
  const file = writeFile(folder.path, 'tape.bin', 60 * MIB);
  const into = newFolder();
  const offer = offered(phone);
  const sending = await laptop.transfers.send('Phone', [await fileSource(file.path)]);
  const receiving = (await offer).accept(folderSink(into));
  await progressed(receiving, 10 * MIB);
  await laptop.close();
  await expect(sending.done).rejects.toMatchObject({ code: 'aborted' });

  const again = await joined(devices[0], clients.site.two);
  const resumed = await again.transfers.resume(sending.id, [await fileSource(file.path)]);
  expect((await resumed.done).state).toBe('DONE');
  await receiving.done;
  expect(digestOf(join(into, 'tape.bin'))).toBe(file.sha);
  await expect(again.transfers.resume(sending.id, [])).rejects.toMatchObject({ code: 'invalid_request' });
});

test('a folder of forty files arrives with its folders, empty files too, and nothing is written over', async () => {
  const { laptop, phone } = await pair();
  const from = join(folder.path, 'photos');
  mkdirSync(join(from, 'summer'), { recursive: true });
  for (let i = 0; i < 39; i += 1) writeFileSync(join(from, 'summer', `${i}.jpg`), randomBytes(i * 1_000));
  writeFileSync(join(from, 'list.txt'), 'new');
  const into = newFolder();
  mkdirSync(join(into, 'photos'));
  writeFileSync(join(into, 'photos/list.txt'), 'old');
  const stored: string[] = [];
  phone.on('incoming', (offer) => {
    offer.accept(folderSink(into, (_, path) => stored.push(path))).done.catch(() => {});
  });
  const sending = await laptop.transfers.send('Phone', await folderSources(from));
  await sending.done;

  expect(sending.progress).toMatchObject({ files: 40, totalFiles: 40, secondsLeft: 0 });
  expect(stored).toHaveLength(40);
  expect(readFileSync(join(into, 'photos/list.txt'), 'utf8')).toBe('old');
  expect(readFileSync(join(into, 'photos/list (2).txt'), 'utf8')).toBe('new');
  for (let i = 0; i < 39; i += 1) {
    expect(digestOf(join(into, `photos/summer/${i}.jpg`))).toBe(digestOf(join(from, `summer/${i}.jpg`)));
  }
});

test('a sink may make the digest, and a source give its pieces as parts of a file: the library reads neither', async () => {
  const { laptop, phone } = await pair();
  const bytes = randomBytes(3 * MIB);
  const wanted = createHash('sha256').update(bytes).digest('hex');
  const file = new Blob([bytes]);
  const unread = () => Promise.reject(new Error('The library read it'));
  const source = {
    ...blobSource(file, 'a.bin'),
    digest: () => Promise.resolve(wanted),
    open: unread,
    pieces: () => ({
      ...{ at: unread, close() {} },
      body: (offset: number, most: number) => Promise.resolve(file.slice(offset, offset + most)),
    }),
  };
  async function receive(sayDigest: (hex: string) => string) {
    const hash = createHash('sha256');
    const offer = offered(phone);
    const sending = await laptop.transfers.send('Phone', [source]);
    const write = (chunk: Uint8Array) => void hash.update(chunk);
    const sink = { write, close() {}, digest: () => Promise.resolve(sayDigest(hash.digest('hex'))) };
    const receiving = (await offer).accept(() => sink);
    return Promise.allSettled([sending.done, receiving.done]);
  }
  expect(await receive((hex) => hex)).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
  const reason = { code: 'digest_mismatch' };
  expect(await receive(() => '0'.repeat(64))).toMatchObject([{ reason }, { reason }]);
});

test('bytes that are not what was announced are refused on both sides, and not kept', async () => {
  const { laptop, phone } = await pair();
  const into = newFolder();
  const offer = offered(phone);
  const lie = { ...blobSource(new Blob(['hello']), 'a.txt'), sha256: '0'.repeat(64) };
  const sending = await laptop.transfers.send('Phone', [lie]);
  const receiving = (await offer).accept(folderSink(into));

  await expect(receiving.done).rejects.toMatchObject({ code: 'digest_mismatch', action: 'tell-user' });
  await expect(sending.done).rejects.toMatchObject({ code: 'digest_mismatch' });
  expect(readdirSync(into)).toEqual([]);
});

test('each way in which a transfer is not wanted is told by its name', async () => {
  const { laptop, phone } = await pair();
  const source = blobSource(new Blob(['hello']), 'a.txt');
  const first = offered(phone);
  const rejected = await laptop.transfers.send('Phone', [source]);
  await (await first).reject();
  await expect(rejected.done).rejects.toMatchObject({ code: 'rejected' });
  await expect(rejected.uploaded).rejects.toMatchObject({ code: 'rejected' });

  const second = offered(phone);
  const cancelled = await laptop.transfers.send('Phone', [source]);
  const { id } = await second;
  await cancelled.cancel('changed my mind');
  await expect(cancelled.done).rejects.toMatchObject({ code: 'cancelled' });
  expect((await phone.transfers.get(id)).error?.code).toBe('changed my mind');

  await phone.close();
  const away = await laptop.transfers.send('Phone', [source], { offlineMs: 300 });
  await expect(away.done).rejects.toMatchObject({ code: 'peer_offline' });
  expect(await laptop.transfers.get(away.id)).toMatchObject({ state: 'FAILED', phase: 'peer_offline' });
});

test('a receiver that leaves before it accepts is not waited for without end', async () => {
  const { laptop, phone } = await pair();
  const offer = offered(phone);
  const sending = await laptop.transfers.send('Phone', [blobSource(new Blob(['hello']), 'a.txt')], { offlineMs: 300 });
  expect(sending.receiverOnline).toBe(true);
  await offer;
  await phone.close();
  await expect(sending.done).rejects.toMatchObject({ code: 'peer_offline' });
});

test('what fits is left for a receiver that is away, and its sender goes', async () => {
  const { laptop, phone, devices } = await pair();
  await phone.close();
  const bytes = randomBytes(3 * MIB);
  const stream = new Blob([bytes]).stream();
  const sending = await laptop.transfers.send('Phone', [streamSource(stream, { name: 'a.bin', size: bytes.length })], {
    offlineMs: null,
  });
  await sending.uploaded;
  await laptop.close();

  const left = await offeredOnReturn(devices[1], clients.site.one);
  const into = newFolder();
  expect((await left.accept(folderSink(into)).done).state).toBe('DONE');
  expect(readFileSync(join(into, 'a.bin')).equals(bytes)).toBe(true);
});

test('a receiver that pauses gets no bytes until it goes on', async () => {
  const { laptop, phone } = await pair();
  const file = writeFile(folder.path, 'long.bin', 40 * MIB);
  const into = newFolder();
  const offer = offered(phone);
  const sending = await laptop.transfers.send('Phone', [await fileSource(file.path)]);
  const receiving = (await offer).accept(folderSink(into));
  await progressed(receiving, 4 * MIB);
  receiving.pause();
  // The bytes that were under way have come when the sender has filled the window after them.
  await progressed(sending, 8 * MIB);
  const paused = receiving.progress;
  await laptop.messages.send('Phone', 'still there?');
  expect(paused).toMatchObject({ isPaused: true, bytesPerSecond: 0, secondsLeft: null });
  expect(receiving.progress.bytes).toBeLessThan(40 * MIB);

  receiving.resume();
  expect((await receiving.done).state).toBe('DONE');
  expect(digestOf(join(into, 'long.bin'))).toBe(file.sha);
});

test('a source that ends too soon, and a sink that is full, end the transfer for both', async () => {
  const { laptop, phone } = await pair();
  const first = offered(phone);
  const short = { ...blobSource(new Blob(['hello']), 'a.txt'), size: 10 };
  const sending = await laptop.transfers.send('Phone', [short], { digest: false });
  const receiving = (await first).accept(folderSink(newFolder()));
  await expect(sending.done).rejects.toMatchObject({ code: 'source_failed' });
  await expect(receiving.done).rejects.toMatchObject({ code: 'failed' });

  const second = offered(phone);
  const good = await laptop.transfers.send('Phone', [blobSource(new Blob(['hello']), 'a.txt')]);
  const full = (await second).accept(() => ({
    write: () => Promise.reject(new Error('no space left')),
    close() {},
  }));
  await expect(full.done).rejects.toMatchObject({ code: 'sink_failed' });
  await expect(good.done).rejects.toMatchObject({ code: 'failed' });
});
