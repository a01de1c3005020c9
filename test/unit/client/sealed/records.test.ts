import fc from 'fast-check';
import {
  keyIn,
  keyText,
  makeRecords,
  openFrom,
  RECORD_BYTES,
  recordAt,
  recordWith,
  type Records,
  sealAhead,
  sealedSizeOf,
  sealFrom,
} from '../../../../shared/client/sealed/content/records.ts';
import { type Bytes, concat, randomBytes } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { nodeRecordCipher } from '../../../../shared/client/node/record-cipher.ts';
import { codeOf } from './people.ts';

const KEY = randomBytes(32);
const ID = '018f3c4e-7b1a-7cde-8f00-0123456789ab';
const OTHER_ID = '018f3c4e-7b1a-7cde-8f00-0123456789ac';
const R = RECORD_BYTES;

const CIPHERS = [
  ['WebCrypto', undefined],
  ['Node', nodeRecordCipher],
] as const;

const recordsOf = (size: number, says: Partial<{ transferId: string; index: number }> = {}, key = KEY) =>
  makeRecords(key, { transferId: ID, index: 0, size, ...says });

function fileOf(size: number): Bytes {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = (at * 31 + (at >> 8)) & 255;
  return bytes;
}

async function sealAll(records: Records, file: Bytes, offset = 0): Promise<Bytes> {
  const pieces: Bytes[] = [];
  for await (const piece of sealFrom(records, (start, length) => file.slice(start, start + length), offset)) {
    pieces.push(piece);
  }
  return concat(...pieces);
}

async function openAll(records: Records, sealed: Bytes, first = 0, piece = 100_000): Promise<Bytes> {
  const opening = openFrom(records, first);
  const opened: Bytes[] = [];
  for (let at = 0; at < sealed.length; at += piece)
    opened.push(...(await opening.push(sealed.subarray(at, at + piece))));
  opening.finish();
  return concat(...opened);
}

test.each([0, 1, R - 1, R, R + 1])(
  'the cipher of Node seals %d bytes as WebCrypto does, and opens what that sealed',
  async (size) => {
    const about = { transferId: ID, index: 3, size };
    const [web, node] = [await makeRecords(KEY, about), await makeRecords(KEY, about, nodeRecordCipher)];
    const [sealed, file] = [await sealAll(web, fileOf(size)), fileOf(size)];
    expect(Buffer.compare(await sealAll(node, file), sealed)).toBe(0);
    expect(Buffer.compare(await openAll(node, sealed), file)).toBe(0);
  },
);

test.each([0, 1, R - 1, R, R + 1, 2 * R, 2 * R + 5])('a file of %d bytes', async (size) => {
  const [records, file] = [await recordsOf(size), fileOf(size)];
  const sealed = await sealAll(records, file);
  expect(sealed.length).toBe(sealedSizeOf(size));
  expect(sealed.length).toBe(size + 28 * Math.max(1, Math.ceil(size / R)));
  expect(Buffer.compare(await openAll(records, sealed), file)).toBe(0);
});

test('records that are sealed and opened at once are the same as one after the other', async () => {
  const size = 3 * R + 5;
  const [records, file] = [await recordsOf(size), fileOf(size)];
  const sealedAt = (whole: Bytes, record: number) => whole.slice(record * (R + 28), (record + 1) * (R + 28));
  const all = Array.from({ length: records.count }, (_, record) => record);
  const whole = await sealAll(records, file);
  const sealed = await Promise.all(all.map((record) => records.seal(record, file.slice(record * R, (record + 1) * R))));
  expect(Buffer.compare(concat(...sealed), whole)).toBe(0);
  const opened = await Promise.all(all.map((record) => records.open(record, sealedAt(whole, record))));
  expect(Buffer.compare(concat(...opened), file)).toBe(0);
});

