import { Buffer } from 'node:buffer';

/**
 * Archives of plain files, as POSIX has them (`pax` interchange format, IEEE 1003.1). Any `tar` unpacks an archive that is
 * written here. Only archives of this form are read here: links, devices, folders, sparse files and other extensions are
 * refused, so that they need no rules.
 */

const BLOCK = 512;
/** The space for a name in the first header. A longer name, or one that is not ASCII, has a separate header before it. */
const NAME_BYTES = 100;
/** The largest number of eleven octal digits. */
const MOST = 0o77777777777;
const FILE = '0';
const EXTENDED = 'x';

export interface TarFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeSeconds: number;
}

const padded = (bytes: number): number => Math.ceil(bytes / BLOCK) * BLOCK;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

/** The parts that all headers share. */
const BLANK = Buffer.alloc(BLOCK);
BLANK.write(octal(0o644, 7) + octal(0, 7) + octal(0, 7), 100, 'latin1');
BLANK.fill(' ', 148, 156);
BLANK.write('ustar\x0000', 257, 'latin1');

function headerOf(name: string, size: number, mtimeSeconds: number, kind: string): Buffer {
  const header = Buffer.from(BLANK);
  header.write(name, 0, NAME_BYTES, 'latin1');
  header.write(octal(size, 11) + octal(Math.min(MOST, Math.max(0, mtimeSeconds)), 11), 124, 'latin1');
  header.write(kind, 156, 'latin1');
  header.write(octal(sumOf(header), 6), 148, 'latin1');
  return header;
}

function sumOf(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let sum = 0;
  // An index loop, because it runs for every byte of every header, and an iterator takes four times as long.
  for (let at = from; at < to; at += 1) sum += bytes[at] as number;
  return sum;
}

/** Returns the sum of a header in which the sum is written already. The sum is taken with eight spaces in that place. */
const writtenSumOf = (header: Uint8Array): number => sumOf(header, 0, 148) + 8 * 32 + sumOf(header, 156);

const isShort = (name: string): boolean => name.length <= NAME_BYTES && /^[ -~]*$/.test(name);

/** Returns a record such as `30 path=…`. The length in front is that of the whole record, including its own digits. */
function recordOf(name: string): Buffer {
  const bytes = Buffer.byteLength(name) + ' path=\n'.length;
  let length = bytes + String(bytes).length;
  if (String(length).length > String(bytes).length) length = bytes + String(length).length;
  return Buffer.from(`${length} path=${name}\n`);
}

const nameBytes = (name: string): number => (isShort(name) ? 0 : BLOCK + padded(recordOf(name).length));

/** Returns the bytes that a file takes in an archive. */
export const tarBytesOf = ({ name, size }: Pick<TarFile, 'name' | 'size'>): number =>
  nameBytes(name) + BLOCK + padded(size);

/** The end of an archive: two empty blocks. */
export const TAR_END_BYTES = 2 * BLOCK;

/** Returns the header before the bytes of a file. */
export function tarHeaderOf({ name, size, mtimeSeconds }: TarFile): Uint8Array {
  if (isShort(name)) return headerOf(name, size, mtimeSeconds, FILE);
  const record = recordOf(name);
  const extended = Buffer.alloc(padded(record.length));
  record.copy(extended);
  // The name for programs that do not read the other header.
  const plain = name.replace(/[^ -~]/gu, '_').slice(-NAME_BYTES);
  const before = headerOf('name', record.length, mtimeSeconds, EXTENDED);
  return Buffer.concat([before, extended, headerOf(plain, size, mtimeSeconds, FILE)]);
}

const refused = (why: string): Error => new Error(`the archive ${why}`);

function numberAt(block: Buffer, at: number, digits: number): number {
  const text = block.toString('latin1', at, at + digits + 1);
  if (!/^[0-7]+\0$/.test(text)) throw refused('has a number that is none');
  return Number.parseInt(text, 8);
}

/** Reads the kind, name, size and date of an entry. */
function read(block: Buffer): { kind: string; name: string; size: number; modifiedAt: number } {
  const isOurs = block.toString('latin1', 257, 265) === 'ustar\x0000';
  const sum = numberAt(block, 148, 6);
  if (!isOurs || writtenSumOf(block) !== sum) throw refused('has a header that is none');
  const kind = block.toString('latin1', 156, 157);
  if (kind !== FILE && kind !== EXTENDED) throw refused('holds something else than files');
  // These fields have the name of a link, and the first part of a long name in an older form.
  if (block[157] !== 0 || block[345] !== 0) throw refused('holds something else than files');
  const [name = ''] = block.toString('latin1', 0, NAME_BYTES).split('\0');
  return { kind, name, size: numberAt(block, 124, 11), modifiedAt: numberAt(block, 136, 11) * 1_000 };
}

function longName(record: Buffer): string {
  const text = record.toString('utf8');
  const name = /^\d+ path=(.*)\n$/s.exec(text)?.[1];
  if (name === undefined || !recordOf(name).equals(record)) throw refused('has a name that is none');
  return name;
}

/** A file of an archive. `modifiedAt`: Unix milliseconds. */
export interface TarEntry {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly modifiedAt: number;
}

/** Returns every file of an archive; bytes share the memory of `archive`. Throws an `Error` if it has anything else. */
export function readTar(archive: Uint8Array): TarEntry[] {
  const all = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const files: TarEntry[] = [];
  const end = all.length - TAR_END_BYTES;
  let long: string | null = null;
  let at = 0;
  while (at < end) {
    const { kind, name, size, modifiedAt } = read(all.subarray(at, at + BLOCK));
    at += BLOCK;
    if (size > end - at) throw refused('ends too early');
    const bytes = all.subarray(at, at + size);
    at += padded(size);
    if (kind === EXTENDED) {
      if (long !== null) throw refused('names a file twice');
      long = longName(bytes);
      continue;
    }
    files.push({ name: long ?? name, bytes, modifiedAt });
    long = null;
  }
  if (at !== end || long !== null || sumOf(all.subarray(end)) !== 0) throw refused('does not end as one');
  return files;
}
