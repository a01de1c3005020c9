import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { isStarted, runTool } from '../local/setup/command.mjs';
import { installPackages, requireNode } from '../local/setup/setup.mjs';
import { takeTurn } from '../local/setup/turn.mjs';
import { ROOT } from '../local/setup/tree.mjs';
import { buildOrExit } from './build.mjs';
import { slimContract } from './slim-contract.mjs';

/**
 * Makes `shared/client/dist`, which is published as `@baton/client`. It has one file for each entry and one that they
 * share, with the parts of the contract that they need, and the types of all exports.
 */
const CLIENT = join(ROOT, 'shared/client');
const OUT = join(CLIENT, 'dist');
const ENTRIES = ['index', 'node', 'peer-to-peer', 'sealed', 'sealing'];

async function bundle() {
  const { rolldown } = await import('rolldown');
  const { dependencies } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  const made = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(ROOT, `dist/shared/client/${name}.js`)])),
    external: (id) =>
      id.startsWith('node:') || Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [await slimContract()],
    logLevel: 'warn',
  });
  await made.write({ dir: OUT, format: 'esm', chunkFileNames: 'shared.js', sourcemap: false });
  await made.close();
}

/** Prints the compressed size of an entry in a page, with what it imports at once. Later imports are counted apart. */
async function saySize(name) {
  const { rolldown } = await import('rolldown');
  const made = await rolldown({ input: join(OUT, `${name}.js`), logLevel: 'warn' });
  const { output } = await made.generate({ format: 'esm', minify: true });
  await made.close();
  const sizes = output.map(({ isEntry, code }) => ({ isEntry, bytes: gzipSync(code, { level: 9 }).length }));
  const sum = (list) => list.reduce((total, { bytes }) => total + bytes, 0);
  const [now, later] = [sizes.filter(({ isEntry }) => isEntry), sizes.filter(({ isEntry }) => !isEntry)];
  process.stdout.write(
    `@baton/client/${name}: ${sum(now)} B compressed, and ${sum(later)} B when they are asked for\n`,
  );
}

/** Writes the types of the entries, and all types that these name. */
async function writeTypes() {
  const folder = mkdtempSync(join(ROOT, 'dist/types-'));
  try {
    const project = join(folder, 'tsconfig.json');
    writeFileSync(
      project,
      JSON.stringify({
        extends: '../../tsconfig.json',
        compilerOptions: {
          ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
          ...{ rootDir: '../..', outDir: './out', types: ['node'] },
        },
        files: ENTRIES.map((name) => `../../shared/client/${name}.ts`),
        include: [],
      }),
    );
    const { code, output } = await runTool('tsc', ['-p', project]);
    if (code !== 0) throw new Error(output);
    const made = join(folder, 'out/shared/client');
    const waiting = ENTRIES.map((name) => join(made, `${name}.d.ts`));
    for (const path of waiting) {
      const text = readFileSync(path, 'utf8').replace(/(from '\.[^']*|import\('\.[^']*)\.ts'/g, "$1.js'");
      for (const [, name] of text.matchAll(/(?:from |import\()['"](\.[^'"]*)\.js['"]/g)) {
        const named = resolve(dirname(path), `${name}.d.ts`);
        if (!waiting.includes(named)) waiting.push(named);
      }
      const to = relative(made, path);
      if (to.startsWith('..')) throw new Error(`${to} is no part of the package, and its types name it`);
      mkdirSync(dirname(join(OUT, to)), { recursive: true });
      writeFileSync(join(OUT, to), text);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function buildClient() {
  await buildOrExit();
  const endTurn = takeTurn();
  try {
    rmSync(OUT, { recursive: true, force: true });
    mkdirSync(OUT, { recursive: true });
    await bundle();
    await writeTypes();
    for (const name of ['sealed', 'sealing']) await saySize(name);
    if (existsSync(join(ROOT, 'LICENSE'))) cpSync(join(ROOT, 'LICENSE'), join(OUT, 'LICENSE'));
  } finally {
    endTurn();
  }
}

if (isStarted(import.meta.url)) {
  requireNode();
  installPackages();
  await buildClient();
}
