import { makePlantedTree, type PlantedTree } from './planted-tree.ts';

/** A suite that passes in every test and is still bad. */
const SUITE = [
  {
    file: 'test/planted/leaves-server.test.ts',
    text: `import { once } from 'node:events';
      import { createServer } from 'node:net';
      test('a server is left', async () => { await once(createServer().listen(0), 'listening'); });`,
  },
  {
    file: 'test/planted/leaves-timer.test.ts',
    text: `test('a timer is left', () => { setTimeout(() => {}, 60_000); });`,
  },
  {
    file: 'test/planted/leaves-child.test.ts',
    text: `import { spawn } from 'node:child_process';
      const child = spawn('sleep', ['30']);
      test('a child is left', () => { expect(child.pid).toBeGreaterThan(0); });`,
  },
  {
    file: 'test/planted/tidy.test.ts',
    text: `import { skipUnless } from '../support/runner/skips.ts';
      test('one and one is two', () => { expect(1 + 1).toBe(2); });
      const needs = skipUnless(false, 'needs the moon');
      needs.test('it is in orbit', async () => {});
      needs.describe('on the moon', () => { test('it is dark', () => {}); });`,
  },
  { file: '.ci/expected-skips.txt', text: 'test/planted/tidy.test.ts: it is in orbit\n' },
];

let tree: PlantedTree;

beforeAll(async () => {
  tree = await makePlantedTree(SUITE);
});

afterAll(() => tree.remove());

const npmTest = (...args: string[]) => tree.run(['deploy/local/test.mjs', ...args], { CI: 'true' });

test('a build leaves the environment as it was: what is started after it is not in production by that', async () => {
  const script = `import { rmSync } from 'node:fs';
    import { build } from './deploy/build/build.mjs';
    rmSync('dist/.stamp', { force: true });
    delete process.env.NODE_ENV;
    const before = { ...process.env };
    const { ok } = await build();
    console.log(JSON.stringify({ ok, changed: Object.keys(process.env).filter((key) => process.env[key] !== before[key]) }));`;
  const { output } = await tree.run(['--input-type=module', '-e', script]);
  expect(output).toContain('{"ok":true,"changed":[]}');
}, 240_000);

test('a file that leaves a server, a timer or a child behind fails', async () => {
  const { code, output } = await npmTest('test/planted/leaves');
  expect(code).toBe(1);
  expect(output).toContain('This file left behind: 1 TCPServerWrap');
  expect(output).toContain('This file left behind: 1 Timeout');
  expect(output).toContain('This file left behind: 1 ProcessWrap');
  expect(output).toMatch(/^0 passed, 3 failed$/m);
}, 240_000);

test('what was skipped is listed with its reason, and fails in CI unless it is on the list', async () => {
  const { code, output } = await npmTest('test/planted/tidy');
  expect(code).toBe(1);
  expect(output).toContain('skipped: test/planted/tidy.test.ts: it is in orbit (needs the moon)');
  expect(output).toContain(
    '1 skipped, but not on .ci/expected-skips.txt:\n  test/planted/tidy.test.ts: on the moon it is dark\n',
  );
  expect(output).toMatch(/^1 passed, 1 failed, 2 skipped$/m);
}, 240_000);
