import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { FileSink } from '../../../shared/client/files/files.ts';

/* Files are stored on file systems that do less than the disk of a computer: each difference is put before the real one. */

const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, ...made: unknown[]) => void };
};

/** What the file system does. */
const disk = {
  /** sshfs gives each name its own inode number. */
  idsOfNames: false,
  /** A file system whose inode numbers depend on the path. */
  idsOfPaths: false,
  /** The owner of an entry; null: its maker. */
  ownerOf: (_path: string): number | null => null,
  /** The error for a name; null: it takes the name. */
  refuses: (_name: string): string | null => null,
  /** What another program does when something has just got this name. */
  onNamed: (_path: string): void => {},
};
const plain = { ...disk };

/** The inode numbers of the names that a link has made, by path. */
const inodes = new Map<string, bigint>();
let nextInode = 1n << 40n;

/** Returns the path behind `/proc/self/fd/…`. */
const realOf = (path: fs.PathLike): string => join(fs.realpathSync(dirname(String(path))), basename(String(path)));
const refused = (code: string) => Object.assign(new Error(code), { code });

function check(path: fs.PathLike): void {
  const code = disk.refuses(basename(String(path)));
  if (code !== null) throw refused(code);
}

function changed<T extends fs.Stats | fs.BigIntStats | undefined>(stats: T, path: string): T {
  if (stats === undefined) return stats;
  const isBig = typeof stats.ino === 'bigint';
  let inode = inodes.get(path);
  if (disk.idsOfPaths && stats.isFile())
    inode = BigInt(`0x${createHash('sha1').update(path).digest('hex').slice(0, 12)}`);
  const owner = disk.ownerOf(path);
  if (inode !== undefined) Object.assign(stats, { ino: isBig ? inode : Number(inode) });
  if (owner !== null) Object.assign(stats, { uid: isBig ? BigInt(owner) : owner });
  return stats;
}

jest.unstable_mockModule('node:fs', () => ({
  ...fs,
  lstatSync: (path: string, settings: never) => {
    if (disk.refuses(basename(path)) === 'ENAMETOOLONG') throw refused('ENAMETOOLONG');
    return changed(fs.lstatSync(path, settings), realOf(path));
  },
  fstatSync: (fd: number, settings: never) =>
    changed(fs.fstatSync(fd, settings), fs.readlinkSync(`/proc/self/fd/${fd}`)),
  openSync: (path: string, flags: number, mode: number) => {
    const isNew = (flags & fs.constants.O_CREAT) !== 0;
    if (isNew) check(path);
    const fd = fs.openSync(path, flags, mode);
    if (isNew) disk.onNamed(realOf(path));
    return fd;
  },
  mkdirSync: (path: string, settings: never) => {
    check(path);
    return fs.mkdirSync(path, settings);
  },
  linkSync: (from: string, to: string) => {
    check(to);
    fs.linkSync(from, to);
    if (disk.idsOfNames) inodes.set(realOf(to), (nextInode += 1n));
    disk.onNamed(realOf(to));
  },
  renameSync: (from: string, to: string) => {
    check(to);
    fs.renameSync(from, to);
    inodes.delete(realOf(to));
  },
}));
const { folderSink } = await import('../../../shared/client/node/sinks.ts');

let top = '';
let into = '';
beforeEach(() => {
  top = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'baton-odd-')));
  into = join(top, 'into');
  fs.mkdirSync(into);
  Object.assign(disk, plain);
});
afterEach(() => fs.rmSync(top, { recursive: true }));

const BYTES = Buffer.from('all of the bytes of a file');
const SHA256 = createHash('sha256').update(BYTES).digest('hex');
const never = new AbortController().signal;

/** Receives a transfer of files with these names, and returns their paths inside the folder. */
async function receive(...names: string[]): Promise<string[]> {
  let stop: (error: unknown) => void = () => {};
  const done = new Promise<never>((_, reject) => {
    stop = reject;
  });
  done.catch(() => {});
  const paths: string[] = [];
  const open = folderSink(into, (_, path) => paths.push(path), { records: join(top, 'records') });
  const id = `0198c0de-0000-7000-8000-${String(process.hrtime.bigint()).slice(-12)}`;
  const sinks: FileSink[] = [];
  try {
    for (const [index, name] of names.entries()) {
      const file = { index, name, size: BYTES.length, type: null, sha256: SHA256 };
      const sink = (await open(file, never, { id, done })) as FileSink;
      sinks.push(sink);
      await sink.write(BYTES);
      await sink.close();
    }
  } finally {
    stop(new BatonClientError('failed', 'over'));
    await done.catch(() => {});
    for (const sink of sinks) await sink.abort?.(new Error('over'), true);
  }
  return paths.map((path) => path.slice(into.length + 1));
}

