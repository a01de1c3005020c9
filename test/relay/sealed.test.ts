import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatonClient, IncomingTransfer } from '../../shared/client/api.ts';
import { makeBatonClient } from '../../shared/client/baton-client.ts';
import type { OpenSink } from '../../shared/client/files/files.ts';
import { nodeRecordCipher } from '../../shared/client/node/record-cipher.ts';
import { fileSource, sha256 } from '../../shared/client/node/sources.ts';
import { folderSink } from '../../shared/client/node/sinks.ts';
import { makeSealedFiles } from '../../shared/client/sealing/files.ts';
import { memoryTaken } from '../../shared/client/sealing/taken.ts';
import type { TestDevice } from '../support/device.ts';
import { firstRing, keyringOf, makePerson, nextRing, NOW } from '../unit/client/sealed/people.ts';
import { type SiteWithRelayStore, startSiteWithRelayStore } from './support/own-store.ts';
import { makeFolder, MIB, writeFile } from './support/relayed.ts';

/* Sealed files go through a real relay, which forgets everything when a test says so. */

let own: SiteWithRelayStore;
const folder = makeFolder();
const clients: BatonClient[] = [];
beforeAll(async () => {
  own = await startSiteWithRelayStore({ APP_RELAY_STALL_SECONDS: '5' });
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await own.stop();
  folder.remove();
});

function clientOf(
  { headers }: TestDevice,
  replica: { url: string },
  fetch: typeof globalThis.fetch = globalThis.fetch,
) {
  const client = makeBatonClient({ baseUrl: replica.url, headers, sha256, fetch });
  clients.push(client);
  return client;
}

/** Makes two devices of one account with keys, on two replicas. */
async function keyedPair(fetch?: typeof globalThis.fetch) {
  const { site } = own;
  const devices = (await site.enrol('Laptop', 'Phone')) as [TestDevice, TestDevice];
  const [laptop, phone] = [await makePerson(devices[0].id), await makePerson(devices[1].id)];
  const first = await firstRing(laptop);
  const rings = [first, await nextRing(first, laptop, { add: [phone.asks] })];
  const calls = { serverNow: () => NOW, trustedNow: () => NOW, caller: null as never };
  const filesOf = ({ store }: typeof laptop) =>
    makeSealedFiles({
      calls,
      rings: { current: () => Promise.resolve(null) },
      store,
      taken: memoryTaken(),
      sha256,
      recordCipher: nodeRecordCipher,
    });
  return {
    to: phone.id,
    sending: {
      client: clientOf(devices[0], site.one),
      files: filesOf(laptop),
      keyring: await keyringOf(laptop, rings),
    },
    taking: {
      client: clientOf(devices[1], site.two, fetch),
      files: filesOf(phone),
      keyring: await keyringOf(phone, rings),
    },
    /** Makes the phone's client again, as in another process. */
    again: () => clientOf(devices[1], site.two),
  };
}

/**
 * Makes a connection that brings this many bytes of a file and then nothing. The last of them come after more than the second
 * between two acknowledgements. `told` resolves when the service has taken an acknowledgement.
 */
function makeFall(bytes: number) {
  let tell = () => {};
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const answer = await globalThis.fetch(url, init);
    const path = url instanceof Request ? url.url : url.toString();
    if (path.endsWith('/ack')) tell();
    if (!/\/api\/relay\/[^/]+\/\d+\/\d+$/.test(path) || (init?.method ?? 'GET') !== 'GET') return answer;
    let left = bytes;
    const slow = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        if (left === 0) return;
        if (chunk.length >= left) await new Promise((resolve) => setTimeout(resolve, 1_100));
        controller.enqueue(chunk.slice(0, left));
        left -= Math.min(left, chunk.length);
      },
    });
    return new Response(answer.body?.pipeThrough(slow), answer);
  };
  return { fetch, told };
}

/** Resolves to the opened offer. */
const opened = ({ client, files, keyring }: Awaited<ReturnType<typeof keyedPair>>['taking']) =>
  new Promise<IncomingTransfer>((resolve, reject) => {
    client.on('incoming', (offer) => {
      files.open(client.transfers, keyring, offer).then((received) => {
        if (received.kind === 'opened') resolve(received.offer);
        else reject(new Error(received.kind));
      }, reject);
    });
    client.start();
  });

