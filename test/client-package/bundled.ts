import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Installed } from './installed.ts';

const VITE = fileURLToPath(new URL('../../node_modules/.bin/vite', import.meta.url));

/** Runs Vite on the folder, as an outside developer does. Resolves to the folder that it made. */
async function build({ folder, run, write }: Installed, name: string, config: object): Promise<string> {
  const outDir = join(folder, `out-${name}`);
  const text = JSON.stringify({
    ...config,
    root: folder,
    logLevel: 'error',
    build: { ...('build' in config ? (config.build as object) : {}), outDir },
  });
  write(`${name}.config.mjs`, `export default ${text};`);
  await run(VITE, ['build', '--config', join(folder, `${name}.config.mjs`)]);
  return outDir;
}

/** Resolves to the files of a page of the folder, by their paths under `base`. */
export async function bundlePage(installed: Installed, page: string, base: string): Promise<Map<string, Buffer>> {
  const input = join(installed.folder, page);
  const outDir = await build(installed, page, { base, build: { rollupOptions: { input } } });
  const files = readdirSync(outDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [base + path.slice(outDir.length + 1), readFileSync(path)];
    }),
  );
}

/** Resolves to the compressed size of a page that only names what it uses. */
export async function bundledBytes(installed: Installed, name: string, text: string): Promise<number> {
  installed.write(`${name}.js`, text);
  const outDir = await build(installed, name, {
    build: { modulePreload: false, rollupOptions: { input: join(installed.folder, `${name}.js`) } },
  });
  const scripts = readdirSync(join(outDir, 'assets')).filter((file) => file.endsWith('.js'));
  const sizes = scripts.map((file) => gzipSync(readFileSync(join(outDir, 'assets', file)), { level: 9 }).length);
  return sizes.reduce((sum, size) => sum + size, 0);
}
