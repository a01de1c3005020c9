import * as fs from 'node:fs';
import * as promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/* What the files of Node ask of the disk, and what is left when it is full. */

const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, ...made: unknown[]) => void };
};

let isFull = false;

const noSpace = () => Object.assign(new Error('no space'), { code: 'ENOSPC' });

/** Opens the file. Its writing fails while the disk is full. */
async function open(path: string, ...settings: never[]) {
  const file = await promises.open(path, ...settings);
  const full = async () => {
    if (isFull) throw noSpace();
  };
  const own = { writeFile: async (text: string) => full().then(() => file.writeFile(text)) };
  return Object.assign(Object.create(file), { ...own, close: () => file.close() });
}

/** Writes nothing on a full disk. A file that is made has its name then. */
function writeFileSync(path: string | number, text: string, settings: fs.WriteFileOptions): void {
  fs.writeFileSync(path, isFull ? '' : text, settings);
  if (isFull) throw noSpace();
}

jest.unstable_mockModule('node:fs/promises', () => ({ ...promises, open }));
jest.unstable_mockModule('node:fs', () => ({ ...fs, writeFileSync }));
const { makeClaim } = await import('../../../shared/client/node/claim.ts');
const { withLock } = await import('../../../shared/client/node/lock.ts');

let folder = '';
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'baton-disk-'));
  isFull = false;
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
