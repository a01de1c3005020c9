import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { IncomingTransfer, RunningTransfer, SendSettings, Transfers } from '../../../../shared/client/api.ts';
import type { FileSink, FileSource, OpenSink, SealedFileParts } from '../../../../shared/client/files/files.ts';
import { blobSource, streamSource } from '../../../../shared/client/files/sources.ts';
import { makeRecords, RECORD_BYTES, sealedSizeOf, sealFrom } from '../../../../shared/client/sealed/content/records.ts';
import { sealTransfer } from '../../../../shared/client/sealed/content/transfers.ts';
import { makeNextRing } from '../../../../shared/client/sealed/ring/change.ts';
import type { Keyring } from '../../../../shared/client/sealed/keyring.ts';
import type { ReceivedFiles, SealedFiles } from '../../../../shared/client/sealing/api.ts';
import { makeSealedFiles } from '../../../../shared/client/sealing/files.ts';
import { memoryTaken } from '../../../../shared/client/sealing/taken.ts';
import type { Transfer } from '../../../../shared/client/wire.ts';
import { codeOf, firstRing, keyringOf, makePerson, nextRing, NOW } from '../sealed/people.ts';

/* Sealed files go between two devices, by a service that cuts, repeats, swaps and changes what it passes on. */

const { jest } = import.meta;
const R = RECORD_BYTES;
const ID = '018f3c4e-7b1a-7cde-8f00-0123456789ab';
const OTHER_ID = '018f3c4e-7b1a-7cde-8f00-0123456789ac';
const never = new AbortController().signal;

function bytesOf(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 1) bytes[at] = (at * 31 + (at >> 8)) & 255;
  return bytes;
}
const sourceOf = (bytes: Uint8Array<ArrayBuffer>, name: string, type = ''): FileSource =>
  blobSource(new Blob([bytes], { type }), name);
const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

interface Pair {
  own: Keyring;
  theirs: Keyring;
  laptop: SealedFiles;
  phone: SealedFiles;
}
let pair: Pair;
beforeAll(async () => {
  const [laptop, phone] = [await makePerson('laptop-1'), await makePerson('phone-1')];
  const first = await firstRing(laptop);
  const rings = [first, await nextRing(first, laptop, { add: [phone.asks] })];
  const calls = { trustedNow: () => NOW, serverNow: () => NOW, caller: null as never };
  const made = (store: (typeof laptop)['store']) =>
    makeSealedFiles({
      calls,
      rings: { current: () => Promise.resolve(null) },
      store,
      taken: memoryTaken(),
      sha256: undefined,
      recordCipher: undefined,
    });
  const [own, theirs] = [await keyringOf(laptop, rings), await keyringOf(phone, rings)];
  pair = { own, theirs, laptop: made(laptop.store), phone: made(phone.store) };
});

/** What the service has of an offer, and the sealed sources of the sender. */
interface Offered {
  transfer: Transfer;
  sources: readonly FileSource[];
}

const running = (transfer: Transfer) =>
  ({ id: transfer.transfer_id, transfer, done: Promise.resolve(transfer), progress: { bytes: 0 } }) as RunningTransfer;

function transferOf(files: readonly Pick<FileSource, 'name' | 'size'>[], sealed: string, id = ID): Transfer {
  const listed = files.map(({ name, size }, index) => ({ index, name, size, type: null, sha256: null }));
  return {
    ...{ transfer_id: id, state: 'PENDING', mode: 'relay', phase: 'initializing', files: listed, sealed },
    ...{ sender: { device_id: 'laptop-1', name: 'Laptop' }, receiver: { device_id: 'phone-1', name: 'Phone' } },
    ...{ file_count: listed.length, total_bytes: listed.reduce((sum, { size }) => sum + size, 0), error: null },
    ...{ progress: { sent_bytes: 0, received_bytes: 0 }, created_at: NOW, updated_at: NOW, expires_at: NOW + 1 },
  };
}

async function offer(files: readonly FileSource[], id = ID, digest = true): Promise<Offered> {
  let offered: Offered | null = null;
  const service = {
    async send(_: unknown, sources: readonly FileSource[], { sealed = '', ...settings }: SendSettings) {
      const transfer = transferOf(sources, sealed, id);
      offered = { transfer, sources };
      await settings.onOffered?.(transfer);
      return running(transfer);
    },
  } as unknown as Transfers;
  const sealed = await pair.laptop.seal(pair.own, { to: 'phone-1', files }, { digest });
  const sending = await pair.laptop.send(service, sealed, files);
  expect(sending.transfer.files?.map(({ name }) => name)).toEqual(files.map(({ name }) => name));
  return offered as unknown as Offered;
}

