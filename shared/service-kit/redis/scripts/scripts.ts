import type { Histogram } from 'prom-client';
import { bindScript, type Settings } from './bound-script.ts';
import type { Connection } from '../connections.ts';
import { areScriptsTraced, scriptCalls } from '../../telemetry/trace-points.ts';
import { isAnswer, storeFault } from '../faults.ts';
import { sendUntilAnswered } from '../resend.ts';
import type { RunScript, ScriptDeclaration } from './script.ts';
import type { Raw, Word } from './script-values.ts';

export interface ScriptLoader {
  /** Loads a declared script, and returns a function that calls it. */
  define<K extends string, A, R, S extends string>(
    declaration: ScriptDeclaration<K, A, R, S>,
    ...settings: Settings<S>
  ): RunScript<K, A, R>;
}

/** Decides before each call whether it may be sent. Returns a function to call with whether the store answered. */
interface Gate {
  enter: (key: string) => (answered: boolean) => void;
}

/** Publishes what scripts announce to others than their caller. `key` is the first key of a call. */
export interface Announcing {
  /** False in a cluster, because a script may not publish to a channel of another slot there. */
  readonly publishInScript: boolean;
  /** Returns how often a connection was lost so far. `replied` and `failed` get the count from the beginning of the call. */
  readonly losses: () => number;
  /** Removes the announcements from the end of the reply. */
  replied: (reply: Raw[], key: string, lossesBefore: number) => void;
  failed: (error: unknown, key: string, lossesBefore: number) => void;
}

interface ScriptLoaderParts {
  connection: Connection;
  gate?: Gate;
  /** Null if no script here announces anything. */
  announcing: Announcing | null;
  /** `APP_RATE_LIMIT_SCALE`, for scripts that count a rate. */
  rateScale?: number;
  metrics?: { readonly redis_command_duration_seconds: Histogram<'module'> };
}

/** A script that is defined on the connection. */
interface DefinedScript {
  readonly call: (...words: Word[]) => Promise<Raw[]>;
  /** The index of the word that says how long ago a resent call was first sent; -1 for none. */
  readonly resentAt: number;
}

/** Defines a script on a connection, which sends its text the first time and its SHA-1 from then on. */
function addCommand(connection: Connection, name: string, lua: string, keyCount: number): DefinedScript['call'] {
  connection.defineCommand(name, { lua, numberOfKeys: keyCount });
  // The client's types do not include commands that are added by name.
  const command = Reflect.get(connection, name) as DefinedScript['call'];
  return (...words) => command.apply(connection, words);
}

/** Makes the script loader of a connection. A script's text is sent once, and again to a store that no longer has it. */
export function makeScriptLoader(parts: ScriptLoaderParts): ScriptLoader {
  const { connection, gate, announcing, rateScale, metrics } = parts;
  const publishInScript = announcing?.publishInScript ?? false;

  /** Sends a call. If the connection is lost, the call is resent, and then says how long ago it was first sent. */
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
        rateScale,
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
