import { createHash } from 'node:crypto';
import type { Histogram } from 'prom-client';
import { bindScript, type Settings } from './bound-script.ts';
import type { Connection } from '../connections.ts';
import { areScriptsTraced, scriptCalls } from '../../telemetry/trace-points.ts';
import { isAnswer, storeFault } from '../faults.ts';
import type { RunScript, ScriptDeclaration } from './script.ts';
import { ScriptCommand, type ScriptText } from './script-command.ts';
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

/** Takes over what scripts announce to others than their caller. `key`: the first one of a call. */
export interface Announcing {
  /** False in a cluster: a script may not publish to a channel of another slot. */
  readonly publishInScript: boolean;
  /** How often a connection was lost so far. A call is told to the others with what this was when it began. */
  readonly losses: () => number;
  /** Takes what the script announced off the end of its reply. */
  replied: (reply: Raw[], key: string, lossesBefore: number) => void;
  failed: (error: unknown, key: string, lossesBefore: number) => void;
}

interface ScriptLoaderParts {
  connection: Connection;
  gate?: Gate;
  /** Null: no script here announces anything. */
  announcing: Announcing | null;
  metrics?: { readonly redis_command_duration_seconds: Histogram<'module'> };
}

/** The store has forgotten the script: it was started anew, or another one took its place. Nothing was done. */
const isUnknown = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/** Makes scripts ready for a connection, over which each is sent whole once, and again to a store that has forgotten it. */
export function makeScriptLoader(parts: ScriptLoaderParts): ScriptLoader {
  const { connection, gate, announcing, metrics } = parts;
  const publishInScript = announcing?.publishInScript ?? false;

  const send = (command: ScriptCommand): Promise<Raw[]> => connection.sendCommand(command) as Promise<Raw[]>;

  async function run(script: ScriptText, words: Word[], announced: Announcing | null): Promise<Raw[]> {
    const key = words[0] as string;
    const leave = gate?.enter(key);
    const lossesBefore = announced?.losses() ?? 0;
    let reply: Raw[];
    try {
      const command = new ScriptCommand(script, words);
      try {
        reply = await send(command);
      } catch (error) {
        if (!isUnknown(error)) throw error;
        reply = await send(new ScriptCommand(script, words, command));
      }
    } catch (error) {
      leave?.(isAnswer(error));
      announced?.failed(error, key, lossesBefore);
      throw storeFault(error);
    }
    leave?.(true);
    announced?.replied(reply, key, lossesBefore);
    return reply;
  }

  return {
    define(declaration, ...settings) {
      const { name, module, text, keyCount, resentAt, words, read } = bindScript(
        declaration,
        publishInScript,
        settings,
      );
      const announced = declaration.announces ? announcing : null;
      if (declaration.announces && announced === null) throw new Error(`nobody announces here what ${name} leaves`);
      const duration = metrics?.redis_command_duration_seconds.labels({ module });
      const script = { text, sha: createHash('sha1').update(text).digest('hex'), keyCount, resentAt };

      return async (keys, args) => {
        const startedMs = performance.now();
        const sent = words(keys, args);
        const reply = await (areScriptsTraced()
          ? scriptCalls.tracePromise(run, { script: name, module }, undefined, script, sent, announced)
          : run(script, sent, announced));
        duration?.observe((performance.now() - startedMs) / 1000);
        return read(reply);
      };
    },
  };
}
