import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sealingFiles } from '../../../shared/client/node.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';

/* The file with the sealed texts that a device has shown. */

const NODE = fileURLToPath(new URL('../../../dist/shared/client/node.js', import.meta.url));
const MAILBOX_MS = LIMITS.mailboxSeconds * 1_000;
const KEPT_MS = 2 * MAILBOX_MS;
const SPARE = 256;

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-shown-'));
  file = join(folder, 'shown');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const idOf = (n: number | string): string => `sender:${String(n).padStart(22, '0')}`;
const takenIn = () => sealingFiles(folder).taken;

/** Writes texts that were dated and shown at these times. */
function writeTexts(count: number, { t, at = t }: { t: number; at?: number }, name = 'old'): void {
  const lines = Array.from(
    { length: count },
    (_, n) => `\nm ${idOf(`${name}${n}`)} ${name}-${n} 1 ${t + n} ${at + n}\n`,
  );
  appendFileSync(file, lines.join(''));
}

/** Adds lines that say nothing new, so that the next text makes the file be rewritten. */
const addSpare = (): void => appendFileSync(file, '\nc device-1 5\n'.repeat(SPARE + 1));

test('the file does not grow with texts that no service keeps any more', async () => {
  writeTexts(5_000, { t: Date.now() - 2 * KEPT_MS });
  const taken = takenIn();
  await taken.addMessage(idOf('new'), 'new', 1, Date.now());
  expect(statSync(file).size).toBeLessThan(500);
  expect(await taken.messageOf(idOf('new'))).toMatchObject({ messageId: 'new', n: 1 });
  expect([readdirSync(folder), statSync(file).mode & 0o777]).toEqual([['shown'], 0o600]);
});

test('a text that a service may still deliver is remembered, and so is one that was shown late', async () => {
  const now = Date.now();
  writeTexts(1, { t: now - MAILBOX_MS }, 'waited');
  writeTexts(1, { t: now - 3 * KEPT_MS, at: now - KEPT_MS + 60_000 }, 'late');
  writeTexts(1, { t: now + KEPT_MS, at: now - 2 * KEPT_MS }, 'ahead');
  writeTexts(1, { t: now - 2 * KEPT_MS }, 'gone');
  addSpare();
  const taken = takenIn();
  await taken.addMessage(idOf('new'), 'new', 1, now);
  const known = await Promise.all(['waited0', 'late0', 'ahead0', 'gone0'].map((id) => taken.messageOf(idOf(id))));
  expect(known.map((one) => one?.messageId)).toEqual(['waited-0', 'late-0', 'ahead-0', undefined]);
  expect(await taken.forgottenUntil?.()).toBe(now - 2 * KEPT_MS);
  expect(readFileSync(file, 'utf8').match(/^c /gm)).toHaveLength(1);
  expect(await taken.clipboardOf('device-1')).toBe(5);
});

test('what was forgotten stays forgotten when more is', async () => {
  const old = Date.now() - 2 * KEPT_MS;
  const taken = takenIn();
  for (const t of [old + 5_000, old]) {
    writeTexts(SPARE + 1, { t }, `at${t}`);
    await taken.addMessage(idOf(t), 'new', 1, Date.now());
  }
  expect(await taken.forgottenUntil?.()).toBe(old + 5_000 + SPARE);
});

test('a file of an earlier version counts, and its texts are kept as long as new ones', async () => {
  writeFileSync(file, `\nm ${'B'.repeat(22)} one 3\n\nm ${idOf('two')} two 4\n\nc device-1 7\n\nm ${idOf('cut')} cu`);
  addSpare();
  const taken = takenIn();
  await taken.addMessage(idOf('new'), 'new', 1, Date.now());
  expect(await taken.messageOf('B'.repeat(22))).toMatchObject({ messageId: 'one', n: 3 });
  expect(await taken.messageOf(idOf('two'))).toMatchObject({ messageId: 'two', n: 4 });
  expect([await taken.clipboardOf('device-1'), await taken.forgottenUntil?.()]).toEqual([7, 0]);
});

/**
 * Starts a process that waits for a word, adds texts, rewrites the file each time, and says which text it has added.
 */
function adding(name: string, count: number): ChildProcess {
  const script = `import { appendFileSync } from 'node:fs';
    import { sealingFiles } from ${JSON.stringify(NODE)};
    const { taken } = sealingFiles(${JSON.stringify(folder)});
    process.stdout.write('ready\\n');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.stdin.destroy();
    for (let n = 0; n < ${count}; n += 1) {
      appendFileSync(${JSON.stringify(file)}, ${JSON.stringify('\nc device-1 5\n'.repeat(SPARE + 1))});
      const id = '${name}:' + String(n).padStart(22, '0');
      await taken.addMessage(id, 'message', 1, Date.now());
      process.stdout.write(id + '\\n');
    }`;
  const args = ['--input-type=module', '--eval', script];
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
}

/** Returns the texts that the file does not have. */
async function lost(ids: readonly string[]): Promise<string[]> {
  const taken = takenIn();
  const found = await Promise.all(ids.map(async (id) => ((await taken.messageOf(id)) === null ? [id] : [])));
  return found.flat();
}

/** Lets ready processes begin at the same time. Returns the texts that each has added by its end. */
async function textsOf(children: readonly ChildProcess[], onText: (count: number) => void = () => {}) {
  const closed = children.map((child) => once(child, 'close'));
  const said = children.map((child) => createInterface({ input: child.stdout as NodeJS.ReadableStream }));
  await Promise.all(said.map((lines) => once(lines, 'line')));
  const texts: string[] = [];
  for (const lines of said) lines.on('line', (line) => onText(texts.push(line)));
  for (const { stdin } of children) stdin?.write('go');
  await Promise.all(closed);
  return texts;
}

test('processes that add at the same time lose nothing of each other', async () => {
  const texts = await textsOf(['a', 'b', 'c'].map((name) => adding(name, 40)));
  expect(texts).toHaveLength(120);
  expect(await lost(texts)).toEqual([]);
});

test('a process that is killed while it adds loses nothing, and keeps no other from adding', async () => {
  const said: string[] = [];
  for (let round = 0; round < 8; round += 1) {
    const child = adding(`round-${round}`, 1_000);
    const texts = await textsOf([child], (count) => {
      // Each round ends at another point of the work that follows.
      if (count === 3) setTimeout(() => child.kill('SIGKILL'), round);
    });
    said.push(...texts);
  }
  await takenIn().addMessage(idOf('after'), 'after', 1, Date.now());
  expect(said.length).toBeGreaterThanOrEqual(24);
  expect(await lost(said)).toEqual([]);
  expect(readdirSync(folder)).toEqual(['shown']);
});
