import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundledBytes } from './bundled.ts';
import { type Installed, installClient } from './installed.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));
/** The most bytes of everything with its dependencies, as a page loads it. */
const MOST_BYTES = 24 * 1024;
/** The most bytes of the code that encrypts, with HPKE and with the list of recovery words, which is loaded on demand. */
const MOST_SEALED_BYTES = 33 * 1024;

let installed: Installed;
beforeAll(async () => {
  installed = await installClient();
}, 150_000);
afterAll(() => installed.remove());

test('what is packed is the build, its types, the examples and the words about them, and names nothing else', () => {
  const package_ = join(installed.folder, 'node_modules/@baton/client');
  const types = installed.files.filter((path) => path.endsWith('.d.ts'));
  const asFile = (path: string, name: string) =>
    name.startsWith('.') ? join(dirname(path), name).replace(/\.js$/, '.d.ts') : name;
  const named = types.flatMap((path) => {
    const text = readFileSync(join(package_, path), 'utf8');
    return [...text.matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)].map(([, name]) => asFile(path, name as string));
  });
  const namesNode = (path: string) => readFileSync(join(package_, path), 'utf8').includes("from 'node:");
  const versionIn = (path: string) => (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  const others = readdirSync(join(installed.folder, 'node_modules')).filter((name) => !name.startsWith('.'));

  expect(installed.files).toEqual(
    expect.arrayContaining(['README.md', 'package.json', 'dist/index.js', 'dist/node.js']),
  );
  expect(installed.files.filter((path) => !/^(README\.md|package\.json|dist\/|examples\/)/.test(path))).toEqual([]);
  expect(named.filter((name) => !types.includes(name) && !name.startsWith('node:'))).toEqual([]);
  // Only the files for Node name its types, so that a page's program needs no types of Node.
  expect(types.filter((path) => !path.startsWith('dist/node') && namesNode(path))).toEqual([]);
  expect(versionIn(join(package_, 'package.json'))).toBe(versionIn(join(MODULES, '../package.json')));
  expect(others.sort()).toEqual(['@baton', '@noble', '@scure', 'eventsource-parser', 'hpke']);
});

test('plain JavaScript finds what the README names', async () => {
  const names = (entry: string) => `Object.keys(await import('${entry}')).sort().join(' ')`;
  const entries = [
    '@baton/client',
    '@baton/client/node',
    '@baton/client/peer-to-peer',
    '@baton/client/sealed',
    '@baton/client/sealing',
  ];
  const text = entries.map((entry) => `console.log(${names(entry)});`).join('');
  const [main, node, direct, sealed, sealing] = (
    await installed.run(process.execPath, ['--input-type=module', '-e', text])
  )
    .trim()
    .split('\n');
  const readme = readFileSync(join(installed.folder, 'node_modules/@baton/client/README.md'), 'utf8');

  expect(`${main} ${node} ${direct} ${sealed} ${sealing}`.split(' ').filter((name) => !readme.includes(name))).toEqual(
    [],
  );
  expect(main).toContain('makeBatonClient');
  expect(node).toContain('fileSession');
  expect(direct).toBe('peerToPeer');
  expect(node).toContain('fileKeys');
  expect(sealed).toContain('sealMessage');
  expect(sealing).toContain('makeSealing');
});

test.each([
  ['strict-node.ts', { module: 'nodenext', moduleResolution: 'nodenext', types: ['node'], lib: ['es2023', 'dom'] }],
  ['strict-browser.ts', { module: 'esnext', moduleResolution: 'bundler', types: [], lib: ['es2023', 'dom'] }],
])('strict TypeScript takes %s', async (file, options) => {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: 'es2023', exactOptionalPropertyTypes: true, skipLibCheck: false },
    ...{ noUncheckedIndexedAccess: true, typeRoots: [join(MODULES, '@types')], ...options },
  };
  installed.write(`tsconfig.${file}.json`, JSON.stringify({ compilerOptions, files: [file] }));
  await expect(installed.run(join(MODULES, '.bin/tsc'), ['-p', `tsconfig.${file}.json`])).resolves.toBe('');
});

test('everything is under 24 KB compressed, and what is not used is left out', async () => {
  const all = await bundledBytes(
    installed,
    'all',
    "import * as all from '@baton/client'; globalThis.all = { ...all };",
  );
  const signIn = await bundledBytes(
    installed,
    'sign-in',
    "import { requestSignIn } from '@baton/client'; globalThis.used = requestSignIn;",
  );
  const link = await bundledBytes(
    installed,
    'link',
    "import { readSignInLink } from '@baton/client'; globalThis.used = readSignInLink;",
  );
  const direct = await bundledBytes(
    installed,
    'direct',
    "import * as all from '@baton/client'; import { peerToPeer } from '@baton/client/peer-to-peer'; globalThis.all = { ...all, peerToPeer };",
  );
  const sealed = await bundledBytes(
    installed,
    'sealed',
    "import * as all from '@baton/client'; import * as sealed from '@baton/client/sealed'; globalThis.all = { ...all, ...sealed };",
  );
  process.stdout.write(
    `compressed: everything ${all} B, sign-in ${signIn} B, a link ${link} B; paths between devices ${direct - all} B more, sealed ${sealed - all} B more\n`,
  );
  expect(all).toBeLessThan(MOST_BYTES);
  expect(signIn).toBeLessThan(all / 3);
  expect(link).toBeLessThan(1_024);
  expect(direct - all).toBeLessThan(7 * 1024);
  expect(sealed - all).toBeLessThan(MOST_SEALED_BYTES);
});

test('every word of it that can be used is documented, and its reference is made without a warning', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'docs:client'], { cwd: ROOT });
  const page = stdout.trim().split('\n').at(-1) as string;
  expect(readFileSync(page, 'utf8')).toContain('peer-to-peer');
}, 300_000);