/** Opens the offer on the phone, with the sink that the client's transfer would fill. */
async function open({ transfer }: Pick<Offered, 'transfer'>, by = pair.phone, keyring: Keyring | null = pair.theirs) {
  let inner: OpenSink | null = null;
  const incoming = (wanted: Transfer): IncomingTransfer => ({
    ...{ id: wanted.transfer_id, transfer: wanted, isAccepted: false, reject: () => Promise.resolve() },
    accept(opener) {
      inner = opener;
      return running(wanted);
    },
  });
  // An event does not have the description, but the transfer itself does.
  const fetched = { incoming: () => Promise.resolve(incoming(transfer)) } as unknown as Transfers;
  const announced = incoming({ ...transfer, sealed: transfer.sealed === null ? null : '' });
  const received: ReceivedFiles = await by.open(fetched, keyring, announced);
  return {
    received,
    async sinkFor(index: number, opener: OpenSink): Promise<FileSink> {
      if (received.kind !== 'opened') throw new Error(received.kind);
      received.offer.accept(opener);
      const file = (transfer.files ?? [])[index];
      return (await (inner as unknown as OpenSink)(file as never, never)) as FileSink;
    },
  };
}

/** Makes a sink that keeps its content for the next process that opens it. */
function keptFile() {
  const kept = { bytes: new Uint8Array(0), closed: 0, aborted: 0 };
  const openFile: OpenSink = () => ({
    offset: kept.bytes.length,
    read: () => new Blob([kept.bytes]).stream(),
    write(chunk) {
      kept.bytes = new Uint8Array(Buffer.concat([kept.bytes, chunk]));
    },
    close: () => void (kept.closed += 1),
    abort: () => void (kept.aborted += 1),
  });
  return { kept, openFile };
}

async function sealedBytes(source: FileSource, offset = 0): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(await source.open(offset, never)).arrayBuffer());
}

/** Hands over these bytes in pieces, as a download does. */
async function pour(sink: FileSink, bytes: Uint8Array, piece = 100_000): Promise<void> {
  for (let at = 0; at < bytes.length; at += piece) await sink.write(bytes.subarray(at, at + piece));
}

test('the service gets no name, type, size, digest or date, and the receiver gets all of them', async () => {
  const dated = { ...sourceOf(bytesOf(5), 'tax/2026 é.pdf', 'application/pdf'), modifiedAt: 1_304_665_689_000 };
  const files = [dated, sourceOf(bytesOf(0), 'empty')];
  const { transfer, sources } = await offer(files);
  expect(sources.map(({ name, size, type, sha256, modifiedAt }) => ({ name, size, type, sha256, modifiedAt }))).toEqual(
    [
      { name: '0.bin', size: sealedSizeOf(5) },
      { name: '1.bin', size: sealedSizeOf(0) },
    ],
  );
  const { received } = await open({ transfer });
  expect(received).toMatchObject({ kind: 'opened', sender: { device_id: 'laptop-1', kind: 'cli' } });
  const { transfer: shown } = (received as Extract<ReceivedFiles, { kind: 'opened' }>).offer;
  expect(shown.total_bytes).toBe(5);
  expect(shown.files).toEqual([
    {
      ...{ index: 0, name: 'tax/2026 é.pdf', size: 5, type: 'application/pdf', sha256: sha256Of(bytesOf(5)) },
      modified_at: 1_304_665_689_000,
    },
    { index: 1, name: 'empty', size: 0, type: null, sha256: sha256Of(bytesOf(0)) },
  ]);
});

