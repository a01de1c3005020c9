import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import type { FileSink } from '../../../shared/client/files/files.ts';
import { receiveRecords } from '../../../shared/client/node/record.ts';
import { dropParts, fileSink, folderSink } from '../../../shared/client/node/sinks.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

const folder = makeFolder();
afterAll(() => folder.remove());
const never = new AbortController().signal;
const ID = '0198c0de-0000-7000-8000-000000000001';
const BYTES = Buffer.from('all of the bytes of a file');
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

let count = 0;
const newFolder = (): string => {
  const path = join(folder.path, `${(count += 1)}`);
  mkdirSync(path);
  return path;
};

/** Makes a transfer as it runs in a process, until `stop`. */
function running(id = ID) {
  let stop: (error: BatonClientError) => void = () => {};
  const done = new Promise<never>((_, reject) => {
    stop = reject;
  });
  done.catch(() => {});
  return {
    about: { id, done },
    async stop(code = 'aborted') {
      stop(new BatonClientError(code, code, { action: 'retry' }));
      await done.catch(() => {});
    },
  };
}

const fileOf = (name: string, sha256: string | null = SHA256) => ({
  ...{ index: 0, name, size: BYTES.length, type: null, sha256 },
});

interface Place {
  into: string;
  records: string;
}

const place = (): Place => ({ into: newFolder(), records: newFolder() });

async function opened({ into, records }: Place, name = 'file', run = running()) {
  const paths: string[] = [];
  const open = folderSink(into, (_, path) => paths.push(path), { records });
  const sink = (await open(fileOf(name), never, run.about)) as FileSink;
  return { sink, paths, run };
}

/** Acts as a process that stops in the middle and leaves half of the file. */
async function halfOf(where: Place): Promise<string> {
  const { sink, run } = await opened(where);
  await sink.write(BYTES.subarray(0, 10));
  await run.stop();
  await sink.abort?.(new Error('stopped'), false);
  const part = join(where.into, '.baton-parts', `${ID}-0.part`);
  expect(readFileSync(part)).toEqual(BYTES.subarray(0, 10));
  return part;
}

async function rest({ sink, paths, run }: Awaited<ReturnType<typeof opened>>): Promise<string> {
  await sink.write(BYTES.subarray(sink.offset ?? 0));
  await sink.close();
  await run.stop('done');
  return paths[0] as string;
}

test('half a file is gone on with, and its folder is for its owner alone and goes with the last part', async () => {
  const where = place();
  await halfOf(where);
  expect(lstatSync(join(where.into, '.baton-parts')).mode & 0o777).toBe(0o700);
  const second = await opened(where);
  expect(second.sink.offset).toBe(10);
  expect(readFileSync(await rest(second))).toEqual(BYTES);
  expect(readdirSync(where.into)).toEqual(['file']);
  expect(readdirSync(where.records)).toEqual([]);
});

test('a second receiver of the same transfer is refused while the first one has it, in whatever folder', async () => {
  const where = place();
  const first = await opened(where);
  const other = opened({ into: newFolder(), records: where.records });
  await expect(other).rejects.toMatchObject({ code: 'taken' });
  await rest(first);
  expect(readdirSync(where.into)).toEqual(['file']);
});

test.each([
  ['a link to a file elsewhere', (part: string, target: string) => symlinkSync(target, part)],
  ['a link to nothing', (part: string, target: string) => symlinkSync(`${target}-new`, part)],
  ['a second name of a file elsewhere', (part: string, target: string) => linkSync(target, part)],
])('%s in the place of a part file is not written through', async (_, plant) => {
  const where = place();
  const part = await halfOf(where);
  const elsewhere = newFolder();
  const target = join(elsewhere, 'target');
  writeFileSync(target, 'of somebody else');
  renameSync(part, join(elsewhere, 'moved'));
  plant(part, target);
  const second = await opened(where);
  expect(second.sink.offset).toBe(0);
  expect(readFileSync(await rest(second))).toEqual(BYTES);
  expect(readFileSync(target, 'utf8')).toBe('of somebody else');
  expect(readdirSync(elsewhere).sort()).toEqual(['moved', 'target']);
});

