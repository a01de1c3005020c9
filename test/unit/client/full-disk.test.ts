import * as fs from 'node:fs';
import * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Session } from '../../../shared/client/session/session.ts';

/* What the files of Node ask of the disk: what is left when it is full, and what has reached it. */

const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, ...made: unknown[]) => void };
};

let isFull = false;
/** The code with which the system refuses to sync a folder. */
let refusal: string | null = null;
const synced: string[] = [];

const noSpace = () => Object.assign(new Error('no space'), { code: 'ENOSPC' });

/** Opens the file. Its writing fails while the disk is full, and its `sync` is noted. */
async function open(path: string, ...settings: never[]) {
  const file = await promises.open(path, ...settings);
  const full = async () => {
    if (isFull) throw noSpace();
  };
  const own = { writeFile: async (text: string) => full().then(() => file.writeFile(text)) };
  const sync = async () => {
    synced.push(path);
    if (refusal !== null) throw Object.assign(new Error('not synced'), { code: refusal });
    await file.sync();
  };
  return Object.assign(Object.create(file), { ...own, sync, close: () => file.close() });
}

/** Writes nothing on a full disk. A file that is made has its name then. */
function writeFileSync(path: string | number, text: string, settings: fs.WriteFileOptions): void {
  fs.writeFileSync(path, isFull ? '' : text, settings);
  if (isFull) throw noSpace();
}

jest.unstable_mockModule('node:fs/promises', () => ({ ...promises, open }));
jest.unstable_mockModule('node:fs', () => ({ ...fs, writeFileSync }));
const { makeClaim } = await import('../../../shared/client/node/claim.ts');
const { fileKeys } = await import('../../../shared/client/node/keys.ts');
const { withLock } = await import('../../../shared/client/node/lock.ts');
const { receiveRecords } = await import('../../../shared/client/node/record.ts');
const { fileSession } = await import('../../../shared/client/node/session.ts');

let folder = '';
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'baton-disk-'));
  isFull = false;
  refusal = null;
  synced.length = 0;
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

test('a lock that a full disk did not take does not stay for the others to wait for', async () => {
  const path = join(folder, 'lock');
  isFull = true;
  await expect(withLock(path, async () => {})).rejects.toThrow('no space');
  expect(fs.readdirSync(folder)).toEqual([]);
  isFull = false;
  expect(await withLock(path, async () => 'done')).toBe('done');
});

test('a full disk neither keeps a session from being renewed nor keys from being used', async () => {
  const session = fileSession(join(folder, 'session.json'));
  const keys = fileKeys(join(folder, 'keys.json'));
  isFull = true;
  expect(await session.lock?.(async () => 'renewed')).toBe('renewed');
  expect(await keys.lock(async () => 'used')).toBe('used');
  // An error of the work itself is not taken for one of the lock.
  const works: string[] = [];
  const failing = async () => {
    works.push('once');
    throw noSpace();
  };
  await expect(session.lock?.(failing)).rejects.toThrow('no space');
  isFull = false;
  await expect(session.lock?.(failing)).rejects.toThrow('no space');
  expect(works).toEqual(['once', 'once']);
});

test('a saved session is on the disk with its name', async () => {
  const path = join(folder, 'account', 'session.json');
  await fileSession(path).save({ credential: 'new' } as Session);
  expect(synced).toEqual([dirname(path)]);
});

test.each(['EPERM', 'EINVAL', 'ENOTSUP'])('a session is saved where the system syncs no folder: %s', async (code) => {
  const path = join(folder, 'session.json');
  refusal = code;
  await fileSession(path).save({ credential: 'new' } as Session);
  expect(fs.readdirSync(folder)).toEqual(['session.json']);
});

test('a disk that fails while a folder is synced is reported', async () => {
  refusal = 'EIO';
  await expect(fileSession(join(folder, 'session.json')).save({} as Session)).rejects.toThrow('not synced');
});

test('a claim is released on a full disk too', () => {
  const claim = makeClaim(folder, 'one');
  isFull = true;
  claim?.release();
  expect(fs.readdirSync(folder)).toEqual([]);
  isFull = false;
  expect(makeClaim(folder, 'one')?.isHeld()).toBe(true);
});

test('a claim that a full disk did not take leaves nothing', () => {
  isFull = true;
  expect(() => makeClaim(folder, 'one')).toThrow('no space');
  expect(fs.readdirSync(folder)).toEqual([]);
});

test('the record of what was stored stays when a full disk does not take that all was received', async () => {
  const id = '11111111-1111-4111-8111-111111111111';
  const records = receiveRecords(folder);
  const begun = { from: 'Phone', folder: '/files', files: [{ index: 0, name: 'a', count: 1 }] };
  const claim = records.claim(id);
  // A program that goes on again and again on a full disk records that once.
  for (let i = 0; i < 3; i += 1) claim?.begin(begun);
  isFull = true;
  expect(() => claim?.finish([])).toThrow('no space');
  expect(await records.list()).toEqual([{ transferId: id, begun: [begun] }]);
  isFull = false;
  records.claim(id)?.finish([]);
  expect(fs.readFileSync(join(folder, `${id}.jsonl`), 'utf8')).toBe('{"received":[]}\n');
  expect(fs.readdirSync(folder)).toEqual([`${id}.jsonl`]);
});