const stored = () => (fs.readdirSync(into, { recursive: true }) as string[]).sort();

test.each(['idsOfNames', 'idsOfPaths'] as const)('a file is stored once where an inode is no id: %s', async (kind) => {
  disk[kind] = true;
  expect(await receive('photo.jpg')).toEqual(['photo.jpg']);
  expect(stored()).toEqual(['photo.jpg']);
  expect(fs.readFileSync(join(into, 'photo.jpg'))).toEqual(BYTES);
});

/** Acts as a program that puts its own file in the place of ours, as soon as it is there. */
function replaceOnce(path: string): void {
  disk.onNamed = (named) => {
    if (named !== path) return;
    disk.onNamed = plain.onNamed;
    fs.writeFileSync(join(top, 'other'), 'of another program');
    fs.renameSync(join(top, 'other'), path);
  };
}

test('a file of another program that replaces ours is kept, and ours is not said to be stored', async () => {
  const path = join(into, 'photo.jpg');
  replaceOnce(path);
  await expect(receive('photo.jpg')).rejects.toThrow('photo.jpg was replaced');
  expect(fs.readFileSync(path, 'utf8')).toBe('of another program');
});

test('a file of another program is kept where an inode is no id, and ours gets the next name', async () => {
  disk.idsOfNames = true;
  replaceOnce(join(into, 'photo.jpg'));
  expect(await receive('photo.jpg')).toEqual(['photo (2).jpg']);
  expect(fs.readFileSync(join(into, 'photo.jpg'), 'utf8')).toBe('of another program');
});

test('a folder of a mount that gives all files one owner takes files', async () => {
  disk.ownerOf = () => 4242;
  expect(await receive('one', 'two')).toEqual(['one', 'two']);
  expect(stored()).toEqual(['one', 'two']);
});

test('a folder of parts that another user has made is refused', async () => {
  const parts = join(into, '.baton-parts');
  fs.mkdirSync(parts, { mode: 0o777 });
  disk.ownerOf = (path) => (path === parts ? 4242 : null);
  await expect(receive('one')).rejects.toThrow('belongs to another user');
  expect(stored()).toEqual(['.baton-parts']);
});

/** FAT, exFAT and NTFS. */
const likeFat = (name: string): string | null => (/[<>:"|?*]/.test(name) ? 'EINVAL' : null);
const likeEcryptfs = (name: string): string | null => (Buffer.byteLength(name) > 143 ? 'ENAMETOOLONG' : null);
const likeOldApfs = (name: string): string | null => (/[^ -~]/.test(name) ? 'EILSEQ' : null);
const LONG = `${'long '.repeat(40)}end.txt`;

test.each([
  ['FAT', likeFat, 'Part 1: Why?.txt', 'Part 1_ Why_.txt'],
  ['eCryptfs', likeEcryptfs, LONG, `${'long '.repeat(26)}l.txt`],
  ['an older APFS', likeOldApfs, 'new \u{1fae9}.txt', 'new _.txt'],
])(
  'a file whose name %s refuses is stored under another one, and so are the others',
  async (_, refuses, name, other) => {
    disk.refuses = refuses;
    expect(await receive('fine.txt', name, name.toUpperCase())).toHaveLength(3);
    expect(stored()).toHaveLength(3);
    expect(stored()).toEqual(expect.arrayContaining(['fine.txt', other]));
  },
);

test('two names of a transfer that FAT refuses never become one', async () => {
  disk.refuses = likeFat;
  expect(await receive('a:b/x?', 'a?b/x?', 'a:b/x:', 'a_b/y')).toEqual([
    ...['a_b/x_', 'a_b (2)/x_', 'a_b/x_ (2)', 'a_b (3)/y'],
  ]);
});

test('a name keeps its characters where the file system takes them', async () => {
  expect(await receive('Part 1: Why?.txt', LONG)).toEqual(['Part 1: Why?.txt', LONG]);
});