test('a link in the place of the folder of parts is refused', async () => {
  const where = place();
  const elsewhere = newFolder();
  symlinkSync(elsewhere, join(where.into, '.baton-parts'));
  await expect(opened(where)).rejects.toThrow('inside of the folder');
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('a folder of parts that others may write to is closed to them', async () => {
  const where = place();
  mkdirSync(join(where.into, '.baton-parts'));
  chmodSync(join(where.into, '.baton-parts'), 0o777);
  const first = await opened(where);
  expect(lstatSync(join(where.into, '.baton-parts')).mode & 0o777).toBe(0o700);
  await rest(first);
});

test('a folder that becomes a link while files come leads nowhere', async () => {
  const where = place();
  const elsewhere = newFolder();
  const first = await opened(where, 'sub/file');
  renameSync(join(where.into, 'sub'), join(where.into, 'moved'));
  symlinkSync(elsewhere, join(where.into, 'sub'));
  await first.sink.write(BYTES);
  await expect((async () => first.sink.close())()).rejects.toThrow(/ENOTDIR|ELOOP|inside of the folder/);
  await first.run.stop('failed');
  await first.sink.abort?.(new Error('failed'), true);
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(readdirSync(where.into).sort()).toEqual(['moved', 'sub']);
});

test('what was changed on the disk after it was written gets no name', async () => {
  const where = place();
  const first = await opened(where);
  await first.sink.write(BYTES);
  writeFileSync(join(where.into, '.baton-parts', `${ID}-0.part`), 'somebody else wrote over it');
  await expect((async () => first.sink.close())()).rejects.toMatchObject({ code: 'digest_mismatch' });
  await first.run.stop('failed');
  await first.sink.abort?.(new Error('failed'), true);
  expect(readdirSync(where.into)).toEqual([]);
});

test('without an announced digest what is on the disk is compared with what came', async () => {
  const where = place();
  const open = folderSink(where.into, () => {}, { records: where.records });
  const run = running();
  const sink = (await open(fileOf('file', null), never, run.about)) as FileSink;
  await sink.write(BYTES);
  writeFileSync(join(where.into, '.baton-parts', `${ID}-0.part`), Buffer.alloc(BYTES.length, 1));
  await expect((async () => sink.close())()).rejects.toMatchObject({ code: 'digest_mismatch' });
  await run.stop('failed');
  await sink.abort?.(new Error('failed'), true);
  expect(readdirSync(where.into)).toEqual([]);
});

test.each(['.baton-parts', '.BATON-PARTS', '.baton\u200d-parts', '.baton-parts/x.part', 'a/.baton-parts/x'])(
  'a file called %j does not come among the parts',
  async (name) => {
    const where = place();
    const path = await rest(await opened(where, name));
    expect(path).not.toMatch(/\/\.baton-parts(\/|$)/i);
    expect(readFileSync(path)).toEqual(BYTES);
    expect(existsSync(join(where.into, '.baton-parts'))).toBe(false);
  },
);

test('a record that somebody forged in the folder of the files is a file like others', async () => {
  const where = place();
  const line = { index: 0, entry: 0, path: join(where.into, 'file'), size: BYTES.length, sha256: SHA256, id: '1:1' };
  for (const name of [`.baton-${ID}.part`, `${ID}.jsonl`]) writeFileSync(join(where.into, name), JSON.stringify(line));
  const first = await opened(where);
  expect(first.sink.isStored).toBeUndefined();
  expect(readFileSync(await rest(first))).toEqual(BYTES);
});

test.each([
  ['outside of the folder', (where: Place) => join(where.records, 'file')],
  ['that is a link', (where: Place) => join(where.into, 'link')],
  ['of other bytes', (where: Place) => join(where.into, 'other')],
  ['that is not there', (where: Place) => join(where.into, 'none')],
])('a line of the record for a file %s does not count', async (_, pathOf) => {
  const where = place();
  writeFileSync(join(where.records, 'file'), BYTES);
  symlinkSync(join(where.records, 'file'), join(where.into, 'link'));
  writeFileSync(join(where.into, 'other'), Buffer.alloc(BYTES.length, 1));
  const path = pathOf(where);
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const line = { index: 0, entry: 0, path, size: BYTES.length, sha256: SHA256, id: `${found?.dev}:${found?.ino}` };
  writeFileSync(join(where.records, `${ID}.jsonl`), `${JSON.stringify(line)}\n[1,2]\nnull\n{"index":"x"}\n`);
  const first = await opened(where);
  expect(first.sink.isStored).toBeUndefined();
  expect(await rest(first)).toBe(join(where.into, 'file'));
});

test('parts that are older than the service keeps a transfer are removed by the next receiver', async () => {
  const where = place();
  const part = await halfOf(where);
  const old = new Date(Date.now() - 3 * 24 * 60 * 60_000);
  writeFileSync(join(where.into, '.baton-parts', 'young.part'), '');
  utimesSync(part, old, old);
  const second = await opened(where, 'file', running('0198c0de-0000-7000-8000-000000000002'));
  expect(readdirSync(join(where.into, '.baton-parts'))).not.toContain(`${ID}-0.part`);
  expect(readdirSync(join(where.into, '.baton-parts'))).toContain('young.part');
  await rest(second);
});

test('what is left of a transfer that is over is removed, and nothing else', async () => {
  const where = place();
  await halfOf(where);
  dropParts(where.into, 'another');
  expect(existsSync(join(where.into, '.baton-parts'))).toBe(true);
  dropParts(where.into, ID);
  expect(readdirSync(where.into)).toEqual([]);
  dropParts(join(where.into, 'none'), ID);
  expect(readdirSync(where.into)).toEqual([]);
});

test('a file under a path of its own is written by one at a time, and replaces a link', async () => {
  const into = newFolder();
  const [path, elsewhere] = [join(into, 'mine'), join(newFolder(), 'target')];
  writeFileSync(elsewhere, 'of somebody else');
  symlinkSync(elsewhere, path);
  symlinkSync(elsewhere, `${path}.part`);
  const sink = await fileSink(path);
  await expect(fileSink(path)).rejects.toMatchObject({ code: 'taken' });
  await sink.write(BYTES.subarray(0, 10));
  await sink.abort?.(new Error('stopped'), false);
  const second = await fileSink(path);
  expect(second.offset).toBe(10);
  await second.write(BYTES.subarray(10));
  expect(await second.digest?.()).toBe(SHA256);
  await second.close();
  expect(lstatSync(path).isFile()).toBe(true);
  expect([readFileSync(path), readFileSync(elsewhere, 'utf8')]).toEqual([BYTES, 'of somebody else']);
  expect(readdirSync(into).sort()).toEqual(['mine', 'mine.part']);
});

test('a file that cannot be written now can be written later', async () => {
  const into = newFolder();
  const path = join(into, 'mine');
  const part = `${createHash('sha256').update('mine').digest('hex')}.part`;
  mkdirSync(join(into, '.baton-parts', part), { recursive: true, mode: 0o700 });
  await expect(fileSink(path)).rejects.toThrow(/EISDIR|ELOOP|EPERM|EEXIST/);
  rmSync(join(into, '.baton-parts', part), { recursive: true });
  const sink = await fileSink(path);
  await sink.write(BYTES);
  await sink.close();
  expect(readdirSync(into)).toEqual(['mine']);
});

test('what lies beside the records and is none does not keep anybody from receiving', async () => {
  const { records } = place();
  writeFileSync(join(records, 'a (copy).jsonl'), '{}\n');
  writeFileSync(join(records, `${ID} 2.jsonl`), 'not json');
  mkdirSync(join(records, 'folder.jsonl'));
  writeFileSync(join(records, `${ID}.jsonl`), '');
  expect((await receiveRecords(records).list()).map(({ transferId }) => transferId)).toEqual([ID]);
});

test('two folders that have one name when it is cut stay two when another process goes on', async () => {
  const where = place();
  const [one, two] = ['1', '2'].map((end, index) => ({ ...fileOf(`${'a'.repeat(230)}${end}/${end}`), index }));
  const takeInto = async (files: ReturnType<typeof fileOf>[]) => {
    const run = running();
    const paths: string[] = [];
    const open = folderSink(where.into, (_, path) => paths.push(path), { records: where.records });
    const sinks = (await Promise.all(files.map(async (file) => open(file, never, run.about)))) as FileSink[];
    for (const sink of sinks) {
      if (!sink.isStored) await sink.write(BYTES);
      await sink.close();
    }
    await run.stop();
    return paths;
  };
  await takeInto([one as ReturnType<typeof fileOf>]);
  const paths = await takeInto([one, two] as ReturnType<typeof fileOf>[]);
  expect(new Set(paths.map((path) => dirname(path))).size).toBe(2);
});
