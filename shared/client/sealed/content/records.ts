import { aesKey, aesOpen, aesSeal, NONCE_BYTES, TAG_BYTES } from '../primitives/aes.ts';
import { type Bytes, concat, fromBase64url, isSame, toBase64url, u32, u64, utf8 } from '../primitives/bytes.ts';
import { hkdf, hmac, hmacKey } from '../primitives/hkdf.ts';
import { sealedError } from '../sealed-error.ts';

/** How many bytes of a file are sealed together. */
export const RECORD_BYTES = 256 * 1024;
/** The bytes of a record besides its content. */
const RECORD_OVERHEAD = NONCE_BYTES + TAG_BYTES;
/** The bytes of every record but the last one, as they are sent. */
export const SEALED_RECORD = RECORD_BYTES + RECORD_OVERHEAD;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** The records of one file of a transfer. */
export interface Records {
  /** The size of the file before it is sealed. */
  readonly size: number;
  /** The number of sealed bytes. */
  readonly sealedSize: number;
  /** How many records there are; at least one. */
  readonly count: number;
  /** Seals all bytes of this record. */
  seal(record: number, plain: Bytes): Promise<Bytes>;
  /** Seals them in parts that follow each other, which saves a copy. The bytes may be reused once it returns. */
  sealParts(record: number, plain: Bytes): Promise<SealedParts>;
  /** Opens a record. Throws `record_damaged` unless it is this record of this file, sealed with the key. */
  open(record: number, sealed: Bytes): Promise<Bytes>;
}

/** Reads bytes of a file. */
export type ReadBytes = (start: number, length: number) => Promise<Bytes> | Bytes;

const recordCount = (size: number): number => Math.max(1, Math.ceil(size / RECORD_BYTES));

/** Returns the number of sealed bytes for a file of this size. */
export const sealedSizeOf = (size: number): number => size + recordCount(size) * RECORD_OVERHEAD;

const idBytes = (transferId: string): Bytes => {
  if (!UUID.test(transferId)) throw new TypeError('the id of a transfer is a UUID');
  return new Uint8Array(
    transferId
      .replaceAll('-', '')
      .match(/../g)
      ?.map((pair) => Number.parseInt(pair, 16)) ?? [],
  );
};

/** The two keys of one file. */
export interface RecordKeys {
  readonly enc: Bytes;
  readonly nonce: Bytes;
}

/** Seals and opens single records: the nonce is the beginning of an HMAC over AAD and content. */
export interface RecordCipher {
  /** The content may be reused once it returns. */
  seal(aad: Bytes, plain: Bytes): SealedParts | Promise<SealedParts>;
  /** Returns null if the record is not genuine, including its nonce. */
  open(aad: Bytes, nonce: Bytes, sealed: Bytes): Bytes | null | Promise<Bytes | null>;
}

/** The parts of a record that follow each other: nonce, ciphertext and tag. */
export type SealedParts = readonly Bytes[];

/** Makes the cipher of one file. A platform may have a faster way to the same bytes than WebCrypto. */
export type MakeRecordCipher = (keys: RecordKeys) => RecordCipher | Promise<RecordCipher>;

const webRecordCipher: MakeRecordCipher = async (keys) => {
  const [encKey, nonceKey] = await Promise.all([aesKey(keys.enc), hmacKey(keys.nonce)]);
  /** Memory that is filled again. In a page, new memory for each record takes as long as its encryption. */
  const free: Bytes[] = [];
  /** Calls `work` with `aad || plain` in one piece, which is valid until `work` resolves. */
  async function joined<T>(aad: Bytes, plain: Bytes, work: (both: Bytes) => Promise<T>): Promise<T> {
    const length = aad.length + plain.length;
    const spare = free.pop();
    // The first record of a file is never shorter than a later one.
    const memory = spare !== undefined && spare.length >= length ? spare : new Uint8Array(length);
    memory.set(aad);
    memory.set(plain, aad.length);
    try {
      return await work(memory.subarray(0, length));
    } finally {
      free.push(memory);
    }
  }
  const nonceOf = async (both: Bytes) => (await hmac(nonceKey, both)).slice(0, NONCE_BYTES);
  return {
    seal: (aad, plain) =>
      joined(aad, plain, async (both) => {
        const nonce = await nonceOf(both);
        return [nonce, await aesSeal(encKey, nonce, aad, both.subarray(aad.length))];
      }),
    async open(aad, nonce, sealed) {
      const plain = await aesOpen(encKey, nonce, aad, sealed);
      return plain !== null && isSame(await joined(aad, plain, nonceOf), nonce) ? plain : null;
    },
  };
};

/**
 * Makes the records of a file: 256 KiB each, as `nonce 12 || ciphertext || tag 16`. The nonce is derived from the bytes, so
 * that a source that changed meanwhile never uses the same key and nonce for other bytes.
 */
