import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStarted } from '../local/setup/command.mjs';
import { installPackages, requireNode } from '../local/setup/setup.mjs';
import { takeTurn } from '../local/setup/turn.mjs';
import { ROOT } from '../local/setup/tree.mjs';
import { buildClient } from './build-client.mjs';
import { licencesOf } from './licences.mjs';

/**
 * Makes `services/cli/dist/baton.js`: the command line with everything that it needs, in one file. The folder also gets
 * Baton's licence, the licences of the packages in that file, and its manual page.
 */
export async function buildCli() {
  await buildClient();
  const endTurn = takeTurn();
  try {
    await bundle();
  } finally {
    endTurn();
  }
}

async function bundle() {
  const out = join(ROOT, 'services/cli/dist');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'services/cli/package.json'), 'utf8'));
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const { rolldown } = await import('rolldown');
  const made = await rolldown({
    input: join(ROOT, 'services/cli/main.ts'),
    platform: 'node',
    // Uses the library in its published form: without the service's schemas and the code that checks them.
    plugins: [
      {
        name: 'published-client',
        resolveId(id) {
          const entry = /shared\/client\/(index|node|sealed|sealing)\.ts$/.exec(id)?.[1];
          return entry === undefined ? null : join(ROOT, `shared/client/dist/${entry}.js`);
        },
      },
    ],
    transform: { define: { BATON_VERSION: JSON.stringify(version) } },
    logLevel: 'silent',
  });
  const file = join(out, 'baton.js');
  const { output } = await made.write({
    file,
    format: 'esm',
    codeSplitting: false,
    minify: true,
    banner: '#!/usr/bin/env node',
  });
  await made.close();
  const modules = output.flatMap(({ moduleIds }) => moduleIds ?? []);
  writeFileSync(join(out, 'THIRD-PARTY-LICENCES.txt'), licencesOf(modules, "Baton's command line contains"));
  cpSync(join(ROOT, 'LICENSE'), join(out, 'LICENSE'));
  chmodSync(file, 0o755);
  writeFileSync(join(out, 'baton.1'), execFileSync(process.execPath, [file, 'manual']));
}

if (isStarted(import.meta.url)) {
  requireNode();
  installPackages();
  await buildCli();
}
