import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ScriptDeclaration } from '../../shared/service-kit/redis/scripts/script.ts';

export type Declared = ScriptDeclaration<string, object, unknown, string>;

const SERVICES = fileURLToPath(new URL('../../services/', import.meta.url));

/** Returns the scripts of services/, by their paths in it. */
export const scriptFiles = (): string[] =>
  readdirSync(SERVICES, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.lua') && !path.includes('prelude'),
  );

/** Returns the declarations of the scripts, by the same paths. */
export async function declaredScripts(): Promise<Map<string, Declared>> {
  const found = new Map<string, Declared>();
  const paths = readdirSync(SERVICES, { recursive: true, encoding: 'utf8' });
  for (const path of paths.filter((each) => /(\/scripts|account-notify)\.ts$/.test(each))) {
    const module = (await import(SERVICES + path)) as Record<string, unknown>;
    for (const value of Object.values(module)) {
      if (typeof value !== 'object' || value === null || !('file' in value)) continue;
      const declared = value as Declared;
      found.set(declared.file.pathname.slice(SERVICES.length), declared);
    }
  }
  return found;
}
