import { aesKey, aesOpen, aesSeal, NONCE_BYTES, TAG_BYTES } from '../primitives/aes.ts';
import { type Bytes, concat, fromBase64url, isSame, toBase64url, u32, u64, utf8 } from '../primitives/bytes.ts';
import { hkdf, hmac, hmacKey } from '../primitives/hkdf.ts';
import { sealedError } from '../sealed-error.ts';

/** So many bytes of a file are sealed together. */
export const RECORD_BYTES = 256 * 1024;
/** What a record takes beside its bytes. */
const RECORD_OVERHEAD = NONCE_BYTES + TAG_BYTES;
const SEALED_RECORD = RECORD_BYTES + RECORD_OVERHEAD;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** The records of one file of a transfer. */
export interface Records {
  /** The bytes of the file, before they are sealed. */
  readonly size: number;
  /** The bytes that travel. */
  readonly sealedSize: number;
  /** How many records there are; at least one. */
  readonly count: number;
  /** Seals the bytes of this record, which have to be all of them. */
  seal(record: number, plain: Bytes): Promise<Bytes>;
  /** Throws `record_damaged` unless it is this record of this file, sealed by who has the key. */
  open(record: number, sealed: Bytes): Promise<Bytes>;
}

/** Bytes of a file. */
export type ReadBytes = (start: number, length: number) => Promise<Bytes> | Bytes;

const recordCount = (size: number): number => Math.max(1, Math.ceil(size / RECORD_BYTES));

/** The bytes that travel for a file of so many. */
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

/**
 * The records of a file: 256 KiB each, as `nonce 12 || ciphertext || tag 16`. The nonce comes of the bytes themselves, so that a
 * source that changed meanwhile never meets the same key and nonce with other bytes.
 */
export async function makeRecords(
  key: Bytes,
  { transferId, index, size }: { transferId: string; index: number; size: number },
): Promise<Records> {
  const id = idBytes(transferId);
  const [encKey, nonceKey] = await Promise.all([
    hkdf(key, concat(utf8('enc'), u32(index))).then(aesKey),
    hkdf(key, concat(utf8('nonce'), u32(index))).then(hmacKey),
  ]);
  const count = recordCount(size);
  const lengthOf = (record: number): number => (record === count - 1 ? size - record * RECORD_BYTES : RECORD_BYTES);
  const aadOf = (record: number): Bytes =>
    concat(id, u32(index), u64(record), Uint8Array.of(record === count - 1 ? 1 : 0));
  const nonceOf = async (aad: Bytes, plain: Bytes): Promise<Bytes> =>
    (await hmac(nonceKey, concat(aad, plain))).slice(0, NONCE_BYTES);
  const isRecord = (record: number) => Number.isSafeInteger(record) && record >= 0 && record < count;

  return {
    ...{ size, count, sealedSize: sealedSizeOf(size) },
    async seal(record, plain) {
      if (!isRecord(record) || plain.length !== lengthOf(record)) throw new TypeError('not the bytes of this record');
      const aad = aadOf(record);
      const nonce = await nonceOf(aad, plain);
      return concat(nonce, await aesSeal(encKey, nonce, aad, plain));
    },
    async open(record, sealed) {
      if (!isRecord(record) || sealed.length !== lengthOf(record) + RECORD_OVERHEAD) {
        throw sealedError('record_damaged');
      }
      const [aad, nonce] = [aadOf(record), sealed.slice(0, NONCE_BYTES)];
      const plain = await aesOpen(encKey, nonce, aad, sealed.slice(NONCE_BYTES));
      if (plain === null || !isSame(await nonceOf(aad, plain), nonce)) throw sealedError('record_damaged');
      return plain;
    },
  };
}

/** The bytes that travel, from any of them on: a path may begin wherever the one before it ended. */
export async function* sealFrom(records: Records, read: ReadBytes, offset = 0): AsyncGenerator<Bytes, void, void> {
  const first = Math.floor(offset / SEALED_RECORD);
  for (let record = first; record < records.count; record++) {
    const start = record * RECORD_BYTES;
    const sealed = await records.seal(record, await read(start, Math.min(RECORD_BYTES, records.size - start)));
    const skipped = record === first ? offset - first * SEALED_RECORD : 0;
    if (skipped < sealed.length) yield sealed.slice(skipped);
  }
}

/** Where the record begins that holds this byte of what travels: opening begins there again. */
export function recordAt(sealedOffset: number): { record: number; sealedStart: number; start: number } {
  const record = Math.floor(sealedOffset / SEALED_RECORD);
  return { record, sealedStart: record * SEALED_RECORD, start: record * RECORD_BYTES };
}

/** Takes what travels in pieces of any length, and gives the bytes of each record as soon as it is whole and genuine. */
export interface Opening {
  /** The bytes of the records that this piece completes. */
  push(piece: Uint8Array): Promise<Bytes[]>;
  /** Throws `record_damaged` unless every record came, the last one among them, and nothing behind it. */
  finish(): void;
}

/** Opens a file from the beginning of a record on. */
export function openFrom(records: Records, first = 0): Opening {
  let record = first;
  let pieces: Uint8Array[] = [];
  let waiting = 0;
  const lengthNow = () => Math.min(RECORD_BYTES, records.size - record * RECORD_BYTES) + RECORD_OVERHEAD;
  return {
    async push(piece) {
      pieces.push(piece);
      waiting += piece.length;
      const opened: Bytes[] = [];
      while (record < records.count && waiting >= lengthNow()) {
        const [length, all] = [lengthNow(), concat(...pieces)];
        opened.push(await records.open(record, all.slice(0, length)));
        pieces = [all.subarray(length)];
        waiting -= length;
        record += 1;
      }
      if (record === records.count && waiting > 0) throw sealedError('record_damaged');
      return opened;
    },
    finish() {
      if (record !== records.count || waiting > 0) throw sealedError('record_damaged');
    },
  };
}

/** The key of a transfer as text, for a program that goes on after a restart. */
export const keyText = toBase64url;

/** What {@link keyText} made; null for anything else. */
export function keyIn(text: string): Bytes | null {
  const key = fromBase64url(text);
  return key?.length === 32 ? key : null;
}