test('a file continues at any byte on both sides, however often either of them stops, with the same bytes', async () => {
  const size = 2 * R + 777;
  const file = bytesOf(size);
  const { transfer, sources } = await offer([sourceOf(file, 'film.mkv')]);
  const source = sources[0] as FileSource;
  const stop = fc.oneof(
    fc.constantFrom(0, 1, R, R + 27, R + 28, R + 29, 2 * (R + 28), sealedSizeOf(size) - 1),
    fc.integer({ min: 0, max: sealedSizeOf(size) }),
  );
  // A crash may leave a partly written record.
  const torn = fc.integer({ min: 0, max: 400_000 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(stop, torn), { maxLength: 3 }), async (stops) => {
      const { kept, openFile } = keptFile();
      for (const [at, lost] of stops) {
        const sink = await (await open({ transfer })).sinkFor(0, openFile);
        const rest = await sealedBytes(source, sink.offset);
        await pour(sink, rest.subarray(0, Math.max(0, at - (sink.offset ?? 0))), 77_777);
        kept.bytes = kept.bytes.slice(0, Math.max(0, kept.bytes.length - lost));
      }
      const last = await (await open({ transfer })).sinkFor(0, openFile);
      expect(last.offset ?? 0).toBeLessThan(sealedSizeOf(size));
      await pour(last, await sealedBytes(source, last.offset));
      await last.close();
      expect([Buffer.compare(kept.bytes, file), kept.closed, last.kept?.()]).toEqual([0, 1, sealedSizeOf(size)]);
    }),
    { numRuns: 25 },
  );
});

test('a source that seals its own bytes, such as in a worker, is read in no other way, and the receiver gets its file', async () => {
  const file = bytesOf(2 * R + 777);
  const plain = sourceOf(file, 'film.mkv');
  async function sealedBy({ key, transferId, index }: SealedFileParts): Promise<Uint8Array<ArrayBuffer>> {
    const records = await makeRecords(key, { transferId: await transferId, index, size: file.length });
    const all: Uint8Array[] = [];
    for await (const part of sealFrom(records, (start, length) => file.slice(start, start + length))) all.push(part);
    return new Uint8Array(Buffer.concat(all));
  }
  const read = jest.fn(plain.open);
  const sealedPieces = jest.fn((parts: SealedFileParts) => {
    const sealed = sealedBy(parts);
    return { at: async (offset: number, bytes: number) => (await sealed).slice(offset, offset + bytes), close() {} };
  });
  const { transfer, sources } = await offer([{ ...plain, open: read, sealedPieces }], ID, false);
  const size = sealedSizeOf(file.length);
  const pieces = (sources[0] as FileSource).pieces?.();
  const { kept, openFile } = keptFile();
  const sink = await (await open({ transfer })).sinkFor(0, openFile);
  for (let at = 0; at < size; at += 100_000) await sink.write((await pieces?.at(at, 100_000)) as Uint8Array);
  await sink.close();
  expect(Buffer.compare(kept.bytes, file)).toBe(0);
  expect([sealedPieces.mock.calls.length, sealedPieces.mock.calls[0]?.[0].size]).toEqual([1, size]);
  expect(read).not.toHaveBeenCalled();
});

test('cut, reordered, repeated, changed and foreign records get no name, and nothing of them is stored', async () => {
  const size = 2 * R + 9;
  const file = bytesOf(size);
  const [{ transfer, sources }, other] = [
    await offer([sourceOf(file, 'a'), sourceOf(file, 'b')]),
    await offer([sourceOf(file, 'a')], OTHER_ID),
  ];
  const whole = await sealedBytes(sources[0] as FileSource);
  const S = R + 28;
  const [one, two, three] = [whole.slice(0, S), whole.slice(S, 2 * S), whole.slice(2 * S)];
  const changed = whole.slice();
  changed[S + 40] = (changed[S + 40] ?? 0) ^ 1;
  const cases: Record<string, [Uint8Array, number]> = {
    'the end missing': [Buffer.concat([one, two]), 2 * R],
    'half of the last record': [whole.slice(0, -3), 2 * R],
    nothing: [new Uint8Array(), 0],
    'two records in the other order': [Buffer.concat([two, one, three]), 0],
    'a record twice': [Buffer.concat([one, one, three]), R],
    'more behind the end': [Buffer.concat([whole, new Uint8Array(1)]), R],
    'a changed byte': [changed, R],
    'the same file at another place of the transfer': [await sealedBytes(sources[1] as FileSource), 0],
    'the same file of another transfer': [await sealedBytes(other.sources[0] as FileSource), 0],
  };
  for (const [what, [bytes, stored]] of Object.entries(cases)) {
    const { kept, openFile } = keptFile();
    const sink = await (await open({ transfer })).sinkFor(0, openFile);
    const work = pour(sink, bytes).then(() => sink.close());
    expect([what, await codeOf(work)]).toEqual([what, 'record_damaged']);
    expect([what, kept.closed, Buffer.compare(kept.bytes, file.subarray(0, stored))]).toEqual([what, 0, 0]);
  }
});

