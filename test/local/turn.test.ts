import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MODULE = new URL('../../deploy/local/setup/turn.mjs', import.meta.url).href;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-turn-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/**
 * Starts a process that takes the turn and then runs `work`, which has `file`, the file of the turn, and `log`, to which it
 * may write.
 */
function start(work: string) {
  const script = `
    import { appendFileSync } from 'node:fs';
    import { takeTurn } from ${JSON.stringify(MODULE)};
    const [file, log] = ${JSON.stringify([join(folder, 'turn'), join(folder, 'log')])};
    const note = (word) => appendFileSync(log, word + '\\n');
    const endTurn = takeTurn(file);
    ${work}`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

const logged = () => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');

test('one at a time installs or builds, however many begin at once, and nothing is left behind', async () => {
  const work = `note('begins'); await new Promise((resolve) => setTimeout(resolve, 30)); note('ends'); endTurn();`;
  const all = Array.from({ length: 6 }, () => start(work));
  expect(await Promise.all(all.map(async (child) => (await once(child, 'close'))[0]))).toEqual(all.map(() => 0));
  expect(logged()).toEqual(all.flatMap(() => ['begins', 'ends']));
  expect(readdirSync(folder)).toEqual(['log']);
});

test('a process that was killed in its turn holds nothing', async () => {
  const killed = start(`process.stdout.write('mine'); setInterval(() => {}, 1_000);`);
  await once(killed.stdout, 'data');
  const waiting = [1, 2, 3].map(() => start(`note('begins'); note('ends'); endTurn();`));
  killed.kill('SIGKILL');
  expect(await Promise.all(waiting.map(async (child) => (await once(child, 'close'))[0]))).toEqual([0, 0, 0]);
  expect(logged()).toEqual(waiting.flatMap(() => ['begins', 'ends']));
  expect(existsSync(join(folder, 'turn'))).toBe(false);
});
