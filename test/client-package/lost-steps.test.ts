import { randomBytes } from 'node:crypto';
import type { BatonClient, IncomingTransfer, OutgoingTransfer, RunningTransfer } from '../../shared/client/api.ts';
import { makeBatonClient } from '../../shared/client/baton-client.ts';
import { blobSource } from '../../shared/client/files/sources.ts';
import type { Transfer } from '../../shared/client/wire.ts';
import { MIB } from '../relay/support/relayed.ts';
import type { TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';

/*
 * A failover of the store may lose the last steps of a transfer that a device was already told about. Here the record is put
 * back as it was before them.
 */
let site: Site;
const open = new Set<BatonClient>();
beforeAll(async () => {
  site = await startSite();
});
afterEach(async () => {
  await Promise.all([...open].map((client) => client.close()));
  open.clear();
});
afterAll(() => site.stop());

/** Cuts the streams of all clients, which open them again. */
let cut = new AbortController();
function reopenStreams(): void {
  cut.abort();
  cut = new AbortController();
}
const fetchUntilCut = (url: string, init: RequestInit): Promise<Response> => {
  if (!url.includes('/api/hub/events')) return fetch(url, init);
  return fetch(url, { ...init, signal: AbortSignal.any([cut.signal, init.signal ?? cut.signal]) });
};

async function joined({ headers }: TestDevice, replica: { url: string }): Promise<BatonClient> {
  const client = makeBatonClient({ baseUrl: replica.url, headers, fetch: fetchUntilCut });
  open.add(client);
  client.start();
  await client.untilOnline();
  return client;
}

const reached = (running: RunningTransfer, bytes: number): Promise<void> =>
  new Promise((resolve) => {
    running.onProgress((progress) => {
      if (progress.bytes >= bytes) resolve();
    });
  });

interface Offered {
  offer: IncomingTransfer;
  sending: OutgoingTransfer;
  /** The key of the record. */
  key: string;
  /** Returns a function that puts the record back as it is now. */
  remember: () => Promise<() => Promise<unknown>>;
}

async function offerFile(bytes: Uint8Array<ArrayBuffer>): Promise<Offered> {
  const devices = await site.enrol('Laptop', 'Phone');
  const [laptop, phone] = await Promise.all([joined(devices[0], site.one), joined(devices[1], site.two)]);
  const offered = new Promise<IncomingTransfer>((resolve) => phone.on('incoming', resolve));
  const sending = await laptop.transfers.send('Phone', [blobSource(new Blob([bytes]), 'film.mkv')]);
  const offer = await offered;
  const key = `${site.prefix}:{${devices[0].user}}:transfer:${offer.id}`;
  const remember = async () => {
    const kept = await site.redis.dumpBuffer(key);
    const livesMs = await site.redis.pttl(key);
    return () => site.redis.restore(key, livesMs, kept, 'REPLACE');
  };
  return { offer, sending, key, remember };
}

/** Keeps what arrives. Before the file is closed, which the transfer waits for, `beforeClose` is called. */
function makeSink(beforeClose: () => Promise<unknown> = () => Promise.resolve()) {
  const chunks: Uint8Array[] = [];
  const sink = {
    write: (chunk: Uint8Array) => void chunks.push(chunk.slice()),
    close: async () => void (await beforeClose()),
  };
  return { openSink: () => sink, bytes: () => Buffer.concat(chunks) };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const isActive = ({ state }: Transfer): boolean => state === 'RELAY_ACTIVE';

test.each(['offered', 'accepted'])(
  'files move on in the middle when the store is back where they were %s',
  async (step) => {
    const bytes = randomBytes(60 * MIB);
    const { offer, sending, remember } = await offerFile(bytes);
    let putBack = await remember();
    const sink = makeSink();
    const receiving = offer.accept(sink.openSink);
    if (step === 'accepted') {
      while (!isActive(receiving.transfer)) await nextTurn();
      putBack = await remember();
    }
    await reached(receiving, 10 * MIB);
    await putBack();
    expect((await receiving.done).state).toBe('DONE');
    expect((await sending.done).state).toBe('DONE');
    expect(sink.bytes().equals(bytes)).toBe(true);
  },
);

test.each([
  ['before it is accepted', { state: 'PENDING', mode: 'p2p', relay: '0' }],
  ['when everything is sent', { state: 'ACCEPTED', mode: 'p2p', relay: '0' }],
  ['when everything is sent, with the places of the files', { state: 'ACCEPTED', mode: 'p2p', relay: '0', r0: null }],
])('the relay is chosen again that the store has lost %s', async (when, lost) => {
  const bytes = randomBytes(2 * MIB);
  const { offer, sending, key } = await offerFile(bytes);
  const lose = async () => {
    const { r0, ...fields } = lost as Record<string, string | null>;
    if (r0 === null) await site.redis.hdel(key, 'r0');
    await site.redis.hset(key, fields as Record<string, string>);
  };
  while (sending.transfer.mode !== 'relay') await nextTurn();
  if (when.startsWith('before')) await lose();
  const sink = makeSink();
  let isHeld = true;
  const receiving = offer.accept(async () => {
    while (isHeld) await nextTurn();
    return sink.openSink();
  });
  if (!when.startsWith('before')) {
    await sending.uploaded;
    await lose();
    reopenStreams();
  }
  isHeld = false;
  expect((await receiving.done).state).toBe('DONE');
  expect((await sending.done).state).toBe('DONE');
  expect(sink.bytes().equals(bytes)).toBe(true);
});

test('a transfer is completed although the store is back where it was offered when everything has arrived', async () => {
  const bytes = randomBytes(2 * MIB);
  const { offer, sending, remember } = await offerFile(bytes);
  const putBack = await remember();
  const sink = makeSink(putBack);
  expect((await offer.accept(sink.openSink).done).state).toBe('DONE');
  expect((await sending.done).state).toBe('DONE');
  expect(sink.bytes().equals(bytes)).toBe(true);
});
