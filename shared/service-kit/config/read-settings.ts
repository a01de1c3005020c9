import { readFileSync } from 'node:fs';
import { withoutUserInfo } from './kinds.ts';
import type { Setting } from './setting.ts';

export type Env = Readonly<Record<string, string | undefined>>;
export type Report = (key: string, message: string) => void;

/** Returns the content of a setting's file without its last line end; null if it is empty. Throws the errors of reading. */
export const readFileText = (path: string): string | null => readFileSync(path, 'utf8').replace(/\r?\n$/, '') || null;

/** Returns the text of a setting. An empty variable counts as absent, because compose files and charts write it for none. */
function textOf(env: Env, key: string, report: Report): string | null {
  const own = env[key]?.trim() || null;
  const file = env[`${key}_FILE`]?.trim() || null;
  if (file === null) return own;
  if (own !== null) {
    report(key, `and ${key}_FILE are both set: give one of them`);
    return null;
  }
  try {
    return readFileText(file);
  } catch (error) {
    report(`${key}_FILE`, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
    return null;
  }
}

function readValue(env: Env, key: string, row: Setting<unknown>, report: Report): unknown {
  const text = textOf(env, key, report) ?? row.default ?? null;
  if (text === null) return null;
  const parsed = row.kind(text);
  if ('value' in parsed) return parsed.value;
  const shown = row.secret || parsed.problem.startsWith('"') ? '' : `, not "${withoutUserInfo(text)}"`;
  report(key, parsed.problem + shown);
  return null;
}

/** Reads the value of every setting, by its key; null for one that is absent or was reported. */
export const readSettings = (
  env: Env,
  settings: Readonly<Record<string, Setting<unknown>>>,
  report: Report,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).map(([key, row]) => [key, readValue(env, key, row, report)]));

/** Freezes a configuration with all its parts, and returns it. */
export function frozen<T extends object>(config: T): T {
  for (const part of Object.values(config)) if (typeof part === 'object' && part !== null) frozen(part);
  return Object.freeze(config);
}
