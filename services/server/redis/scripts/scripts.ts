import type { Histogram } from 'prom-client';
import { bindScript, type Settings } from './bound-script.ts';
import type { Connection } from '../connections.ts';
import { areScriptsTraced, scriptCalls } from '../../telemetry/trace-points.ts';
import { isAnswer, storeFault } from '../faults.ts';
import type { RunScript, ScriptDeclaration } from './script.ts';
import type { Raw, Word } from './script-values.ts';

export interface ScriptLoader {
  /** Makes a declared script ready to be called. */
  define<K extends string, A, R, S extends string>(
    declaration: ScriptDeclaration<K, A, R, S>,
    ...settings: Settings<S>
  ): RunScript<K, A, R>;
}

/** Decides before each call whether it is worth sending; what it gives is called with whether the store answered. */
interface Gate {
  enter: (key: string) => (answered: boolean) => void;
}

/** What becomes of one call of a script that announces. */
export interface AnnouncingCall {
  /** Takes what the script announced off the end of its reply. */
  replied: (reply: Raw[]) => void;
  failed: (error: unknown) => void;
}

/** Takes over what scripts announce to others than their caller. */
export interface Announcing {
  /** False in a cluster: a script may not publish to a channel of another slot. */
  readonly publishInScript: boolean;
  /** A script that announces is about to be called, with this key first. */
  begin: (key: string) => AnnouncingCall;
}

interface ScriptLoaderParts {
  connection: Connection;
  /** What the commands of the client library are called first. */
  family?: string;
  gate?: Gate;
  /** Null: no script here announces anything. */
  announcing: Announcing | null;
  metrics?: { readonly redis_command_duration_seconds: Histogram<'module'> };
}

type Send = (...args: Word[]) => Promise<Raw[]>;

/** Registers scripts with the Redis client, which sends EVALSHA and recovers from NOSCRIPT by itself. */
export function makeScriptLoader(parts: ScriptLoaderParts): ScriptLoader {
  const { connection, family = 'baton', gate, announcing, metrics } = parts;
  const publishInScript = announcing?.publishInScript ?? false;

  async function run(send: Send, words: Word[], announced: Announcing | null): Promise<Raw[]> {
    const key = words[0] as string;
    const leave = gate?.enter(key);
    const call = announced?.begin(key);
    try {
      const reply = await send.call(connection, ...words);
      leave?.(true);
      call?.replied(reply);
      return reply;
    } catch (error) {
      leave?.(isAnswer(error));
      call?.failed(error);
      throw storeFault(error);
    }
  }

  return {
    define(declaration, ...settings) {
      const { name, module, text, keyCount, words, read } = bindScript(declaration, publishInScript, settings);
      const announced = declaration.announces ? announcing : null;
      if (declaration.announces && announced === null) throw new Error(`nobody announces here what ${name} leaves`);
      const command = `${family}_${name.replaceAll('-', '_')}`;
      connection.defineCommand(command, { lua: text, numberOfKeys: keyCount });
      const send = Reflect.get(connection, command) as Send;

      return async (keys, args) => {
        const stop = metrics?.redis_command_duration_seconds.startTimer({ module });
        const sent = words(keys, args);
        const reply = await (areScriptsTraced()
          ? scriptCalls.tracePromise(run, { script: name, module }, undefined, send, sent, announced)
          : run(send, sent, announced));
        stop?.();
        return read(reply);
      };
    },
  };
}
