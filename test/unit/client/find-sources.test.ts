import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FileSource } from '../../../shared/client/files/files.ts';
import { fileSource, findSources } from '../../../shared/client/node/sources.ts';
import { fileNameFlaw } from '../../../shared/contract/vocabulary/file-names.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

const folder = makeFolder();
afterAll(() => folder.remove());
const newFolder = (): string => mkdtempSync(join(folder.path, 'found-'));
const never = AbortSignal.any([]);

async function textOf(source: FileSource): Promise<string> {
  return new Response(await source.open(0, never)).text();
}

/** Returns a path of bytes. */
const bytesIn = (top: string, ...parts: (string | number[])[]): Buffer =>
  Buffer.concat([Buffer.from(top), ...parts.flatMap((part) => [Buffer.from('/'), Buffer.from(part as string)])]);

test('odd names in a folder are sent under others, and each is said', async () => {
  const top = join(newFolder(), 'odd');
  mkdirSync(join(top, 'in\\side'), { recursive: true });
  const names = ['Icon\r', 'a\\b', 'fine.txt', 'txt.\u061cexe', 'in\\side/a', 'in\\side/b'];
  for (const name of names) writeFileSync(join(top, name), name);
  const { sources, renamed, skipped } = await findSources([top]);
  expect(skipped).toEqual([]);
  expect(sources.map(({ name }) => name).sort()).toEqual(
    ['odd/Icon_', 'odd/a_b', 'odd/fine.txt', 'odd/in_side/a', 'odd/in_side/b', 'odd/txt._exe'].sort(),
  );
  expect(renamed).toEqual([
    { path: 'odd/Icon\r', name: 'odd/Icon_' },
    { path: 'odd/a\\b', name: 'odd/a_b' },
    { path: 'odd/txt.\u061cexe', name: 'odd/txt._exe' },
    { path: 'odd/in\\side', name: 'odd/in_side' },
  ]);
  expect((await Promise.all(sources.map(textOf))).sort()).toEqual(
    [...names.map((name) => name.split('/').join('/'))].sort(),
  );
});

test('names whose bytes are no UTF-8 are read, and two of them stay two', async () => {
  const top = join(newFolder(), 'bytes');
  mkdirSync(top);
  writeFileSync(bytesIn(top, [0x63, 0x61, 0x66, 0xe9]), 'latin');
  writeFileSync(bytesIn(top, [0x63, 0x61, 0x66, 0xe8]), 'other');
  for (const byte of [0xfe, 0xff]) {
    mkdirSync(bytesIn(top, [byte]));
    writeFileSync(bytesIn(top, [byte], 'ü.txt'), String(byte));
  }
  const { sources, renamed } = await findSources([top]);
  for (const { name } of sources) expect(fileNameFlaw(name)).toBeNull();
  const found = await Promise.all(sources.map(async (source) => [source.name, await textOf(source)]));
  expect(Object.fromEntries(found)).toEqual({
    'bytes/caf_': 'other',
    'bytes/caf_ (2)': 'latin',
    'bytes/_/ü.txt': '254',
    'bytes/_ (2)/ü.txt': '255',
  });
  expect(renamed).toHaveLength(4);
  expect(await sources[0]?.digest?.(never)).toMatch(/^[0-9a-f]{64}$/);
  const pieces = sources[0]?.pieces?.();
  expect(Buffer.from((await pieces?.at(0, 5)) ?? []).toString()).toBe('other');
  pieces?.close();
});

test('small files with such names are in a pack too', async () => {
  const top = join(newFolder(), 'bytes');
  mkdirSync(top);
  for (let at = 0; at < 64; at += 1) writeFileSync(bytesIn(top, [0x61, 0x80 + at]), `file ${at}`);
  const [pack] = (await findSources([top], { packs: true })).sources;
  expect(pack?.name).toBe('bytes.tar');
  expect(await textOf(pack as FileSource)).toContain('file 63');
});

