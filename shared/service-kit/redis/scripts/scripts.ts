import type { Histogram } from 'prom-client';
import { bindScript, type Settings } from './bound-script.ts';
import type { Connection } from '../connections.ts';
import { areScriptsTraced, scriptCalls } from '../../telemetry/trace-points.ts';
import { isAnswer, storeFault } from '../faults.ts';
import { sendUntilAnswered } from '../resend.ts';
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

/** A script as the connection knows it. */
interface DefinedScript {
  readonly call: (...words: Word[]) => Promise<Raw[]>;
  /** Which of the words says how long ago a call was first sent, if it is sent again; -1: none does. */
  readonly resentAt: number;
}

/** Adds a script to a connection, which sends its text the first time and its SHA-1 from then on. */
function addCommand(connection: Connection, name: string, lua: string, keyCount: number): DefinedScript['call'] {
  connection.defineCommand(name, { lua, numberOfKeys: keyCount });
  // The client's types do not know commands that are added by name.
  const command = Reflect.get(connection, name) as DefinedScript['call'];
  return (...words) => command.apply(connection, words);
}

/** Makes scripts ready for a connection, over which each is sent whole once, and again to a store that has forgotten it. */
export function makeScriptLoader(parts: ScriptLoaderParts): ScriptLoader {
  const { connection, gate, announcing, metrics } = parts;
  const publishInScript = announcing?.publishInScript ?? false;

  /** When the connection was lost, the call is made again, and then says how long ago it was made first. */
  const send = ({ call, resentAt }: DefinedScript, words: Word[]): Promise<Raw[]> =>
    sendUntilAnswered(connection, (resentAfterMs) => {
      if (resentAfterMs !== null && resentAt !== -1) words[resentAt] = Math.ceil(resentAfterMs);
      return call(...words);
    });

  async function run(script: DefinedScript, words: Word[], announced: Announcing | null): Promise<Raw[]> {
    const key = words[0] as string;
    const leave = gate?.enter(key);
    const lossesBefore = announced?.losses() ?? 0;
    let reply: Raw[];
    try {
      reply = await send(script, words);
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
      const script = { call: addCommand(connection, `script:${module}:${name}`, text, keyCount), resentAt };

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