test('only what a restarted receiver does not ask for again counts as stored', async () => {
  const file = bytesOf(2 * R + 9);
  const { transfer, sources } = await offer([sourceOf(file, 'a')]);
  const whole = await sealedBytes(sources[0] as FileSource);
  const S = R + 28;
  for (const at of [0, 1, S - 1, S, S + 1, 2 * S - 1, 2 * S, 2 * S + 20, whole.length]) {
    const { kept, openFile } = keptFile();
    const first = await (await open({ transfer })).sinkFor(0, openFile);
    await pour(first, whole.subarray(0, at));
    const stored = first.kept?.();
    const second = await (await open({ transfer })).sinkFor(0, openFile);
    expect([at, stored, kept.bytes.length]).toEqual([
      at,
      second.offset,
      Math.min(2 * R + 9, Math.floor(at / S) * R + (at === whole.length ? 9 : 0)),
    ]);
  }
});

test('what a sink holds in memory does not count as stored', async () => {
  const file = bytesOf(3 * R + 9);
  const { transfer, sources } = await offer([sourceOf(file, 'a')]);
  const whole = await sealedBytes(sources[0] as FileSource);
  const S = R + 28;
  const begun = R + 40;
  let disk = file.slice(0, begun);
  const memory: Uint8Array[] = [];
  const holding: OpenSink = () => ({
    offset: disk.length,
    kept: () => disk.length,
    read: () => new Blob([disk]).stream(),
    write: (chunk) => void memory.push(chunk.slice()),
    close() {},
  });
  const sink = await (await open({ transfer })).sinkFor(0, holding);
  expect([sink.offset, sink.kept?.()]).toEqual([S, S]);
  await pour(sink, whole.subarray(S));
  // However much reached the disk, a process that died begins again where the relay was told to go on.
  const rest = new Uint8Array(Buffer.concat(memory));
  for (const stored of [begun, 2 * R - 1, 2 * R, 3 * R - 1, 3 * R, 3 * R + 8, 3 * R + 9]) {
    disk = new Uint8Array(Buffer.concat([file.subarray(0, begun), rest.subarray(0, stored - begun)]));
    const told = sink.kept?.();
    const next = await (await open({ transfer })).sinkFor(0, holding);
    expect([stored, told]).toEqual([stored, next.offset]);
    expect([stored, told]).toEqual([stored, Math.floor(stored / R) * S]);
  }
  expect(Buffer.compare(disk, file)).toBe(0);
  await sink.close();
  expect(sink.kept?.()).toBe(whole.length);
});

test('bytes that changed on the disk between two processes get no name', async () => {
  const file = bytesOf(R + 50);
  const { transfer, sources } = await offer([sourceOf(file, 'a')]);
  const { kept, openFile } = keptFile();
  kept.bytes = file.slice(0, R + 20);
  kept.bytes[7] = (kept.bytes[7] ?? 0) ^ 1;
  const sink = await (await open({ transfer })).sinkFor(0, openFile);
  expect(sink.offset).toBe(R + 28);
  await pour(sink, await sealedBytes(sources[0] as FileSource, sink.offset));
  expect([await codeOf(Promise.resolve(sink.close())), kept.closed]).toEqual(['digest_mismatch', 0]);
  kept.bytes = new Uint8Array(R + 51);
  expect(await codeOf((await open({ transfer })).sinkFor(0, openFile))).toBe('sink_failed');
});

test('a source that changed while it was sent fails at the receiver', async () => {
  const [before, after] = [bytesOf(R + 50), bytesOf(R + 50)];
  after[R + 10] = (after[R + 10] ?? 0) ^ 1;
  let now = before;
  const source: FileSource = { ...sourceOf(before, 'log'), open: (at) => new Blob([now.slice(at)]).stream() };
  const { transfer, sources } = await offer([source], ID, false);
  const sink = await (await open({ transfer })).sinkFor(0, keptFile().openFile);
  await pour(sink, (await sealedBytes(sources[0] as FileSource)).subarray(0, R + 40));
  now = after;
  const rest = await sealedBytes(sources[0] as FileSource, R + 40);
  expect(await codeOf(pour(sink, rest))).toBe('record_damaged');
});

test('a file whose reading fails is closed', async () => {
  let inUse = 0;
  const source: FileSource = {
    ...{ name: 'a', size: 3 * R, replayable: true },
    open: () => {
      throw new Error('not used');
    },
    pieces() {
      inUse += 1;
      return { at: () => Promise.reject(new Error('the disk is gone')), close: () => void (inUse -= 1) };
    },
  };
  const { sources } = await offer([source], ID, false);
  const reader = (await sources[0]?.open(0, never))?.getReader();
  expect([await codeOf(reader?.read() ?? Promise.resolve()), inUse]).toEqual(['the disk is gone', 0]);
});