test('an argument with signs in place of such bytes finds the file, as long as it is one', async () => {
  const top = newFolder();
  mkdirSync(bytesIn(top, [0xe9]));
  writeFileSync(bytesIn(top, [0xe9], [0xe8, 0x2e, 0x61]), 'here');
  const given = `${top}/\ufffd/\ufffd.a`;
  const { sources, renamed } = await findSources([given]);
  expect([sources[0]?.name, await textOf(sources[0] as FileSource)]).toEqual(['_.a', 'here']);
  expect(renamed).toEqual([{ path: '\udce8.a', name: '_.a' }]);
  expect((await fileSource(given)).name).toBe('_.a');
  writeFileSync(bytesIn(top, [0xe9], [0xe9, 0x2e, 0x61]), 'two');
  await expect(findSources([given])).rejects.toThrow('ENOENT');
});

test('what cannot be sent is said by name: links, pipes, sockets, devices, empty folders', async () => {
  const top = join(newFolder(), 'kinds');
  mkdirSync(join(top, 'empty', 'inner'), { recursive: true });
  mkdirSync(join(top, 'links'));
  writeFileSync(join(top, 'file'), 'file');
  symlinkSync('../file', join(top, 'links', 'to file'));
  symlinkSync('/etc', join(top, 'links', 'to folder'));
  symlinkSync('nowhere', join(top, 'links', 'broken'));
  execFileSync('mkfifo', [join(top, 'pipe')]);
  const server = createServer().listen(join(top, 'socket'));
  await once(server, 'listening');
  const { sources, renamed, skipped } = await findSources([top]);
  server.close();
  expect(sources.map(({ name }) => name)).toEqual(['kinds/file']);
  expect(renamed).toEqual([]);
  expect(Object.fromEntries(skipped.map(({ path, why }) => [path, why]))).toEqual({
    'kinds/empty/inner': 'empty_folder',
    'kinds/links/broken': 'link',
    'kinds/links/to file': 'link',
    'kinds/links/to folder': 'link',
    'kinds/pipe': 'pipe',
    'kinds/socket': 'socket',
  });
});

test('a file that the system cannot open is said by name, and the others are sent', async () => {
  const top = join(newFolder(), 'deep');
  mkdirSync(top);
  writeFileSync(join(top, 'file'), 'file');
  // The path is longer than paths may be.
  const step = 'x'.repeat(200);
  execFileSync('sh', ['-c', `for i in $(seq 25); do mkdir ${step} && cd -P ${step} || exit 1; done; touch lost`], {
    cwd: top,
  });
  const { sources, skipped } = await findSources([top]);
  execFileSync('rm', ['-r', top]);
  expect(sources.map(({ name }) => name)).toEqual(['deep/file']);
  expect(skipped).toEqual([{ path: expect.stringMatching(/^deep\/(x{200}\/)+x{200}$/), why: 'unreadable' }]);
});

test('what is named itself is sent, or refused with its kind', async () => {
  const top = newFolder();
  writeFileSync(join(top, 'file'), 'file');
  symlinkSync('file', join(top, 'link'));
  execFileSync('mkfifo', [join(top, 'pipe')]);
  const { sources } = await findSources([join(top, 'link')]);
  expect([sources[0]?.name, await textOf(sources[0] as FileSource)]).toEqual(['link', 'file']);
  await expect(findSources([join(top, 'file'), join(top, 'pipe')])).rejects.toThrow('is a pipe, and no file');
  await expect(fileSource(top)).rejects.toThrow('is a folder, and no file');
  await expect(findSources([join(top, 'none')])).rejects.toThrow('ENOENT');
});

test('folders and files of one name from different places stay apart', async () => {
  const top = newFolder();
  for (const side of ['left', 'right']) {
    mkdirSync(join(top, side, 'photos'), { recursive: true });
    for (const name of ['photos/a.jpg', 'note.txt']) writeFileSync(join(top, side, name), side);
  }
  const paths = ['left/photos', 'right/photos', 'left/note.txt', 'right/note.txt'].map((path) => join(top, path));
  const { sources, renamed } = await findSources(paths);
  expect(await Promise.all(sources.map(async (source) => [source.name, await textOf(source)]))).toEqual([
    ['photos/a.jpg', 'left'],
    ['photos (2)/a.jpg', 'right'],
    ['note.txt', 'left'],
    ['note (2).txt', 'right'],
  ]);
  expect(renamed).toEqual([
    { path: 'photos', name: 'photos (2)' },
    { path: 'note.txt', name: 'note (2).txt' },
  ]);
  expect(readFileSync(join(top, 'right', 'note.txt'), 'utf8')).toBe('right');
});