test('a file goes on at a record when the relay forgets it twice, and has the same bytes', async () => {
  const size = 40 * MIB + 17;
  const { path } = writeFile(folder.path, 'film.mkv', size);
  const { to, sending, taking } = await keyedPair();
  const incoming = opened(taking);
  await taking.client.untilOnline();
  const source = await fileSource(path);
  const rewinds: unknown[] = [];
  sending.client.on('event', ({ name, data }) => {
    if (name === 'relay:rewind') rewinds.push(data);
  });
  const offer = await sending.files.seal(sending.keyring, { to, files: [source] });
  const running = await sending.files.send(sending.client.transfers, offer, [source]);
  const into = join(folder.path, 'in');
  const open = folderSink(into, undefined, { records: join(folder.path, 'records') });
  let forgets = 0;
  const losing: OpenSink = async (file, signal, about) => {
    const sink = await open(file, signal, about);
    if ('getWriter' in sink) throw new Error('not a sink');
    let bytes = sink.offset ?? 0;
    return {
      ...sink,
      async write(chunk) {
        await sink.write(chunk);
        bytes += chunk.length;
        if (bytes > (forgets + 1) * 12 * MIB && forgets < 2) {
          forgets += 1;
          await own.bytes.flushall();
        }
      },
    };
  };
  const taken = (await incoming).accept(losing);
  const [done, sent] = await Promise.all([taken.done, running.done]);
  expect([done, sent].map(({ state, files }) => [state, files?.[0]?.name])).toEqual([
    ['DONE', 'film.mkv'],
    ['DONE', 'film.mkv'],
  ]);
  const digest = (at: string) => createHash('sha256').update(readFileSync(at)).digest('hex');
  expect(digest(join(into, 'film.mkv'))).toBe(digest(path));
  expect([forgets, rewinds.length]).toEqual([2, expect.any(Number)]);
  expect(rewinds.length).toBeGreaterThan(0);
});

test('many files, empty ones and those as long as a record, arrive whole, and a stranger sees numbers', async () => {
  const sizes = [0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 3 * MIB, 0];
  const written = sizes.map((size, index) => writeFile(folder.path, `part ${index}.txt`, size));
  const { to, sending, taking } = await keyedPair();
  const incoming = opened(taking);
  await taking.client.untilOnline();
  const sources = await Promise.all(written.map(({ path }) => fileSource(path)));
  const offer = await sending.files.seal(sending.keyring, { to, files: sources });
  const running = await sending.files.send(sending.client.transfers, offer, sources);
  const into = join(folder.path, 'many');
  const seen = await sending.client.transfers.get(running.id);
  expect(seen.files?.map(({ name, type, sha256: digest }) => [name, type, digest])).toEqual(
    sizes.map((_, index) => [`${index}.bin`, null, null]),
  );
  await (await incoming).accept(folderSink(into, undefined, { records: join(folder.path, 'records') })).done;
  await running.done;
  for (const [index, { path }] of written.entries()) {
    expect(readFileSync(join(into, `part ${index}.txt`)).equals(readFileSync(path))).toBe(true);
  }
});

test('a receiver that is killed after an acknowledgement goes on without its sender, who has left', async () => {
  const size = 3 * MIB + 5;
  const { path } = writeFile(folder.path, 'left.bin', size);
  const fall = makeFall(520_000);
  const { to, sending, taking, again } = await keyedPair(fall.fetch);
  const source = await fileSource(path);
  const offer = await sending.files.seal(sending.keyring, { to, files: [source] });
  await (await sending.files.send(sending.client.transfers, offer, [source], { offlineMs: null })).uploaded;
  await sending.client.close();
  const into = join(folder.path, 'left');
  const about = { records: join(folder.path, 'left-records') };
  const first = (await opened(taking)).accept(folderSink(into, undefined, about));
  await fall.told;
  await taking.client.close();
  await first.done.catch(() => {});
  const rest = { ...taking, client: again() };
  const done = await (await opened(rest)).accept(folderSink(into, undefined, about)).done;
  expect([done.state, readFileSync(join(into, 'left.bin')).equals(readFileSync(path))]).toEqual(['DONE', true]);
});
