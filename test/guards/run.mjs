import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { GUARDS } from './guards.mjs';

/*
 * `npm run test:guards`: takes each guard out of a temporary copy of the tree and expects its named test to fail. A test
 * that passes without the guard guards nothing. Further arguments choose guards by a part of their name.
 */

const ONE_TEST_MS = 300_000;
const wanted = process.argv.slice(2);
const guards = GUARDS.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));

const copy = mkdtempSync(join(tmpdir(), 'baton-guards-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
for (const file of files.toString().split('\0').filter(Boolean)) {
  cpSync(join(ROOT, file), join(copy, file), { recursive: true });
}
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));

/** Resolves to jest's verdict: how many tests failed and passed, and what was printed. */
async function runTest([path, title]) {
  const args = ['deploy/local/test.mjs', path, ...(title === '' ? [] : ['-t', title])];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const timer = setTimeout(() => child.kill('SIGTERM'), ONE_TEST_MS);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  const [, passed = '0', failed = '0'] = /^(\d+) passed, (\d+) failed/m.exec(output) ?? [];
  return { passed: Number(passed), failed: Number(failed), output };
}

let held = 0;
const broken = [];
for (const { name, file, from, to, test } of guards) {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  const found = text.split(from).length - 1;
  let why = '';
  if (found !== 1) {
    why = `its text stands ${found} times in ${file}`;
  } else {
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
    const { passed, failed, output } = await runTest(test);
    writeFileSync(path, text);
    if (failed === 0) why = passed === 0 ? `no test ran:\n${output.slice(-2_000)}` : 'its test passes without it';
  }
  if (why === '') held += 1;
  else broken.push(name);
  console.log(why === '' ? `ok    ${name}: "${test.join(' ')}" fails without it` : `FAIL  ${name}: ${why}`);
}
console.log(`${held} passed, ${broken.length} failed`);
process.exitCode = broken.length === 0 ? 0 : 1;
