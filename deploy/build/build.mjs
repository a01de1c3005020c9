import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isStarted, runTool } from '../local/setup/command.mjs';
import { installPackages, requireNode } from '../local/setup/setup.mjs';
import { takeTurn } from '../local/setup/turn.mjs';
import { filesUnder, ROOT } from '../local/setup/tree.mjs';
import { buildWeb, WEB_FILES, webSources } from './build-web.mjs';
import { licencesOf } from './licences.mjs';
import { buildReference, REFERENCE_MANIFEST, REFERENCE_SOURCES } from './reference.mjs';

/**
 * Emits services/ and shared/ to dist/, with the scripts of the store (`*.lua`) beside the code that loads them, the
 * files of the API reference to dist/reference and the web app to dist/web. A service starts from one file with all its
 * modules and packages. A replica is then ready after 0.5 s of processor time; it takes 1.1 s when Node finds and reads
 * 1,130 modules one by one. `dist/THIRD-PARTY-LICENCES.txt` has what these packages ask to be passed on.
 * Nothing is done when neither a source nor the compiler changed and no output is missing. Outputs that no longer have a
 * source are removed. A type error changes nothing in dist/. `npm run check` reports those of the web app and the command
 * line.
 */
const DIST = join(ROOT, 'dist');
const SERVICES = ['sync', 'broker'];
const ENTRY = 'deploy/build/entry.mjs';
const PROJECT = 'deploy/build/tsconfig.build.json';
/** Whether a file has a build of its own: those of the web app and of the command line. */
const isBuiltElsewhere = (path) => /^services\/(web|cli)\//.test(path);
const LICENCES = 'THIRD-PARTY-LICENCES.txt';
/** Files on which the outputs depend, in addition to the sources. */
const BUILDERS = [
  'tsconfig.json',
  PROJECT,
  'package-lock.json',
  ...['build', 'entry', 'build-web', 'slim-contract', 'licences', 'reference'].map(
    (name) => `deploy/build/${name}.mjs`,
  ),
  ...REFERENCE_SOURCES,
];
const STAMP = join(DIST, '.stamp');

const readOrEmpty = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : '');

function stampOf(sources) {
  const hash = createHash('sha256');
  for (const path of [...sources, ...BUILDERS]) {
    hash
      .update(`${path}\n`)
      .update(readOrEmpty(join(ROOT, path)))
      .update('\n');
  }
  return hash.digest('hex');
}

const outputsOf = (source) => {
  if (source.endsWith('.lua')) return [source];
  return [source.replace(/\.ts$/, '.js'), source.replace(/\.ts$/, '.js.map')];
};

function removeStale(folder, wanted) {
  const at = join(ROOT, 'dist', folder);
  for (const entry of existsSync(at) ? readdirSync(at, { withFileTypes: true }) : []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeStale(path, wanted);
    else if (!wanted.has(path)) rmSync(join(ROOT, 'dist', path));
  }
  if (existsSync(at) && readdirSync(at).length === 0) rmSync(at, { recursive: true });
}

/** Modules read their scripts from their own folder. In a bundle each module keeps the address that it has in dist/. */
const keepAddresses = (file) => ({
  name: 'keep-addresses',
  transform(code, id) {
    // Packages get no map, because logs need to show only places in Baton's own code.
    if (!id.startsWith(join(DIST, '/'))) return { code, map: { mappings: '' } };
    const url = `new URL('${relative(dirname(file), id)}', import.meta.url).href`;
    return { code: code.replaceAll('import.meta.url', url), map: null };
  },
});

/** Bundles `input` with everything that it imports. Resolves to the modules that went into it. */
async function bundle({ input, file, format }) {
  // Loaded only when there is something to build, because `npm start` may have just installed the packages.
  const { rolldown } = await import('rolldown');
  const made = await rolldown({
    input,
    cwd: ROOT,
    platform: 'node',
    plugins: [keepAddresses(file)],
    // Lint messages about packages are of no interest here.
    logLevel: 'silent',
  });
  const { output } = await made.write({
    file,
    format,
    strict: true,
    sourcemap: true,
    codeSplitting: false,
  });
  await made.close();
  return output.flatMap(({ moduleIds }) => moduleIds ?? []);
}

async function bundleService(service) {
  const folder = join(DIST, 'services', service);
  const input = join(folder, 'main.js');
  const modules = await bundle({ input, file: join(folder, 'main.cjs'), format: 'cjs' });
  cpSync(join(ROOT, ENTRY), input);
  return modules;
}

function bundleTracing() {
  const file = join(DIST, 'services/tracing/main.js');
  return bundle({ input: file, file, format: 'esm' });
}

/** Returns the sources, the files that come from them, and whether dist/ has them already. */
function planned() {
  const sources = ['services', 'shared']
    .flatMap(filesUnder)
    .filter((path) => /(?<!\.d)\.ts$|\.lua$/.test(path) && !isBuiltElsewhere(path));
  const wanted = new Set(sources.flatMap(outputsOf));
  const stamp = stampOf([...sources, ...webSources()]);
  const bundles = SERVICES.map((service) => `services/${service}/main.cjs`);
  const complete = [...wanted, ...bundles, REFERENCE_MANIFEST, WEB_FILES, LICENCES].every((path) =>
    existsSync(join(ROOT, 'dist', path)),
  );
  return { sources, wanted, stamp, isDone: complete && readOrEmpty(STAMP) === stamp };
}

/** Builds dist/. Resolves to `{ok, output}`, with the output of the compiler when it refused. */
export async function build() {
  if (planned().isDone) return { ok: true, output: '' };
  const endTurn = takeTurn();
  try {
    return await buildAll(planned());
  } finally {
    endTurn();
  }
}

async function buildAll({ sources, wanted, stamp, isDone }) {
  if (isDone) return { ok: true, output: '' };
  // An interrupted build belongs to no sources.
  rmSync(STAMP, { force: true });
  const { code, output } = await runTool('tsc', ['-p', PROJECT]);
  if (code !== 0) return { ok: false, output };
  for (const path of sources.filter((source) => source.endsWith('.lua'))) {
    mkdirSync(dirname(join(ROOT, 'dist', path)), { recursive: true });
    cpSync(join(ROOT, path), join(ROOT, 'dist', path));
  }
  for (const folder of ['services', 'shared']) removeStale(folder, wanted);
  buildReference();
  const modules = await Promise.all([...SERVICES.map(bundleService), bundleTracing(), buildWeb()]);
  writeFileSync(join(DIST, LICENCES), licencesOf(modules.flat()));
  writeFileSync(STAMP, stamp);
  return { ok: true, output: '' };
}

/** Builds dist/, and exits when the build fails. For scripts that need the build. */
export async function buildOrExit() {
  const { ok, output } = await build();
  if (ok) return;
  process.stderr.write(`${output}\nThe build failed.\n`);
  process.exit(1);
}

if (isStarted(import.meta.url)) {
  requireNode();
  installPackages();
  await buildOrExit();
}
