import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { filesUnder, ROOT } from '../local/setup/tree.mjs';
import { licencesOf, packagesOf } from './licences.mjs';
import { slimContract } from './slim-contract.mjs';

/*
 * Builds the web app in dist/web: the page, its service worker, and assets under names that hold the hash of their
 * content. It also writes compressed copies of files that compress, and lists all files in files.json. It uses the client
 * as tsc left it in dist/.
 */
const SOURCE = join(ROOT, 'services/web');
const OUT = join(ROOT, 'dist/web');
const PICTURES = join(SOURCE, 'pictures');
export const WEB_FILES = 'web/files.json';
const TARGET = ['chrome123', 'firefox124', 'safari17.5'];

/** Returns the files whose change requires a new build of the app. */
export const webSources = () =>
  filesUnder('services/web').filter((path) => !path.endsWith('.md') && !path.endsWith('screenshot.png'));

/** The library in its published form: the output of tsc, with the slim tables of the contract. */
const publishedClient = {
  name: 'published-client',
  enforce: 'pre',
  resolveId(id) {
    const [, entry] = /shared\/client\/([a-z0-9/-]+)\.ts$/.exec(id) ?? [];
    return entry === undefined ? null : join(ROOT, `dist/shared/client/${entry}.js`);
  },
};

/** Gives the page the address that its worker has in the build. */
const workerAddress = {
  name: 'worker-address',
  resolveId: (id) => (id === 'virtual:worker-address' ? `\0${id}` : null),
  load: (id) =>
    id === '\0virtual:worker-address'
      ? `import url from '${SOURCE}/files/file-worker.ts?worker&url';\nexport const workerAddress = url;\n`
      : null,
};

/** Returns the bundler's settings that the page, the worker of the page and the service worker share. */
async function settings() {
  return {
    configFile: false,
    root: SOURCE,
    logLevel: 'error',
    publicDir: false,
    plugins: [publishedClient, workerAddress, await slimContract()],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    worker: { format: 'es' },
  };
}

const hashed = (name, bytes) => {
  const stem = name.slice(0, -extname(name).length);
  const hash = createHash('sha256').update(bytes).digest('base64url').replace(/[-_]/g, '0').slice(0, 8);
  return `${stem}-${hash}${extname(name)}`;
};

function writeAsset(name, bytes) {
  const served = hashed(name, bytes);
  writeFileSync(join(OUT, 'assets', served), bytes);
  return `/assets/${served}`;
}

/** Writes the manifest last: it names pictures by their served names, and the page names both. */
function writeManifest(modules) {
  const pictures = Object.fromEntries(
    readdirSync(PICTURES).map((name) => [name, writeAsset(name, readFileSync(join(PICTURES, name)))]),
  );
  const manifest = readFileSync(join(SOURCE, 'app.webmanifest'), 'utf8').replace(
    /"pictures\/([\w.-]+)"/g,
    (_, name) => `"${pictures[name]}"`,
  );
  const address = writeAsset('app.webmanifest', Buffer.from(manifest));
  const licences = writeAsset('licences.txt', Buffer.from(licencesOf(modules, "Baton's web app contains")));
  const links = [
    // This script runs before everything that it watches.
    '<script src="/assets/boot.js"></script>',
    // Behind a proxy with a sign-in of its own it is fetched with the cookies of the user.
    `<link rel="manifest" href="${address}" crossorigin="use-credentials" />`,
    `<link rel="icon" href="${pictures['icon.svg']}" type="image/svg+xml" />`,
    `<link rel="apple-touch-icon" href="${pictures['icon-192.png']}" />`,
    `<link rel="license" href="${licences}" type="text/plain" />`,
  ];
  const page = join(OUT, 'index.html');
  writeFileSync(page, readFileSync(page, 'utf8').replace('<!-- links -->', links.join('\n    ')));
}

function filesOf(folder, prefix = '') {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesOf(join(folder, entry.name), `${prefix}${entry.name}/`) : [`${prefix}${entry.name}`],
  );
}

/** Whether a file belongs to the shell. All pages work without network, except files that are rarely needed. */
const isShell = (name) => name === 'index.html' || (name.startsWith('assets/') && !/\.(map|txt)$/.test(name));

function compress(names) {
  const listed = {};
  for (const name of names) {
    const bytes = readFileSync(join(OUT, name));
    const packed = {
      '.br': brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
      '.gz': gzipSync(bytes, { level: 9 }),
    };
    const isText = /\.(html|js|css|svg|txt|webmanifest)$/.test(name);
    listed[name] = isText ? Object.keys(packed) : [];
    for (const ending of listed[name]) writeFileSync(join(OUT, name + ending), packed[ending]);
  }
  return listed;
}

/** Restores NODE_ENV. The bundler sets it in the environment, and later child processes must not inherit it. */
async function inProduction(work) {
  const { NODE_ENV: before } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

const modulesOf = (...made) => made.flat().flatMap(({ output }) => output.flatMap(({ moduleIds }) => moduleIds ?? []));

/** Builds the app again. Resolves to the modules that went into it. */
export const buildWeb = () => inProduction(bundleAll);

async function bundleAll() {
  const { build } = await import('vite');
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(join(OUT, 'assets'), { recursive: true });
  const shared = await settings();
  // Every page loads one file first, because it compresses better than the parts that it shares with later ones.
  const first = { name: 'first', tags: ['$initial'] };
  const output = { hashCharacters: 'base36' };
  /** Builds one file under its own name. */
  const buildScript = (source, entryFileNames, define = {}) =>
    build({
      ...{ ...shared, define },
      build: {
        ...{ outDir: OUT, emptyOutDir: false, target: TARGET, modulePreload: false },
        rolldownOptions: { input: join(SOURCE, source), output: { entryFileNames, format: 'iife' } },
      },
    });
  const made = await build({
    ...shared,
    build: {
      outDir: OUT,
      target: TARGET,
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      rolldownOptions: { output: { ...output, codeSplitting: { groups: [first] } } },
    },
  });
  const boot = await buildScript('boot.ts', 'assets/boot.js');
  const ofPage = modulesOf(made, boot);
  writeManifest(ofPage);
  const shell = filesOf(OUT).filter(isShell);
  const version = createHash('sha256');
  for (const name of shell) version.update(readFileSync(join(OUT, name)));
  const worker = await buildScript('service-worker/service-worker.ts', 'sw.js', {
    BATON_SHELL: JSON.stringify(shell.map((name) => (name === 'index.html' ? '/' : `/${name}`))),
    BATON_SHELL_VERSION: JSON.stringify(version.digest('hex').slice(0, 16)),
  });
  const modules = [...ofPage, ...modulesOf(worker)];
  const named = packagesOf(ofPage);
  const missing = packagesOf(modules).filter((folder) => !named.includes(folder));
  if (missing.length > 0) throw new Error(`licences.txt of the web app does not name ${missing.join(', ')}`);
  writeFileSync(join(ROOT, 'dist', WEB_FILES), JSON.stringify(compress(filesOf(OUT))));
  return modules;
}
