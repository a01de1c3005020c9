import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isStarted, runTool } from '../local/setup/command.mjs';
import { installPackages, requireNode } from '../local/setup/setup.mjs';
import { filesUnder, ROOT } from '../local/setup/tree.mjs';
import { buildWeb, WEB_FILES, webSources } from './build-web.mjs';
import { licencesOf } from './licences.mjs';
import { buildReference, REFERENCE_MANIFEST, REFERENCE_SOURCES } from './reference.mjs';

/**
 * Emits services/ and shared/ to dist/, with the scripts of the store (`*.lua`) beside the code that loads them, the files of
 * the API reference to dist/reference and the web app to dist/web. What starts a service is one file with all its modules and
 * packages: a replica is ready after 0.5 s of a processor so, and after 1.1 s when Node finds and reads its 1,130 modules one
 * by one. What these packages ask to be passed on is in `dist/THIRD-PARTY-LICENCES.txt`.
 * Nothing is done when neither a source nor the compiler changed and no output is missing. What has no source any
 * more is removed. A type error changes nothing in dist/; those of the web app and the command line are for `npm run check`.
 */
const DIST = join(ROOT, 'dist');
const SERVICES = ['sync', 'broker'];
const ENTRY = 'deploy/build/entry.mjs';
const PROJECT = 'deploy/build/tsconfig.build.json';
/** What has a build of its own: the web app and the command line. */
const isBuiltElsewhere = (path) => /^services\/(web|cli)\//.test(path);
const LICENCES = 'THIRD-PARTY-LICENCES.txt';
/** Beside the sources, what the outputs depend on. */
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

/** Modules read their scripts beside themselves: in a bundle each still has the address that it has in dist/. */
const keepAddresses = (file) => ({
  name: 'keep-addresses',
  transform(code, id) {
    // Of packages no map: what logs show is where our own code stands.
    if (!id.startsWith(join(DIST, '/'))) return { code, map: { mappings: '' } };
    const url = `new URL('${relative(dirname(file), id)}', import.meta.url).href`;
    return { code: code.replaceAll('import.meta.url', url), map: null };
  },
});

/** One file of `input` with all that it imports. Gives the modules that went into it. */
async function bundle({ input, file, format }) {
  // Loaded when there is something to build: `npm start` on a machine without packages has just installed them.
  const { rolldown } = await import('rolldown');
  const made = await rolldown({
    input,
    cwd: ROOT,
    platform: 'node',
    plugins: [keepAddresses(file)],
    // Packages are not ours to lint.
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

/** `{ok, output}`; `output` is the compiler's when it refused. */
export async function build() {
  const sources = ['services', 'shared']
    .flatMap(filesUnder)
    .filter((path) => /(?<!\.d)\.ts$|\.lua$/.test(path) && !isBuiltElsewhere(path));
  const wanted = new Set(sources.flatMap(outputsOf));
  const stamp = stampOf([...sources, ...webSources()]);
  const bundles = SERVICES.map((service) => `services/${service}/main.cjs`);
  const complete = [...wanted, ...bundles, REFERENCE_MANIFEST, WEB_FILES, LICENCES].every((path) =>
    existsSync(join(ROOT, 'dist', path)),
  );
  if (complete && readOrEmpty(STAMP) === stamp) return { ok: true, output: '' };

  // What a build leaves that was broken off is not that of any sources.
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

/** For scripts that cannot go on without the build. */
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
