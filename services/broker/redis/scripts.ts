import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BatonError, isErrorCode } from '../../../shared/contract/errors.ts';
import type { Redis } from '../../sync/redis/connections.ts';
import { storeFault } from '../../sync/redis/faults.ts';

/** Runs one script: keys in the order of its header, then arguments. Resolves to what follows `OK`. */
export type Script = (keys: string[], args: (string | number)[]) => Promise<string[]>;

export interface ScriptLoader {
  /** Loads the `.lua` file beside the calling module. */
  load(file: string, importedFrom: string): Script;
}

/** The chunks of `prelude/` that the script's `-- uses:` line names, then its own text. */
function assemble(path: string): { source: string; keyCount: number } {
  const text = readFileSync(path, 'utf8');
  const uses = /^-- uses: (.*)$/m.exec(text)?.[1]?.split(' ') ?? [];
  const prelude = uses.map((name) => readFileSync(new URL(`./prelude/${name}.lua`, import.meta.url), 'utf8'));
  return { source: [...prelude, text].join('\n'), keyCount: text.match(/^-- KEYS\[\d+\]/gm)?.length ?? 0 };
}

/** What the store refused, raised as the error of the registry that it names. */
function refuse(word: string): never {
  if (isErrorCode(word)) throw new BatonError(word);
  throw new BatonError('internal', undefined, { cause: new Error(`script answered ${word}`) });
}

/** Registers scripts with the Redis client, which sends EVALSHA and recovers from NOSCRIPT by itself. */
export const makeScriptLoader = ({ redis }: { redis: Redis }): ScriptLoader => ({
  load(file, importedFrom) {
    const path = fileURLToPath(new URL(`./${file}`, importedFrom));
    const name = basename(file, '.lua');
    const { source, keyCount } = assemble(path);
    const command = `broker_${name.replaceAll('-', '_')}`;
    redis.defineCommand(command, { lua: source, numberOfKeys: keyCount });
    const send = Reflect.get(redis, command) as (...args: (string | number)[]) => Promise<string[]>;
    return async (keys, args) => {
      if (keys.length !== keyCount) throw new Error(`${name} takes ${keyCount} keys, got ${keys.length}`);
      const [word, ...rest] = await send.call(redis, ...keys, ...args).catch((error: unknown) => {
        throw storeFault(error);
      });
      return word === 'OK' ? rest : refuse(String(word));
    };
  },
});
