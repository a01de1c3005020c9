import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import type { Installed } from './installed.ts';

/** Builds a page of the folder with Vite, as a stranger does; its files by their paths under `base`. */
export async function bundlePage({ folder }: Installed, page: string, base: string): Promise<Map<string, Buffer>> {
  const outDir = join(folder, `out-${page}`);
  await build({
    ...{ root: folder, base, configFile: false, logLevel: 'error' },
    build: { outDir, rollupOptions: { input: join(folder, page) } },
  });
  const files = readdirSync(outDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [base + path.slice(outDir.length + 1), readFileSync(path)];
    }),
  );
}

/** Compressed bytes of a program that does no more than to import. */
export async function bundledBytes({ folder, write }: Installed, name: string, text: string): Promise<number> {
  write(`${name}.js`, text);
  const outDir = join(folder, `out-${name}`);
  await build({
    ...{ root: folder, configFile: false, logLevel: 'error' },
    build: { outDir, minify: true, lib: { entry: join(folder, `${name}.js`), formats: ['es'], fileName: name } },
  });
  const sizes = readdirSync(outDir).map((file) => gzipSync(readFileSync(join(outDir, file)), { level: 9 }).length);
  return sizes.reduce((sum, size) => sum + size, 0);
}
