import { randomBytes } from 'node:crypto';
import type { IncomingTransfer, OutgoingTransfer, RunningTransfer } from '../../shared/client/api.ts';
import { blobSource } from '../../shared/client/files/sources.ts';
import { MIB } from '../relay/support/relayed.ts';
import { offered, progressed, useClients } from './clients.ts';

/*
 * A failover of the store may lose the last steps of a transfer that a device was already told about. Here the record is put
 * back as it was before them.
 */

/** Cuts the streams of all clients, which open them again. */
let cut = new AbortController();
function reopenStreams(): void {
  cut.abort();
  cut = new AbortController();
}
const clients = useClients({
  fetch(url, init) {
    if (!url.includes('/api/hub/events')) return fetch(url, init);
    return fetch(url, { ...init, signal: AbortSignal.any([cut.signal, init.signal ?? cut.signal]) });
  },
});

interface Offered {
  offer: IncomingTransfer;
  sending: OutgoingTransfer;
  /** Returns a function that puts the record back as it is now. */
  remember: () => Promise<() => Promise<unknown>>;
  /** Changes fields of the record, and removes those that are null. */
  change: (fields: Record<string, string | null>) => Promise<void>;
}

async function offerFile(bytes: Uint8Array<ArrayBuffer>): Promise<Offered> {
  const { laptop, phone, devices } = await clients.pair();
  const coming = offered(phone);
  const sending = await laptop.transfers.send('Phone', [blobSource(new Blob([bytes]), 'film.mkv')]);
  const offer = await coming;
  const { redis, prefix } = clients.site;
  const key = `${prefix}:{${devices[0].user}}:transfer:${offer.id}`;
  return {
    ...{ offer, sending },
    async remember() {
      const kept = await redis.dumpBuffer(key);
      const livesMs = await redis.pttl(key);
      return () => redis.restore(key, livesMs, kept, 'REPLACE');
    },
    async change(fields) {
      for (const [name, value] of Object.entries(fields)) {
        await (value === null ? redis.hdel(key, name) : redis.hset(key, name, value));
      }
    },
  };
}

/** Keeps what arrives. `beforeOpen` and `beforeClose` are called, and waited for, before the file is opened and closed. */
function makeSink({ beforeOpen = async () => {}, beforeClose = async () => {} } = {}) {
  const chunks: Uint8Array[] = [];
  const openSink = async () => {
    await beforeOpen();
    return { write: (chunk: Uint8Array) => void chunks.push(chunk.slice()), close: beforeClose };
  };
  return { openSink, bytes: () => Buffer.concat(chunks) };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function expectDone(...running: RunningTransfer[]): Promise<void> {
  const ends = await Promise.all(running.map(({ done }) => done));
  expect(ends.map(({ state }) => state)).toEqual(['DONE', 'DONE']);
}

test.each(['offered', 'accepted'])(
  'files move on in the middle when the store is back where they were %s',
  async (step) => {
    const bytes = randomBytes(60 * MIB);
    const { offer, sending, remember } = await offerFile(bytes);
    let putBack = await remember();
    const sink = makeSink();
    const receiving = offer.accept(sink.openSink);
    if (step === 'accepted') {
      while (receiving.transfer.state !== 'RELAY_ACTIVE') await nextTurn();
      putBack = await remember();
    }
    await progressed(receiving, 10 * MIB);
    await putBack();
    await expectDone(receiving, sending);
    expect(sink.bytes().equals(bytes)).toBe(true);
  },
);

test('the relay is chosen again that the store has lost before the files were accepted', async () => {
  const bytes = randomBytes(2 * MIB);
  const { offer, sending, change } = await offerFile(bytes);
  while (sending.transfer.mode !== 'relay') await nextTurn();
  await change({ mode: 'p2p', relay: '0' });
  const sink = makeSink();
  await expectDone(offer.accept(sink.openSink), sending);
  expect(sink.bytes().equals(bytes)).toBe(true);
});

test.each([
  ['the relay is', {}],
  ['the relay and the place of a file are', { r0: null }],
])('%s lost when everything is sent, and the file arrives whole', async (_, place) => {
  const bytes = randomBytes(2 * MIB);
  const { offer, sending, change } = await offerFile(bytes);
  async function beforeOpen(): Promise<void> {
    await sending.uploaded;
    await change({ state: 'ACCEPTED', mode: 'p2p', relay: '0', ...place });
    reopenStreams();
  }
  const sink = makeSink({ beforeOpen });
  await expectDone(offer.accept(sink.openSink), sending);
  expect(sink.bytes().equals(bytes)).toBe(true);
});

test('a transfer is completed although the store is back where it was offered when everything has arrived', async () => {
  const bytes = randomBytes(2 * MIB);
  const { offer, sending, remember } = await offerFile(bytes);
  const putBack = await remember();
  const sink = makeSink({ beforeClose: async () => void (await putBack()) });
  await expectDone(offer.accept(sink.openSink), sending);
  expect(sink.bytes().equals(bytes)).toBe(true);
});
