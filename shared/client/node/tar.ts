import { Buffer } from 'node:buffer';

/**
 * Archives of plain files, as POSIX has them (`pax` interchange format, IEEE 1003.1): any `tar` unpacks what is written here.
 * What is read here has to be what is written here: links, devices, folders, sparse files and extensions of others are refused,
 * so that nothing has to be decided about them.
 */

const BLOCK = 512;
/** What the name of the first header has place for; a longer one, or one that is not ASCII, has a header of its own before it. */
const NAME_BYTES = 100;
/** Eleven octal digits. */
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

/** What every header has alike. */
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
  // Counted: this is done for every byte of every header, and an iterator takes four times as long.
  for (let at = from; at < to; at += 1) sum += bytes[at] as number;
  return sum;
}

/** Of a header whose own sum is written: in its place are eight spaces when it is taken. */
const writtenSumOf = (header: Uint8Array): number => sumOf(header, 0, 148) + 8 * 32 + sumOf(header, 156);

const isShort = (name: string): boolean => name.length <= NAME_BYTES && /^[ -~]*$/.test(name);

/** `30 path=…` with the length of all of it in front, which counts itself. */
function recordOf(name: string): Buffer {
  const bytes = Buffer.byteLength(name) + ' path=\n'.length;
  let length = bytes + String(bytes).length;
  if (String(length).length > String(bytes).length) length = bytes + String(length).length;
  return Buffer.from(`${length} path=${name}\n`);
}

const nameBytes = (name: string): number => (isShort(name) ? 0 : BLOCK + padded(recordOf(name).length));

/** What a file takes in an archive. */
export const tarBytesOf = ({ name, size }: Pick<TarFile, 'name' | 'size'>): number =>
  nameBytes(name) + BLOCK + padded(size);

/** What ends one: two empty blocks. */
export const TAR_END_BYTES = 2 * BLOCK;

/** What stands before the bytes of a file. */
export function tarHeaderOf({ name, size, mtimeSeconds }: TarFile): Uint8Array {
  if (isShort(name)) return headerOf(name, size, mtimeSeconds, FILE);
  const record = recordOf(name);
  const extended = Buffer.alloc(padded(record.length));
  record.copy(extended);
  // What a program shows that does not read the other header.
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

/** The kind, name and size of an entry. */
function read(block: Buffer): { kind: string; name: string; size: number } {
  const isOurs = block.toString('latin1', 257, 265) === 'ustar\x0000';
  const sum = numberAt(block, 148, 6);
  if (!isOurs || writtenSumOf(block) !== sum) throw refused('has a header that is none');
  const kind = block.toString('latin1', 156, 157);
  if (kind !== FILE && kind !== EXTENDED) throw refused('holds something else than files');
  // The name of a link, and the first part of a long name in an older form.
  if (block[157] !== 0 || block[345] !== 0) throw refused('holds something else than files');
  const [name = ''] = block.toString('latin1', 0, NAME_BYTES).split('\0');
  return { kind, name, size: numberAt(block, 124, 11) };
}

function longName(record: Buffer): string {
  const text = record.toString('utf8');
  const name = /^\d+ path=(.*)\n$/s.exec(text)?.[1];
  if (name === undefined || !recordOf(name).equals(record)) throw refused('has a name that is none');
  return name;
}

/** Every file of an archive, with its bytes, which are those of `archive`. Throws an `Error` where it holds anything else. */
export function readTar(archive: Uint8Array): { name: string; bytes: Uint8Array }[] {
  const all = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const files: { name: string; bytes: Uint8Array }[] = [];
  const end = all.length - TAR_END_BYTES;
  let long: string | null = null;
  let at = 0;
  while (at < end) {
    const { kind, name, size } = read(all.subarray(at, at + BLOCK));
    at += BLOCK;
    if (size > end - at) throw refused('ends too early');
    const bytes = all.subarray(at, at + size);
    at += padded(size);
    if (kind === EXTENDED) {
      if (long !== null) throw refused('names a file twice');
      long = longName(bytes);
      continue;
    }
    files.push({ name: long ?? name, bytes });
    long = null;
  }
  if (at !== end || long !== null || sumOf(all.subarray(end)) !== 0) throw refused('does not end as one');
  return files;
}