test('a stream that can be read once is sealed as it is read, and ends with an error where it is too short', async () => {
  const file = bytesOf(R + 5);
  const about = (size: number) => ({ name: 'pipe', size });
  const { transfer, sources } = await offer([streamSource(new Blob([file]).stream(), about(file.length))]);
  const { kept, openFile } = keptFile();
  const sink = await (await open({ transfer })).sinkFor(0, openFile);
  await pour(sink, await sealedBytes(sources[0] as FileSource));
  await sink.close();
  expect(Buffer.compare(kept.bytes, file)).toBe(0);
  const short = await offer([streamSource(new Blob([file]).stream(), about(file.length + 1))]);
  const failing = (await short.sources[0]?.open(0, never)) as ReadableStream<Uint8Array>;
  expect(await codeOf(new Response(failing).arrayBuffer())).toBe('source_failed');
});

test('what a service changes, swaps, misattributes or repeats is refused with a sentence', async () => {
  const [one, two] = [sourceOf(bytesOf(5), 'a'), sourceOf(bytesOf(6), 'b')];
  const { transfer } = await offer([one, two]);
  const files = transfer.files ?? [];
  const kindOf = async (changed: Partial<Transfer>, id = ID) => {
    const { received } = await open({ transfer: { ...transfer, transfer_id: id, ...changed } });
    return 'problem' in received ? received.problem.code : received.kind;
  };
  expect(await kindOf({ sealed: `${transfer.sealed?.slice(0, -4)}AAAA` })).toBe('cannot_open');
  expect(await kindOf({ sender: { device_id: 'phone-1', name: 'Phone' } })).toBe('cannot_open');
  expect(await kindOf({ sender: { device_id: 'unknown', name: 'Laptop' } })).toBe('cannot_open');
  expect(await kindOf({ files: files.slice(0, 1), file_count: 1 })).toBe('cannot_open');
  expect(await kindOf({ files: [...files].reverse() })).toBe('cannot_open');
  expect(await kindOf({ files: files.map((file) => ({ ...file, size: file.size + 1 })) })).toBe('cannot_open');
  expect(await kindOf({ sealed: '' })).toBe('not_sealed');
  // The same transfer may be announced again. Another transfer with its description may not.
  expect([await kindOf({}), await kindOf({})]).toEqual(['opened', 'opened']);
  expect(await kindOf({}, OTHER_ID)).toBe('sent_before');
  expect(await kindOf({ sealed: null })).toBe('plain');
});

test('files of a device that was removed are refused', async () => {
  const { transfer } = await offer([sourceOf(bytesOf(5), 'a')]);
  const without = await makeNextRing(pair.theirs.ring, pair.theirs, { remove: ['laptop-1'] }, NOW);
  const newer = { ...pair.theirs, rings: [...pair.theirs.rings, without], ring: without };
  const { received } = await open({ transfer }, pair.phone, newer);
  expect(received).toMatchObject({ kind: 'refused', problem: { code: 'not_a_member' } });
});

test.each(['../up', '/etc/passwd', '', 'a\\b', 'x'.repeat(300)])('the name %j of a sender is refused', async (name) => {
  const { sealed } = await sealTransfer(pair.own, { to: 'phone-1', files: [{ name, type: '', size: 1 }], t: NOW });
  const { received } = await open({ transfer: transferOf([{ name: '0.bin', size: sealedSizeOf(1) }], sealed) });
  expect(received).toMatchObject({ kind: 'refused', problem: { code: 'cannot_open' } });
});

test('nothing is sealed for a device without keys, or while a removed device has the key, and a device without keys is told', async () => {
  const files = [sourceOf(bytesOf(5), 'a')];
  const seal = (keyring: Keyring, to: string) => codeOf(pair.laptop.seal(keyring, { to, files }));
  expect(await seal(pair.own, 'old-1')).toBe('unkeyed_receiver');
  const removed = { ...pair.own, removed: new Set(['phone-1']) };
  expect(await seal(removed, 'phone-1')).toBe('rotation_due');
  const { received } = await open(await offer(files), pair.phone, null);
  expect(received).toMatchObject({
    kind: 'refused',
    problem: { code: 'unkeyed', message: expect.stringContaining('no keys') },
  });
});
