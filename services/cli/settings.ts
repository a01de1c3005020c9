import { readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import envPaths from 'env-paths';

export interface Settings {
  /** The platform's folder for configuration, or `BATON_CONFIG_DIR`. */
  readonly folder: string;
  readonly sessionPath: string;
  /** `BATON_URL`; null where it is not set. */
  readonly givenUrl: string | null;
  /** Of the last `login`; null before it. */
  readonly keptUrl: string | null;
  /** The one of these that counts for a `login`, or the default. */
  readonly url: string;
  keepUrl(url: string): Promise<void>;
}

const DEFAULT_URL = 'http://localhost:8080';

function readKeptUrl(path: string): string | null {
  try {
    const { url } = JSON.parse(readFileSync(path, 'utf8')) as { url?: unknown };
    return typeof url === 'string' && URL.canParse(url) ? url : null;
  } catch {
    return null;
  }
}

/** Writes a file that its owner alone can read; whoever reads it meanwhile has the old one or the new one. */
export async function writePrivately(path: string, value: unknown): Promise<void> {
  const written = `${path}.${process.pid}`;
  await writeFile(written, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(written, path);
}

export function loadSettings(): Settings {
  const folder = process.env['BATON_CONFIG_DIR'] || envPaths('baton', { suffix: '' }).config;
  const path = join(folder, 'settings.json');
  const givenUrl = process.env['BATON_URL'] || null;
  const keptUrl = readKeptUrl(path);
  return {
    folder,
    sessionPath: join(folder, 'session.json'),
    givenUrl,
    keptUrl,
    url: givenUrl ?? keptUrl ?? DEFAULT_URL,
    async keepUrl(url) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writePrivately(path, { url });
    },
  };
}
