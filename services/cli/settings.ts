import { readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import envPaths from 'env-paths';

/** What is kept beside the session: where the service is. */
interface Kept {
  url?: string;
}

export interface Settings {
  /** The platform's folder for configuration, or `BATON_CONFIG_DIR`. */
  readonly folder: string;
  readonly sessionPath: string;
  /** Of `login`, `BATON_URL`, or the one that was used last. */
  readonly url: string;
  keepUrl(url: string): Promise<void>;
}

const DEFAULT_URL = 'http://localhost:8080';

function readKept(path: string): Kept {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Kept;
  } catch {
    return {};
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
  return {
    folder,
    sessionPath: join(folder, 'session.json'),
    url: process.env['BATON_URL'] || readKept(path).url || DEFAULT_URL,
    async keepUrl(url) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writePrivately(path, { url });
    },
  };
}
