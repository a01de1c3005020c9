import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import envPaths from 'env-paths';
import { replaceFile } from '../../shared/client/node/replace-file.ts';
import { usageError } from './failure.ts';

export interface Settings {
  /** The platform's folder for configuration, or `BATON_CONFIG_DIR`. */
  readonly folder: string;
  readonly sessionPath: string;
  /** `BATON_URL`; null if it is not set. */
  readonly givenUrl: string | null;
  /** The address of the last `login`; null before it. */
  readonly keptUrl: string | null;
  /** The address for a `login`: one of these, or the default. */
  readonly url: string;
  keepUrl(url: string): Promise<void>;
}

/**
 * Returns the address of a service in the form that is kept: http or https, only host, port and path, no slash at the end;
 * null for any other text.
 */
export function serviceAddress(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return isAddress && url.search === '' && url.hash === '' ? url.href.replace(/\/+$/, '') : null;
}

/**
 * Reads `BATON_URL`; null if it is not set. Throws a usage error, which does not repeat the value, because it may contain
 * a password.
 */
function readGivenUrl(): string | null {
  const text = process.env['BATON_URL'] || null;
  if (text === null) return null;
  const address = serviceAddress(text);
  if (address !== null) return address;
  throw usageError('BATON_URL is not the address of a service. It has to look like https://baton.example.');
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

/** Writes a file that only its owner can read. A reader finds the whole old file or the whole new one. */
export async function writePrivately(path: string, value: unknown): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Returns the platform's folder for configuration, or `BATON_CONFIG_DIR`. */
export const configFolder = (): string => process.env['BATON_CONFIG_DIR'] || envPaths('baton', { suffix: '' }).config;

export function loadSettings(): Settings {
  const folder = configFolder();
  const path = join(folder, 'settings.json');
  const givenUrl = readGivenUrl();
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

/** Returns the variables of this program and more, for a program that it starts. */
export const environmentWith = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
});

/** Returns the folder for the configuration of a user of Linux (XDG Base Directory Specification). */
export const configHome = (): string => process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
