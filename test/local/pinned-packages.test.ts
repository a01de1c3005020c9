import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/* Tests what the set-up of `npm start` and `npm test` installs, and what it does not. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'baton-setup-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('packages that npm ci cannot install are an error that says what to do, and nothing else is tried', () => {
  const taken = ['deploy/local/setup', 'package.json', 'package-lock.json'];
  for (const name of taken) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  // This npm refuses to install from the lock, and would install anything else.
  mkdirSync(join(folder, 'bin'));
  const calls = join(folder, 'calls');
  const npm = join(folder, 'bin/npm');
  writeFileSync(npm, `#!/bin/sh\necho "$1" >>'${calls}'\n[ "$1" != ci ] || { echo 'npm error EUSAGE' >&2; exit 1; }\n`);
  chmodSync(npm, 0o755);

  const setup = join(folder, 'deploy/local/setup/setup.mjs');
  const done = spawnSync(
    process.execPath,
    ['-e', `import(${JSON.stringify(setup)}).then((it) => it.installPackages())`],
    {
      env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}` },
      encoding: 'utf8',
    },
  );
  expect(done.status).toBe(1);
  expect(readFileSync(calls, 'utf8')).toBe('ci\n');
  expect(done.stderr).toContain('npm error EUSAGE');
  expect(done.stderr).toMatch(/could not be installed.*no others are installed[^]*npm config get registry/);
});

test('the Node that the last suite brings along is one version, and is asked which it is', () => {
  const run = readFileSync(join(ROOT, '.ci/run'), 'utf8');
  expect(run).toMatch(/^node_24=24\.\d+\.\d+$/m);
  expect(run).toContain('"node-linux-$(node -p process.arch)@$node_24"');
  expect(run).toContain('"$(node --version)" = "v$node_24"');
});
