import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { FileSink, FileSource } from '../../../shared/client/files/files.ts';
import { folderSink } from '../../../shared/client/node/sinks.ts';
import type { PackSource } from '../../../shared/client/node/packs.ts';
import { folderSources } from '../../../shared/client/node/sources.ts';
import { filesIn, packType } from '../../../shared/client/files/pack.ts';
import { readTar, TAR_END_BYTES, tarBytesOf, tarHeaderOf } from '../../../shared/client/node/tar.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

const folder = makeFolder();
afterAll(() => folder.remove());
const never = new AbortController().signal;
let count = 0;
const newFolder = (): string => {
  const path = join(folder.path, `${(count += 1)}`);
  mkdirSync(path);
  return path;
};

const LONG = `${'deep/'.repeat(30)}name of many letters.txt`;
const NAMES = ['a.txt', 'ünïcode é 日本.txt', LONG, 'empty', '.hidden'];

/** Writes files whose text is their name, `empty` without any. */
function write(top: string, names: readonly string[]): void {
  for (const name of names) {
    const path = join(top, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, name === 'empty' ? '' : name);
  }
}

const numbers = (length: number) => Array.from({ length }, (_, index) => `${index % 7}/${index}.txt`);

async function bytesOf(source: FileSource, offset = 0): Promise<Buffer> {
  const stream = await source.open(offset, never);
  return Buffer.from(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}

const ID = '0198c0de-0000-7000-8000-000000000000';

/**
 * Puts the given bytes of a pack into the folder. With `records` it is a transfer that can be continued, and it stops when the
 * pack is stored.
 */
async function take(into: string, archive: Uint8Array, files: number, records?: string): Promise<string[]> {
  const stored: string[] = [];
  const open = folderSink(into, (_, path) => stored.push(path), records === undefined ? {} : { records });
  const about = { index: 0, name: 'pack.tar', size: archive.length, type: packType(files) };
  const sha256 = createHash('sha256').update(archive).digest('hex');
  let stop: (error: Error) => void = () => {};
  const done = new Promise<never>((_, reject) => {
    stop = reject;
  });
  done.catch(() => {});
  const running = records === undefined ? undefined : { id: ID, done };
  const sink = (await open({ ...about, sha256 }, never, running)) as FileSink;
  try {
    await sink.write(archive.subarray(sink.offset ?? 0));
    await sink.close();
  } catch (error) {
    await sink.abort?.(error, true);
    throw error;
  } finally {
    stop(new BatonClientError('aborted', 'stopped', { action: 'retry' }));
    await done.catch(() => {});
  }
  return stored.map((path) => path.slice(into.length + 1));
}

function archiveOf(names: readonly string[], change: (archive: Buffer) => void = () => {}): Buffer {
  const parts = names.flatMap((name) => {
    const bytes = Buffer.alloc(tarBytesOf({ name, size: name.length }) - tarHeaderOf(fileOf(name)).length);
    bytes.write(name, 'latin1');
    return [tarHeaderOf(fileOf(name)), bytes];
  });
  const archive = Buffer.concat([...parts, Buffer.alloc(TAR_END_BYTES)]);
  change(archive);
  return archive;
}

const fileOf = (name: string) => ({ name, size: name.length, mtimeSeconds: 1_700_000_000 });

/** Gives the first header this kind, with the right sum. */
function kind(letter: string) {
  return (archive: Buffer) => {
    archive.write(letter, 156);
    archive.fill(' ', 148, 156);
    let sum = 0;
    for (const byte of archive.subarray(0, 512)) sum += byte;
    archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  };
}

test('many small files of a folder are archives that any tar unpacks, and large ones stay themselves', async () => {
  const top = join(newFolder(), 'photos');
  write(top, [...NAMES, ...numbers(1_500)]);
  writeFileSync(join(top, 'large.bin'), Buffer.alloc(100_000));
  const sources = await folderSources(top, { packs: true });
  expect(sources.map(({ name }) => name)).toEqual(['photos.1.tar', 'photos.2.tar', 'photos/large.bin']);
  expect(sources.map(filesIn).reduce((sum, files) => sum + files)).toBe(NAMES.length + 1_500 + 1);
  const out = newFolder();
  for (const source of sources.slice(0, 2)) {
    const bytes = await bytesOf(source);
    expect(bytes).toHaveLength(source.size);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(await source.digest?.(never));
    expect((await bytesOf(source, 700)).equals(bytes.subarray(700))).toBe(true);
    const pieces = source.pieces?.();
    expect(Buffer.from((await pieces?.at(512, 1_000)) ?? []).equals(bytes.subarray(512, 1_512))).toBe(true);
    pieces?.close();
    writeFileSync(join(out, 'archive'), bytes);
    execFileSync('tar', ['xf', 'archive'], { cwd: out });
  }
  for (const name of NAMES) expect(readFileSync(join(out, 'photos', name), 'utf8')).toBe(name === 'empty' ? '' : name);
});

test('a few small files are sent by themselves, and an odd name is in an archive as it is offered', async () => {
  const few = join(newFolder(), 'few');
  write(few, numbers(63));
  expect(await folderSources(few, { packs: true })).toHaveLength(63);
  const odd = join(newFolder(), 'odd');
  write(odd, [...numbers(64), 'a\\b']);
  const [pack, ...others] = await folderSources(odd, { packs: true });
  expect([pack?.name, others]).toEqual(['odd.tar', []]);
  expect((pack as PackSource).packed.map(({ name }) => name)).toContain('odd/a_b');
  expect((await folderSources(odd)).map(({ name }) => name)).toContain('odd/a_b');
  const long = join(newFolder(), 'x'.repeat(255));
  write(long, numbers(64));
  expect((await folderSources(long, { packs: true })).map(({ name }) => name)).toEqual([`${'x'.repeat(240)}.tar`]);
});

test('a pack comes out as the files it was made of, over nothing that is there', async () => {
  const top = join(newFolder(), 'photos');
  write(top, [...NAMES, ...numbers(100)]);
  const [source] = await folderSources(top, { packs: true });
  const into = newFolder();
  write(into, ['photos/a.txt']);
  writeFileSync(join(into, 'photos/a.txt'), 'was here');
  const stored = await take(into, await bytesOf(source as FileSource), NAMES.length + 100);
  expect(stored).toHaveLength(NAMES.length + 100);
  expect(readFileSync(join(into, 'photos/a.txt'), 'utf8')).toBe('was here');
  expect(readFileSync(join(into, 'photos/a (2).txt'), 'utf8')).toBe('a.txt');
  for (const name of [...NAMES.slice(1), ...numbers(100)]) {
    expect(readFileSync(join(into, 'photos', name), 'utf8')).toBe(name === 'empty' ? '' : name);
  }
  expect(readdirSync(into)).toEqual(['photos']);
});

test('what a process that died had unpacked is not stored twice, and what is not whole is not touched', async () => {
  const [into, records] = [newFolder(), newFolder()];
  const archive = archiveOf(['whole', 'half', 'empty', 'gone']);
  expect(await take(into, archive, 4, records)).toEqual(['whole', 'half', 'empty', 'gone']);
  // The folder is as after a process was killed in the middle, or after somebody has changed it since.
  writeFileSync(join(into, 'half'), 'ha');
  rmSync(join(into, 'gone'));
  rmSync(join(into, 'empty'));
  writeFileSync(join(into, 'other'), '');
  symlinkSync('other', join(into, 'empty'));
  const stored = ['whole', 'half (2)', 'empty (2)', 'gone'];
  expect(await take(into, archive, 4, records)).toEqual(stored);
  expect(readFileSync(join(into, 'half'), 'utf8')).toBe('ha');
  expect(readFileSync(join(into, 'half (2)'), 'utf8')).toBe('half');
  expect(readdirSync(into).sort()).toEqual(['half', 'empty', 'other', ...stored].sort());

  // The next run is told where they are, and fetches nothing. A line that was cut off has no effect.
  const record = join(records, `${ID}.jsonl`);
  writeFileSync(record, `${readFileSync(record, 'utf8')}{"index":0,"x`);
  expect((await take(into, archive, 4, records)).sort()).toEqual(stored.sort());
  expect(readdirSync(into)).toHaveLength(7);
});

test('who goes on behind a pack that is stored keeps its folders apart from those that only look like them', async () => {
  const [into, records] = [newFolder(), newFolder()];
  const first = archiveOf(['Photos/a', 'Photos/b']);
  expect(await take(into, first, 2, records)).toEqual(['Photos/a', 'Photos/b']);
  // This is another process. The first pack comes to it as stored.
  const open = folderSink(into, () => {}, { records });
  let stop: (error: Error) => void = () => {};
  const done = new Promise<never>((_, reject) => {
    stop = reject;
  });
  done.catch(() => {});
  const running = { id: ID, done };
  const pack = { index: 0, name: 'pack.tar', size: first.length, type: packType(2) };
  const again = await open({ ...pack, sha256: createHash('sha256').update(first).digest('hex') }, never, running);
  expect((again as FileSink).isStored).toBe(true);
  const other = Buffer.from('c');
  const sha256 = createHash('sha256').update(other).digest('hex');
  const sink = (await open({ index: 1, name: 'photos/c', size: 1, type: null, sha256 }, never, running)) as FileSink;
  await sink.write(other);
  await sink.close();
  stop(new BatonClientError('aborted', 'stopped', { action: 'retry' }));
  expect(readdirSync(into)).toEqual(expect.arrayContaining(['Photos', 'photos (2)']));
  expect(readFileSync(join(into, 'photos (2)', 'c'), 'utf8')).toBe('c');
});

test.each([
  ['a name that leads out', archiveOf(['../out']), 'one of dots'],
  ['a name in the middle that leads out', archiveOf(['a/../../out']), 'one of dots'],
  ['an absolute name', archiveOf(['/tmp/out']), 'empty part'],
  ['a name with a control character', archiveOf(['line\u0007bell']), 'control character'],
  ['a name that turns the text', archiveOf(['txt.\u202Eexe']), 'control character'],
  ['a name with a mark of direction', archiveOf(['txt.\u061cexe']), 'control character'],
  ['a backslash', archiveOf(['..\\out']), 'backslash'],
  ['a symbolic link', archiveOf(['link'], kind('2')), 'something else than files'],
  ['a hard link', archiveOf(['link'], kind('1')), 'something else than files'],
  ['a device', archiveOf(['null'], kind('3')), 'something else than files'],
  ['a folder', archiveOf(['folder'], kind('5')), 'something else than files'],
  ['a sparse file', archiveOf(['bomb'], kind('S')), 'something else than files'],
  ['a size beyond its end', archiveOf(['a'], (all) => kind('0')(all.fill('7', 124, 135))), 'ends too early'],
  ['a header that was changed', archiveOf(['a'], (all) => void all.write('b', 0)), 'a header that is none'],
  ['something behind its end', archiveOf(['a'], (all) => void all.write('b', all.length - 1)), 'does not end'],
  ['more files than were announced', archiveOf(['a', 'b', 'c']), 'has 4 files'],
])('%s makes a pack be refused before anything of it is stored', async (_, archive, why) => {
  const into = newFolder();
  const first = archiveOf(['first']);
  const all = Buffer.concat([first.subarray(0, -TAR_END_BYTES), archive]);
  await expect(take(into, all, 2)).rejects.toThrow(why);
  expect(readdirSync(into)).toEqual([]);
  expect(existsSync('/tmp/out')).toBe(false);
});

test('a link that is in the folder is not followed by what is in a pack', async () => {
  const [into, elsewhere] = [newFolder(), newFolder()];
  symlinkSync(elsewhere, join(into, 'out'));
  symlinkSync(join(elsewhere, 'file'), join(into, 'name'));
  await expect(take(into, archiveOf(['a', 'out/b']), 2)).rejects.toThrow('inside of the folder');
  expect(await take(into, archiveOf(['name', 'c']), 2)).toEqual(['name (2)', 'c']);
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('a file that grew or shrank since it was looked at is not sent in a pack', async () => {
  const top = join(newFolder(), 'photos');
  write(top, numbers(64));
  const sources = [(await folderSources(top, { packs: true }))[0], (await folderSources(top, { packs: true }))[0]];
  writeFileSync(join(top, '1/1.txt'), '1/1.txt and more');
  await expect(sources[0]?.digest?.(never)).rejects.toThrow('has more bytes now, and not 7');
  writeFileSync(join(top, '1/1.txt'), '1/1');
  await expect(sources[1]?.digest?.(never)).rejects.toThrow('has 3 bytes now, and not 7');
});

test.each([
  ['none', '0'],
  ['one', '1'],
  ['more than it has room for', '18'],
  ['a number with a zero before it', '02'],
  ['far too many', '99999'],
])('an archive of 10 KiB that says it holds %s is one file', (_, said) => {
  expect(filesIn({ type: `application/x-tar; baton-files=${said}`, size: 10_239 })).toBe(1);
});

test('an archive that a person sends is not unpacked, nor a pack that is too large for memory', async () => {
  expect(filesIn({ type: 'application/x-tar', size: 10_240 })).toBe(1);
  const into = newFolder();
  const archive = Buffer.concat([archiveOf(['a']), Buffer.alloc(4 * 1024 * 1024)]);
  expect(await take(into, archive, 2)).toEqual(['pack.tar']);
  expect(readTar(archiveOf(['a']))).toHaveLength(1);
});
