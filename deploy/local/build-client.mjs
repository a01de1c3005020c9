import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { buildOrExit } from './build.mjs';
import { isStarted, runTool } from './command.mjs';
import { installPackages, requireNode } from './setup.mjs';
import { ROOT } from './tree.mjs';

/**
 * Makes `shared/client/dist`: what is published as `@baton/client`. One file an entry and one for what they share, with what
 * they need of the contract in it, and the types of what is exported.
 */
const CLIENT = join(ROOT, 'shared/client');
const OUT = join(CLIENT, 'dist');
const ENTRIES = ['index', 'node', 'peer-to-peer'];

/** What the client's own code says of one of the contract's tables. */
function namesIn(pattern) {
  const modules = readdirSync(join(ROOT, 'dist/shared/client')).filter((name) => name.endsWith('.js'));
  const texts = modules.map((name) => readFileSync(join(ROOT, 'dist/shared/client', name), 'utf8'));
  return new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name)));
}

const picked = (table, names) => Object.fromEntries(Object.entries(table).filter(([name]) => names.has(name)));
const exported = (name, value) => `export const ${name} = ${JSON.stringify(value)};\n`;

/**
 * Of the tables of the contract a client needs names, paths and numbers; the schemas, the library that they are made with, and
 * what it never asks for are the service's. What is refused says its own title.
 */
async function slimTables() {
  const from = (name) => import(join(ROOT, `dist/shared/contract/${name}.js`));
  const [{ ROUTES }, { EVENTS }, { LIMITS }, { ERRORS }] = await Promise.all(
    ['routes', 'events', 'limits', 'errors'].map(from),
  );
  const told = (answer) => (answer === null || typeof answer === 'string' ? answer : 0);
  const called = namesIn(/\bcall\('(\w+)'|ROUTES\.(\w+)/g).add('openStream');
  const routes = Object.entries(picked(ROUTES, called)).map(([name, { method, path, idempotent, answers }]) => {
    const statuses = Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, told(answer)]));
    return [name, { method, path, ...(idempotent && { idempotent }), answers: statuses }];
  });
  const events = Object.keys(EVENTS).map((name) => [name, 0]);
  const errors = Object.entries(ERRORS).map(([code, entry]) => [
    code,
    { ...entry, title: undefined, retry: entry.retry === 'never' ? undefined : entry.retry },
  ]);
  const contract = (name) => readFileSync(join(ROOT, `dist/shared/contract/${name}.js`), 'utf8');
  return {
    'contract/routes.js': exported('ROUTES', Object.fromEntries(routes)),
    'contract/events.js': exported('EVENTS', Object.fromEntries(events)),
    'contract/limits.js': exported('LIMITS', picked(LIMITS, namesIn(/\bLIMITS\.(\w+)/g))),
    'contract/errors.js': contract('errors').replace(
      /^export const ERRORS = \{[\s\S]*?^\};\n/m,
      exported('ERRORS', Object.fromEntries(errors)),
    ),
    'contract/relay.js': contract('relay').replace(/^import.*$|^(const params = |export const relay)[\s\S]*$/gm, ''),
  };
}

async function bundle() {
  const slim = await slimTables();
  const { rolldown } = await import('rolldown');
  const { dependencies } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  const made = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(ROOT, `dist/shared/client/${name}.js`)])),
    external: (id) =>
      id.startsWith('node:') || Object.keys(dependencies).some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [
      {
        name: 'slim-contract',
        load: (id) => slim[Object.keys(slim).find((name) => id.endsWith(`/shared/${name}`))] ?? null,
      },
    ],
    logLevel: 'warn',
  });
  await made.write({ dir: OUT, format: 'esm', chunkFileNames: 'shared.js', sourcemap: false });
  await made.close();
}

/** The types of the entries, and whatever these name. */
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
      writeFileSync(join(OUT, to), text);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function buildClient() {
  await buildOrExit();
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  await bundle();
  await writeTypes();
  if (existsSync(join(ROOT, 'LICENSE'))) cpSync(join(ROOT, 'LICENSE'), join(OUT, 'LICENSE'));
}

if (isStarted(import.meta.url)) {
  requireNode();
  installPackages();
  await buildClient();
}
