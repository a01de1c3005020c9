import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundle, transform } from '@swc/core';
import type { BrowserContext, Route } from 'playwright-core';

/** Both paths are under the replica's own origin, and unknown to it. */
export const PAGE_PATH = '/party';
const FILES = '/files-of-the-test/';

const IMPORTS = JSON.stringify({
  imports: {
    typebox: `${FILES}typebox.js`,
    'eventsource-parser': `${FILES}node_modules/eventsource-parser/dist/index.js`,
  },
});

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Party</title>
<script type="importmap">${IMPORTS}</script>
<script type="module" src="${FILES}test/browser/page/party.js"></script>
</html>
`;

/** The types of the compiler do not know `rewriteRelativeImportExtensions`; the compiler does. */
const TO_SCRIPT = {
  swcrc: false,
  configFile: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2023', rewriteRelativeImportExtensions: true },
  module: { type: 'es6' },
} as const;

const placeOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const readText = (path: string): Promise<string> => readFile(placeOf(path), 'utf8');

/** Makes one file of nearly four hundred, each of which costs a page several milliseconds. */
async function typebox(): Promise<string> {
  const made = await bundle({
    entry: { typebox: placeOf('node_modules/typebox/build/index.mjs') },
    output: { name: 'typebox.js', path: placeOf('dist') },
    mode: 'none',
    module: {},
    options: { swcrc: false, configFile: false },
  });
  return (Object.values(made)[0] as { code: string }).code;
}

/**
 * Returns a script. The tests' own files are TypeScript and import `.ts`, so they are transformed. The service's build
 * is used as it is.
 */
async function scriptAt(path: string): Promise<string> {
  if (path === 'typebox.js') return typebox();
  if (path.startsWith('shared/')) return readText(`dist/${path}`);
  if (!path.startsWith('test/')) return readText(path);
  return (await transform(await readText(path.replace(/\.js$/, '.ts')), TO_SCRIPT)).code;
}

/** Serves the page with the replica's own headers. Its policy allows one thing more, the import map. */
async function servePage(route: Route): Promise<void> {
  const home = await route.fetch({ url: new URL('/api/docs', route.request().url()).href });
  const { 'content-length': _, 'content-security-policy': policy, ...headers } = home.headers();
  const hash = createHash('sha256').update(IMPORTS).digest('base64');
  const widened = `${policy};script-src 'self' 'sha256-${hash}'`;
  await route.fulfill({ status: 200, headers: { ...headers, 'content-security-policy': widened }, body: HTML });
}

const scripts = new Map<string, Promise<string>>();

/** Lets every replica serve `PAGE_PATH`, a page with `page/party.ts` in it, to this browser. */
export async function serveParty(context: BrowserContext): Promise<void> {
  await context.route(`**${PAGE_PATH}`, servePage);
  await context.route(`**${FILES}**`, async (route) => {
    const path = new URL(route.request().url()).pathname.slice(FILES.length);
    const script = scripts.get(path) ?? scriptAt(path);
    scripts.set(path, script);
    await route.fulfill({ contentType: 'text/javascript', body: await script });
  });
}
