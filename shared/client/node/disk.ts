import { createHash } from 'node:crypto';
import { type BigIntStats, close, constants, fdatasync, fstatSync, openSync, read, write } from 'node:fs';
import { promisify } from 'node:util';

/* Works on files by their handles. The file behind a name may change; the file behind a handle does not. */

/** Windows has none of these flags, and needs none. */
const flag = (name: 'O_NOFOLLOW' | 'O_DIRECTORY' | 'O_NONBLOCK'): number =>
  (constants as Partial<Record<string, number>>)[name] ?? 0;

const NO_LINK = flag('O_NOFOLLOW') | flag('O_NONBLOCK');
export const OPEN = {
  /** An existing file is an error, and so is a link. */
  new: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NO_LINK,
  old: constants.O_RDWR | NO_LINK,
  read: constants.O_RDONLY | NO_LINK,
  folder: constants.O_RDONLY | flag('O_DIRECTORY') | NO_LINK,
} as const;

export const closeFile = promisify(close);
export const syncFile = promisify(fdatasync);
const readFrom = promisify(read);
const writeTo = promisify(write);

/** Identifies a file as long as it exists, whatever its name is. */
export const idOf = ({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string => `${dev}:${ino}`;
export const idOfHandle = (fd: number): string => idOf(fstatSync(fd, { bigint: true }));

export async function writeAt(fd: number, bytes: Uint8Array, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await writeTo(fd, bytes, at, bytes.length - at, offset + at)).bytesWritten;
  }
}

export async function readWhole(fd: number, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  for (let at = 0, got = -1; at < size && got !== 0; at += got) {
    got = (await readFrom(fd, bytes, at, size - at, at)).bytesRead;
  }
  return bytes;
}

const BLOCK_BYTES = 1024 * 1024;

/** Returns the size and the digest of the file as it is now, from beginning to end. */
export async function digestOfHandle(fd: number): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  const block = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(1, fstatSync(fd).size)));
  for (let size = 0; ; ) {
    const { bytesRead } = await readFrom(fd, block, 0, block.length, size);
    if (bytesRead === 0) return { size, sha256: hash.digest('hex') };
    hash.update(block.subarray(0, bytesRead));
    size += bytesRead;
  }
}

/** Returns the id, size and digest of a file by its name; null if the name is a link, no plain file, or free. */
export async function digestOfFile(path: string): Promise<{ id: string; size: number; sha256: string } | null> {
  let fd: number;
  try {
    fd = openSync(path, OPEN.read);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(fd).isFile()) return null;
    return { id: idOfHandle(fd), ...(await digestOfHandle(fd)) };
  } finally {
    await closeFile(fd);
  }
}