export async function makeRecords(
  key: Bytes,
  { transferId, index, size }: { transferId: string; index: number; size: number },
  makeCipher: MakeRecordCipher = webRecordCipher,
): Promise<Records> {
  const id = idBytes(transferId);
  const derived = (name: string): Promise<Bytes> => hkdf(key, concat(utf8(name), u32(index)));
  const [enc, nonceKey] = await Promise.all([derived('enc'), derived('nonce')]);
  const cipher = await makeCipher({ enc, nonce: nonceKey });
  const count = recordCount(size);
  const lengthOf = (record: number): number => (record === count - 1 ? size - record * RECORD_BYTES : RECORD_BYTES);
  const aadOf = (record: number): Bytes =>
    concat(id, u32(index), u64(record), Uint8Array.of(record === count - 1 ? 1 : 0));
  const isRecord = (record: number) => Number.isSafeInteger(record) && record >= 0 && record < count;

  async function sealParts(record: number, plain: Bytes): Promise<SealedParts> {
    if (!isRecord(record) || plain.length !== lengthOf(record)) throw new TypeError('not the bytes of this record');
    return cipher.seal(aadOf(record), plain);
  }

  return {
    ...{ size, count, sealedSize: sealedSizeOf(size), sealParts },
    seal: async (record, plain) => concat(...(await sealParts(record, plain))),
    async open(record, sealed) {
      if (!isRecord(record) || sealed.length !== lengthOf(record) + RECORD_OVERHEAD) {
        throw sealedError('record_damaged');
      }
      const plain = await cipher.open(aadOf(record), sealed.slice(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES));
      if (plain === null) throw sealedError('record_damaged');
      return plain;
    },
  };
}

/** Yields the sealed bytes from any offset on: a path may begin wherever the one before it ended. */
export async function* sealFrom(records: Records, read: ReadBytes, offset = 0): AsyncGenerator<Bytes, void, void> {
  const first = Math.floor(offset / SEALED_RECORD);
  for (let record = first; record < records.count; record++) {
    const start = record * RECORD_BYTES;
    const sealed = await records.seal(record, await read(start, Math.min(RECORD_BYTES, records.size - start)));
    const skipped = record === first ? offset - first * SEALED_RECORD : 0;
    if (skipped < sealed.length) yield skipped === 0 ? sealed : sealed.slice(skipped);
  }
}

/** Yields the same bytes in smaller pieces, and seals the next record while one is taken. */
export async function* sealAhead(records: Records, read: ReadBytes, offset = 0): AsyncGenerator<Bytes, void, void> {
  const sealAt = async (record: number) => {
    const start = record * RECORD_BYTES;
    return records.sealParts(record, await read(start, Math.min(RECORD_BYTES, records.size - start)));
  };
  const first = Math.floor(offset / SEALED_RECORD);
  let skipped = offset - first * SEALED_RECORD;
  let next = first < records.count ? sealAt(first) : null;
  for (let record = first; next !== null; record += 1) {
    const parts: readonly Bytes[] = await next;
    next = record + 1 < records.count ? sealAt(record + 1) : null;
    // An error is thrown when its record is due, and never if nobody asks for that record.
    next?.catch(() => {});
    for (const part of parts) {
      const rest = part.subarray(skipped);
      skipped -= part.length - rest.length;
      if (rest.length > 0) yield rest;
    }
  }
}

/** Returns where this record begins among the sealed bytes. */
const sealedOffsetOf = (record: number): number => record * SEALED_RECORD;

/** Returns where the record with this sealed byte begins. Opening begins there again. */
export function recordAt(sealedOffset: number): { record: number; sealedStart: number; start: number } {
  const record = Math.floor(sealedOffset / SEALED_RECORD);
  return { record, sealedStart: sealedOffsetOf(record), start: record * RECORD_BYTES };
}

/**
 * Returns where the record with this byte of the file begins; the last record if the byte is after the end. A receiver that
 * has stored `offset` bytes continues there.
 */
export function recordWith({ count }: Records, offset: number): { record: number; sealedStart: number; start: number } {
  const record = Math.min(Math.floor(offset / RECORD_BYTES), count - 1);
  return { record, sealedStart: sealedOffsetOf(record), start: record * RECORD_BYTES };
}

/** Takes sealed bytes in pieces of any length, and gives the bytes of each record when it is complete and genuine. */
export interface Opening {
  /** Returns the bytes of the records that this piece completes. */
  push(piece: Uint8Array): Promise<Bytes[]>;
  /** Throws `record_damaged` unless every record came, including the last one, and nothing after it. */
  finish(): void;
}

/** Makes the opening of a file from the beginning of a record on. */
export function openFrom(records: Records, first = 0): Opening {
  let record = first;
  const lengthNow = () => Math.min(RECORD_BYTES, records.size - record * RECORD_BYTES) + RECORD_OVERHEAD;
  // No later record is longer.
  const waiting = new Uint8Array(first < records.count ? lengthNow() : 0);
  let filled = 0;
  return {
    async push(piece) {
      const opened: Bytes[] = [];
      for (let at = 0; at < piece.length; ) {
        if (record === records.count) throw sealedError('record_damaged');
        const length = lengthNow();
        const taken = piece.subarray(at, at + length - filled);
        waiting.set(taken, filled);
        filled += taken.length;
        at += taken.length;
        if (filled < length) break;
        opened.push(await records.open(record, waiting.subarray(0, length)));
        filled = 0;
        record += 1;
      }
      return opened;
    },
    finish() {
      if (record !== records.count || filled > 0) throw sealedError('record_damaged');
    },
  };
}

/** Encodes the key of a transfer as text, for a program that resumes it after a restart. */
export const keyText = toBase64url;

/** Decodes the text of {@link keyText}; null for anything else. */
export function keyIn(text: string): Bytes | null {
  const key = fromBase64url(text);
  return key?.length === 32 ? key : null;
}
