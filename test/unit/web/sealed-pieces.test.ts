import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, openAsBlob, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Pieces } from '../../../shared/client/index.ts';
import { makeRecords, sealFrom } from '../../../shared/client/sealed/content/records.ts';

/*
 * The worker of the app reads and encrypts a file, piece by piece. Both sides are the app's own code. Here they run in one
 * thread, but their messages are copied as between two.
 */

const MIB = 1024 * 1024;

type Listener = (event: { data: unknown }) => void;
const listeners: { worker: Listener[]; page: Listener[] } = { worker: [], page: [] };

/** Delivers a copy, as a browser does, and takes transferred memory away from the sender. */
function deliver(to: Listener[], message: unknown, moved: Transferable[]): void {
  const data: unknown = structuredClone(message, { transfer: moved as ArrayBuffer[] });
  setImmediate(() => {
    for (const listen of to) listen({ data });
  });
}

class OneThread {
  postMessage(message: unknown, moved: Transferable[]): void {
    deliver(listeners.worker, message, moved);
  }
  addEventListener(name: string, listen: Listener): void {
    if (name === 'message') listeners.page.push(listen);
  }
}

Object.assign(globalThis, {
  window: {},
  Worker: OneThread,
  self: {
    postMessage: (message: unknown, moved: Transferable[]) => deliver(listeners.page, message, moved),
    addEventListener: (_: string, listen: Listener) => listeners.worker.push(listen),
  },
});
const { sealedPieces } = await import('../../../services/web/files/sealed-pieces.ts');
await import('../../../services/web/files/file-worker.ts');

async function makeFile(size: number) {
  const plain = new Uint8Array(randomBytes(size));
  const [index, key, id] = [0, new Uint8Array(randomBytes(32)), randomUUID()];
  const records = await makeRecords(key, { transferId: id, index, size });
  const parts: Uint8Array[] = [];
  for await (const part of sealFrom(records, (start, length) => plain.subarray(start, start + length)))
    parts.push(part);
  const about = { index, key, size: records.sealedSize, transferId: Promise.resolve(id) };
  return { file: new File([plain], 'film.bin'), about, sealed: Buffer.concat(parts) };
}

/** Reads from an offset to the end, as a path to another device does. */
async function restFrom(pieces: Pieces, size: number, offset: number): Promise<Buffer> {
  const found: Uint8Array[] = [];
  for (let at = offset; at < size; ) {
    const piece = await pieces.at(at, MIB);
    found.push(Uint8Array.from(piece));
    at += piece.length;
  }
  return Buffer.concat(found);
}

/** Reads a part as the service gets it. */
async function bodyAt(pieces: Pieces, offset: number, bytes: number): Promise<Buffer> {
  const body = (await pieces.body?.(offset, bytes)) ?? new Blob();
  return Buffer.from(await body.arrayBuffer());
}

test('a file comes sealed, to the last byte', async () => {
  const { file, about, sealed } = await makeFile(3 * MIB + 17);
  const pieces = sealedPieces(file, about);
  expect((await restFrom(pieces, about.size, 0)).equals(sealed)).toBe(true);
  expect((await bodyAt(pieces, MIB, 2 * MIB)).equals(sealed.subarray(MIB, 3 * MIB))).toBe(true);
  pieces.close();
});

test('a receiver goes back while the next piece is sealed', async () => {
  const { file, about, sealed } = await makeFile(4 * MIB);
  const pieces = sealedPieces(file, about);
  for (const offset of [0, 2 * MIB, 5, 262_172, 3 * MIB, 1]) {
    // The piece after this one is already under way when the reader goes elsewhere.
    const piece = await pieces.at(offset, MIB);
    expect(Buffer.from(piece).equals(sealed.subarray(offset, offset + piece.length))).toBe(true);
  }
  expect((await restFrom(pieces, about.size, 7)).equals(sealed.subarray(7))).toBe(true);
  pieces.close();
});

test('the service gets parts while another device reads', async () => {
  const { file, about, sealed } = await makeFile(4 * MIB);
  const pieces = sealedPieces(file, about);
  const rest = restFrom(pieces, about.size, 11);
  for (const offset of [MIB, 0, 3 * MIB]) {
    expect((await bodyAt(pieces, offset, MIB)).equals(sealed.subarray(offset, offset + MIB))).toBe(true);
  }
  expect((await rest).equals(sealed.subarray(11))).toBe(true);
  pieces.close();
});

test('a file that changed on the disk fails, and the next file does not', async () => {
  const { file, about } = await makeFile(2 * MIB);
  const path = join(mkdtempSync(join(tmpdir(), 'baton-pieces-')), 'film.bin');
  writeFileSync(path, Buffer.from(await file.arrayBuffer()));
  const stored = new File([await openAsBlob(path)], 'film.bin');
  truncateSync(path, MIB);
  const pieces = sealedPieces(stored, about);
  await expect(restFrom(pieces, about.size, 0)).rejects.toMatchObject({ code: 'source_failed' });
  pieces.close();
  rmSync(dirname(path), { recursive: true });
  const next = await makeFile(MIB);
  const whole = sealedPieces(next.file, next.about);
  expect((await restFrom(whole, next.about.size, 0)).equals(next.sealed)).toBe(true);
  whole.close();
});
