import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeClaim } from '../../../shared/client/node/claim.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

const folder = makeFolder();
afterAll(() => folder.remove());
const CLAIM = fileURLToPath(new URL('../../../dist/shared/client/node/claim.js', import.meta.url));

let count = 0;
const newFolder = (): string => {
  const path = join(folder.path, `${(count += 1)}`);
  mkdirSync(path);
  return path;
};

/** Starts a process that claims, prints the result, and stays. */
function claiming(at: string): { child: ChildProcess; said: Promise<string> } {
  const script = `import(${JSON.stringify(CLAIM)}).then(({ makeClaim }) => {
    const claim = makeClaim(${JSON.stringify(at)}, 'one');
    process.stdout.write(claim === null ? 'taken' : 'mine');
    setInterval(() => {}, 1000);
  });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, said: once(child.stdout as NodeJS.ReadableStream, 'data').then(([data]) => String(data)) };
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'close');
}

const claimFile = (at: string): string => {
  const [name] = readdirSync(at).filter((one) => one.startsWith('one.'));
  return join(at, name as string);
};

test('one of many processes that claim at the same time has it', async () => {
  const at = newFolder();
  const all = Array.from({ length: 6 }, () => claiming(at));
  const said = await Promise.all(all.map((one) => one.said));
  expect(said.sort()).toEqual(['mine', 'taken', 'taken', 'taken', 'taken', 'taken']);
  await Promise.all(all.map(({ child }) => end(child)));
});

test('what a process had that was killed is free, and what a stopped one has is not', async () => {
  const at = newFolder();
  const { child, said } = claiming(at);
  expect(await said).toBe('mine');
  child.kill('SIGSTOP');
  expect(makeClaim(at, 'one')).toBeNull();
  await end(child);
  const claim = makeClaim(at, 'one');
  expect(claim?.isHeld()).toBe(true);
  claim?.remove();
  expect(readdirSync(at)).toEqual([]);
});

test('what is released is free at once, also for this process, and the first one does not have it any more', () => {
  const at = newFolder();
  const first = makeClaim(at, 'one');
  expect(makeClaim(at, 'one')).toBeNull();
  first?.release();
  const second = makeClaim(at, 'one');
  expect([first?.isHeld(), second?.isHeld()]).toEqual([false, true]);
  // It no longer decides about the claim.
  first?.remove();
  expect(second?.isHeld()).toBe(true);
  second?.remove();
});

test('another process that got the number of a dead one is not taken for it', () => {
  const at = newFolder();
  const claim = makeClaim(at, 'one');
  const path = claimFile(at);
  const owner = JSON.parse(readFileSync(path, 'utf8'));
  claim?.release();
  // The parent of this process lives, but started at another time.
  writeFileSync(claimFile(at), JSON.stringify({ ...owner, pid: process.ppid, started: '1' }));
  const second = makeClaim(at, 'one');
  expect(second).not.toBeNull();
  second?.remove();
});

test.each([
  ['of another container or machine', { where: 'another kernel', host: 'another' }],
  ['that cannot be read', 'nothing'],
])('a claim %s holds as long as its file is touched', (_, change) => {
  const at = newFolder();
  const claim = makeClaim(at, 'one');
  const owner = JSON.parse(readFileSync(claimFile(at), 'utf8'));
  claim?.release();
  const path = claimFile(at);
  writeFileSync(path, typeof change === 'string' ? change : JSON.stringify({ ...owner, ...change }));
  expect(makeClaim(at, 'one')).toBeNull();
  // The second time is what a clock leaves behind that was an hour ahead and was then corrected.
  for (const farMs of [-60_000, 3_600_000]) {
    utimesSync(path, new Date(), new Date());
    expect(makeClaim(at, 'one')).toBeNull();
    const far = new Date(Date.now() + farMs);
    utimesSync(path, far, far);
    const second = makeClaim(at, 'one');
    expect(second).not.toBeNull();
    second?.remove();
    writeFileSync(path, typeof change === 'string' ? change : JSON.stringify({ ...owner, ...change }));
  }
});

test('one that another process has taken over is not held any more', () => {
  const at = newFolder();
  const claim = makeClaim(at, 'one');
  writeFileSync(join(at, 'one.2.claim'), '{}');
  expect(claim?.isHeld()).toBe(false);
  claim?.release();
});

test.each(['9007199254740992', '1e3', '99999999999999999999999', '007', '0', '-1', '1.5', ''])(
  'a file with the number %j is no claim, and keeps nobody waiting',
  (number) => {
    const at = newFolder();
    const odd = join(at, `one.${number}.claim`);
    writeFileSync(odd, 'released');
    const claim = makeClaim(at, 'one');
    expect(claim?.isHeld()).toBe(true);
    expect(makeClaim(at, 'one')).toBeNull();
    claim?.remove();
    expect(readdirSync(at)).toEqual([`one.${number}.claim`]);
  },
);

test.each(['../one', 'a/b', '', '.', 'x'.repeat(65)])('%j is no name of a claim', (name) => {
  expect(() => makeClaim(newFolder(), name)).toThrow('This is no id');
});