test('sealing goes on at any byte, and opening at any record, with the same bytes', async () => {
  const size = 2 * R + 777;
  const [records, file] = [await recordsOf(size), fileOf(size)];
  const whole = await sealAll(records, file);
  const edges = [0, R, R + 28, 2 * (R + 28), whole.length].flatMap((at) => [at - 1, at, at + 1]);
  const offset = fc.oneof(
    fc.constantFrom(...edges.filter((at) => at >= 0 && at <= whole.length)),
    fc.integer({ min: 0, max: whole.length }),
  );
  await fc.assert(
    fc.asyncProperty(offset, fc.integer({ min: 1_000, max: 300_000 }), async (at, piece) => {
      const rest = await sealAll(records, file, at);
      expect(Buffer.compare(rest, whole.subarray(at))).toBe(0);
      const ahead: Bytes[] = [];
      // The source reuses its memory.
      const reused = new Uint8Array(R);
      const read = (begin: number, length: number) => {
        reused.set(file.subarray(begin, begin + length));
        return reused.subarray(0, length);
      };
      for await (const part of sealAhead(records, read, at)) ahead.push(part);
      expect(Buffer.compare(concat(...ahead), whole.subarray(at))).toBe(0);
      const { record, sealedStart, start } = recordAt(Math.min(at, whole.length - 1));
      const opened = await openAll(records, whole.slice(sealedStart), record, piece);
      expect(Buffer.compare(opened, file.subarray(start))).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test('a part that is stored continues with the record in which it stopped, and the last one comes again in any case', async () => {
  const size = 2 * R + 777;
  const [records, file] = [await recordsOf(size), fileOf(size)];
  const whole = await sealAll(records, file);
  for (const stored of [0, 1, R - 1, R, R + 1, 2 * R, 2 * R + 1, size]) {
    const { record, sealedStart, start } = recordWith(records, stored);
    expect([stored, start <= stored, stored - start <= R, record]).toEqual([
      stored,
      true,
      true,
      Math.min(2, Math.floor(stored / R)),
    ]);
    expect(Buffer.compare(await openAll(records, whole.slice(sealedStart), record), file.subarray(start))).toBe(0);
  }
  const even = await recordsOf(2 * R);
  expect(recordWith(even, 2 * R)).toEqual({ record: 1, sealedStart: R + 28, start: R });
  expect(recordWith(await recordsOf(0), 0)).toEqual({ record: 0, sealedStart: 0, start: 0 });
});

test('only the bytes of one record of the file are sealed', async () => {
  const records = await recordsOf(R + 1);
  const refused: [number, number][] = [
    [-1, R],
    [0.5, R],
    [Number.NaN, R],
    [2, R],
    [0, R - 1],
    [0, 1],
    [1, R],
    [1, 0],
  ];
  for (const [record, length] of refused) {
    await expect(records.seal(record, new Uint8Array(length))).rejects.toThrow(TypeError);
  }
  expect(await records.seal(0, new Uint8Array(R))).toHaveLength(R + 28);
  expect(await records.seal(1, new Uint8Array(1))).toHaveLength(29);
});

test('a record under another number, or of another length, is damaged', async () => {
  const records = await recordsOf(R + 1);
  const sealed = await records.seal(1, new Uint8Array(1));
  const wrong: [number, Bytes][] = [
    [0, sealed],
    [2, sealed],
    [-1, sealed],
    [1, sealed.slice(1)],
    [1, sealed.slice(0, -1)],
    [1, concat(sealed, new Uint8Array(1))],
    [1, new Uint8Array()],
  ];
  for (const [record, bytes] of wrong) expect(await codeOf(records.open(record, bytes))).toBe('record_damaged');
  expect(await records.open(1, sealed)).toHaveLength(1);
});

test('a record has 256 KiB of the file and 28 bytes beside them, and an empty file has one', () => {
  expect([0, 262_144, 262_145].map(sealedSizeOf)).toEqual([28, 262_172, 262_201]);
});

test('a changed source never meets the same nonce with other bytes', async () => {
  const records = await recordsOf(10);
  const [one, again, other] = await Promise.all([
    records.seal(0, fileOf(10)),
    records.seal(0, fileOf(10)),
    records.seal(0, new Uint8Array(10)),
  ]);
  expect(one).toEqual(again);
  expect(one.slice(0, 12)).not.toEqual(other.slice(0, 12));
});

test('what is truncated, reordered, repeated, of another file, transfer or key is refused', async () => {
  const size = 2 * R + 9;
  const [records, file] = [await recordsOf(size), fileOf(size)];
  const whole = await sealAll(records, file);
  const S = R + 28;
  const [one, two, three] = [whole.slice(0, S), whole.slice(S, 2 * S), whole.slice(2 * S)];
  const open = (sealed: Bytes, by = records) => codeOf(openAll(by, sealed));

  expect(await open(whole)).toBe('taken');
  for (const [what, sealed] of Object.entries({
    'the end missing': concat(one, two),
    'half a record': whole.slice(0, -1),
    nothing: new Uint8Array(),
    'two records in the other order': concat(two, one, three),
    'one twice': concat(one, one, three),
    'more behind the end': concat(whole, new Uint8Array(1)),
  })) {
    expect(`${what}: ${await open(sealed)}`).toBe(`${what}: record_damaged`);
  }
  expect(await open(whole, await recordsOf(size, { index: 1 }))).toBe('record_damaged');
  expect(await open(whole, await recordsOf(size, { transferId: OTHER_ID }))).toBe('record_damaged');
  expect(await open(whole, await recordsOf(size, {}, randomBytes(32)))).toBe('record_damaged');
  // The flag of the last record depends on the size in the description.
  expect(await open(concat(one, two), await recordsOf(2 * R))).toBe('record_damaged');
  expect(await open(whole.slice(0, S), await recordsOf(R))).toBe('record_damaged');
  expect(await codeOf(records.seal(3, new Uint8Array()))).not.toBe('taken');
  expect(await codeOf(recordsOf(1, { transferId: 'no-uuid' }))).not.toBe('taken');
});

test.each(CIPHERS)('no bit of a record can change, its nonce included: %s', async (_, cipher) => {
  const records = await makeRecords(KEY, { transferId: ID, index: 0, size: 50 }, cipher);
  const sealed = await records.seal(0, fileOf(50));
  for (let at = 0; at < sealed.length; at++) {
    const other = sealed.slice();
    other[at] = (other[at] ?? 0) ^ 0x80;
    expect(await codeOf(records.open(0, other))).toBe('record_damaged');
  }
});

test.each(CIPHERS)('a record whose nonce was not made of its bytes is refused: %s', async (_, cipher) => {
  const about = { transferId: ID, index: 0, size: 50 };
  const other = await makeRecords(KEY, about, (keys) => nodeRecordCipher({ ...keys, nonce: randomBytes(32) }));
  const sealed = await other.seal(0, fileOf(50));
  expect(await codeOf((await makeRecords(KEY, about, cipher)).open(0, sealed))).toBe('record_damaged');
});

test.each([5, R, 2 * R + 5])('sealing %d bytes reads none behind their end, and gives no empty piece', async (size) => {
  const [records, file] = [await recordsOf(size), fileOf(size)];
  const whole = await sealAll(records, file);
  const read = (start: number, length: number) => {
    expect(start + length).toBeLessThanOrEqual(size);
    return file.slice(start, start + length);
  };
  for (const seal of [sealFrom, sealAhead]) {
    for (const offset of [undefined, 0, 12, whole.length - 16, whole.length]) {
      const pieces: Bytes[] = [];
      for await (const piece of seal(records, read, offset)) pieces.push(piece);
      expect(pieces.filter(({ length }) => length === 0)).toEqual([]);
      expect(Buffer.compare(concat(...pieces), whole.slice(offset ?? 0))).toBe(0);
    }
  }
});

test.each([5, 2 * R])('a byte behind the last record of %d bytes is damage at once', async (size) => {
  const [records, file] = [await recordsOf(size), fileOf(size)];
  const opening = openFrom(records);
  await opening.push(await sealAll(records, file));
  expect(await codeOf(opening.push(new Uint8Array(1)))).toBe('record_damaged');
});

test('opening may begin behind the last record, where nothing may come any more', async () => {
  const records = await recordsOf(5);
  const opening = openFrom(records, records.count);
  expect(await codeOf(opening.push(new Uint8Array(1)))).toBe('record_damaged');
  openFrom(records, records.count).finish();
});

test('the key of a transfer is kept as text, and a text of another length is none', () => {
  expect(keyIn(keyText(KEY))).toEqual(KEY);
  expect([31, 33].map((length) => keyIn(keyText(randomBytes(length))))).toEqual([null, null]);
  expect(keyIn('no key!')).toBeNull();
});
