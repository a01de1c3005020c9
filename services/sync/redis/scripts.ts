import type { Metrics } from '../telemetry/metrics.ts';
import type { Announcer } from './announcer.ts';
import { bindScript, type Settings } from './bound-script.ts';
import type { Connection } from './connections.ts';
import { isAnswer, mayHaveRun, storeFault } from './faults.ts';
import type { Gate } from './gate.ts';
import type { RunScript, ScriptDeclaration } from './script.ts';
import type { Raw, Word } from './script-values.ts';

export interface ScriptLoader {
  /** Makes a declared script ready to be called. */
  define<K extends string, A, R, S extends string>(
    declaration: ScriptDeclaration<K, A, R, S>,
    ...settings: Settings<S>
  ): RunScript<K, A, R>;
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
  async function run(send: Send, words: Word[], announced: Announcing | null): Promise<Raw[]> {
    const key = words[0] as string;
    const leave = gate?.enter(key);
    const lossesBefore = announced?.losses();
    try {
      const reply = await send.call(connection, ...words);
      leave?.(true);
      // The client sends again what a lost connection left unanswered. A script that had taken effect the first time
      // finds nothing to announce the second time.
      if (announced) takeAnnouncements(announced, reply, key, announced.losses() !== lossesBefore);
      return reply;
    } catch (error) {
      leave?.(isAnswer(error));
      // Whether it took effect nobody knows, and so whoever should have heard of it is rung, once it can be done. Where
      // scripts publish themselves, what took effect was announced in the same step.
      const wasCut = announced?.losses() !== lossesBefore;
      if (announced && !publishInScript && (wasCut || mayHaveRun(error)))
        announced.announcer().notifyAccount(key, 'unknown');
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
    if (wasRepeated) announcer().notifyAccount(key, 'repeated');
    else if (wasCut) announcer().notifyAccount(key, 'cut');
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
        const reply = await run(send, words(keys, args), announced);
        stop?.();
        return read(reply);
      };
    },
  };
}
