import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { RateGroup } from '../../../shared/contract/limits.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Announcer } from './announcer.ts';
import { bindScript, refuse, type Settings } from './bound-script.ts';
import type { Connection } from './connections.ts';
import { isAnswer, mayHaveRun, storeFault } from './faults.ts';
import type { Gate } from './gate.ts';
import type { RunScript, ScriptDeclaration } from './script.ts';
import { bindNames, chunksOf } from './script-text.ts';
import type { Raw, Word } from './script-values.ts';

/** Strings, or lists of strings; a number is a string here too, and a list may hold another one. */
export type Reply = (string | string[])[];

/** Runs one script: keys in the order of its header, then arguments. Resolves to what follows `OK`. */
export type Script = (keys: string[], args: (string | number)[]) => Promise<Reply>;

export interface ScriptLoader {
  /** Makes a declared script ready to be called. */
  define<K extends string, A, R, S extends string>(
    declaration: ScriptDeclaration<K, A, R, S>,
    ...settings: Settings<S>
  ): RunScript<K, A, R>;
  /** Loads the `.lua` file beside the calling module. `rate`: the group that the script counts. */
  load(file: string, importedFrom: string, rate?: RateGroup): Script;
}

export function assemble(path: string, publishInScript: boolean): { source: string; keyCount: number } {
  const text = readFileSync(path, 'utf8');
  const chunks = chunksOf(text, pathToFileURL(path));
  const source = bindNames([`local PUBLISH_IN_SCRIPT = ${publishInScript}`, ...chunks, text].join('\n'));
  return { source, keyCount: text.match(/^-- KEYS\[\d+\]/gm)?.length ?? 0 };
}

/** For what announces: who makes up for what nobody has heard. */
interface Announcing {
  announcer: () => Announcer;
  /** False in a cluster: a script may not publish to a channel of another slot. */
  publishInScript: boolean;
  /** How often a connection to the store was lost so far; it rises while commands are under way. */
  losses: () => number;
}

interface ScriptLoaderParts {
  connection: Connection;
  /** What the commands of the client library are called first. */
  family?: string;
  gate?: Gate;
  /** Null: no script here announces anything. */
  announcing: Announcing | null;
  metrics?: Pick<Metrics, 'redis_command_duration_seconds' | 'events_published_total'>;
}

type Send = (...args: Word[]) => Promise<Raw[]>;

/** Registers scripts with the Redis client, which sends EVALSHA and recovers from NOSCRIPT by itself. */
export function makeScriptLoader(parts: ScriptLoaderParts): ScriptLoader {
  const { connection, family = 'baton', gate, announcing, metrics } = parts;
  const publishInScript = announcing?.publishInScript ?? false;

  /** Resolves to the reply; what is to be announced, or may have been lost, goes to the announcer. */
  async function run(send: Send, words: Word[], told: Announcing | null): Promise<Raw[]> {
    const key = words[0] as string;
    const leave = gate?.enter(key);
    const lossesBefore = told?.losses();
    try {
      const reply = await send.call(connection, ...words);
      leave?.(true);
      // The client sends again what a lost connection left unanswered. A script that had taken effect the first time
      // finds nothing to announce the second time.
      if (told) takeAnnouncements(told, reply, key, told.losses() !== lossesBefore);
      return reply;
    } catch (error) {
      leave?.(isAnswer(error));
      // Whether it took effect nobody knows, and so whoever should have heard of it is rung, once it can be done. Where
      // scripts publish themselves, what took effect was announced in the same step.
      const wasCut = told?.losses() !== lossesBefore;
      if (told && !publishInScript && (wasCut || mayHaveRun(error))) told.announcer().ringAccount(key, 'unknown');
      throw storeFault(error);
    }
  }

  /** What a script that announces returns behind its answer: what it announced, then what it leaves to us. */
  function takeAnnouncements({ announcer }: Announcing, reply: Raw[], key: string, wasCut: boolean): void {
    const wasRepeated = reply.pop() === '1';
    const unheard = reply.pop() as string[];
    const announced = reply.pop() as string[];
    for (let i = 0; i < announced.length; i += 2) {
      const outcome = announced[i + 1] === '0' ? 'unheard' : 'heard';
      metrics?.events_published_total.inc({ event: announced[i] as string, outcome });
    }
    for (let i = 0; i < unheard.length; i += 3) {
      const announcement = {
        channel: unheard[i] as string,
        label: unheard[i + 1] as string,
        payload: unheard[i + 2] as string,
      };
      if (publishInScript) announcer().repeat(announcement);
      else announcer().announce(announcement);
    }
    if (publishInScript) return;
    if (wasRepeated) announcer().ringAccount(key, 'repeated');
    else if (wasCut) announcer().ringAccount(key, 'cut');
  }

  /** Makes a command of the client library, which runs the text. */
  function register(name: string, lua: string, keyCount: number, told: Announcing | null) {
    const command = `${family}_${name.replaceAll('-', '_')}`;
    connection.defineCommand(command, { lua, numberOfKeys: keyCount });
    const send = Reflect.get(connection, command) as Send;
    return async (words: Word[]): Promise<Raw[]> => {
      const stop = metrics?.redis_command_duration_seconds.startTimer({ script: name });
      const reply = await run(send, words, told);
      stop?.();
      return reply;
    };
  }

  return {
    define(declaration, ...settings) {
      const { name, text, keyCount, words, read } = bindScript(declaration, publishInScript, settings);
      if (declaration.announces && announcing === null) throw new Error(`nobody announces here what ${name} leaves`);
      const call = register(name, text, keyCount, declaration.announces ? announcing : null);
      return async (keys, args) => read(await call(words(keys, args)));
    },

    load(file, importedFrom, rate) {
      const path = fileURLToPath(new URL(`./${file}`, importedFrom));
      const name = basename(file, '.lua');
      const { source, keyCount } = assemble(path, publishInScript);
      const call = register(name, source, keyCount, source.includes('return answer(') ? announcing : null);
      return async (keys, args) => {
        if (keys.length !== keyCount || keyCount === 0)
          throw new Error(`${name} takes ${keyCount} keys, got ${keys.length}`);
        const [word, ...rest] = await call([...keys, ...args]);
        return word === 'OK' ? (rest as Reply) : refuse(String(word), rest, rate);
      };
    },
  };
}
