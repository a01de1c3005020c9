import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Violation } from '../../chaos/checker/violation.ts';
import { wordsOf } from '../world/resp.ts';

/** What a model says of a step: its answer, and the state that it leaves. */
export interface Outcome {
  says: string;
  to: string;
}

/** Returns the steps that a model allows, by the words before their outcome. TLC printed them (test/models). */
export function readSteps(model: string): ReadonlyMap<string, Outcome> {
  const lines = readFileSync(new URL('../../models/steps.txt', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  return new Map(
    lines
      .filter(([of]) => of === model)
      .map((words) => [words.slice(1, -2).join(' '), { says: words.at(-2) ?? '', to: words.at(-1) ?? '' }]),
  );
}

/** A script that the store has carried out. */
export interface Call {
  name: string;
  keys: string[];
  args: string[];
  reply: Buffer;
}

export type Ask = (...words: string[]) => Promise<Buffer>;

/** The records of one kind in the store, and what its model says of their steps. */
export interface Replay<State> {
  record: RegExp;
  look: (ask: Ask, key: string) => Promise<State>;
  /** Returns what is wrong with a step; null if the model allows it. `before` is null for a record never seen. */
  wrong: (call: Call, before: State | null, after: State) => string | null;
}

/** Keeps the states of a kind of records, so that each step has a state before it. */
export interface Follower {
  record: RegExp;
  follow: (ask: Ask, key: string, call: Call) => Promise<string | null>;
}

export function makeFollower<State>({ record, look, wrong }: Replay<State>): Follower {
  const states = new Map<string, State>();
  return {
    record,
    async follow(ask, key, call) {
      const [before, after] = [states.get(key) ?? null, await look(ask, key)];
      states.set(key, after);
      return wrong(call, before, after);
    },
  };
}

/** Returns the values of some fields of a hash; '' for a field that does not exist. */
export async function fieldsAt<Name extends string>(
  ask: Ask,
  key: string,
  names: readonly Name[],
): Promise<Record<Name, string>> {
  const words = wordsOf(await ask('HMGET', key, ...names));
  return Object.fromEntries(names.map((name, i) => [name, words[i] ?? ''])) as Record<Name, string>;
}

interface ModelStepsParts {
  /** Asks the store on a connection that no replica has. */
  ask: Ask;
  now: () => number;
  followers: readonly Follower[];
}

/** Returns the reply of the script that is the last command of a transaction. */
const lastOf = (reply: Buffer): Buffer => reply.subarray(reply.lastIndexOf('\r\n*') + 2);

/**
 * Compares each script that the store runs on records with the steps of their models: the state before, the action, the answer,
 * the state after. One script runs at a time, so their order is known.
 */
export class ModelSteps {
  readonly violations: Violation[] = [];
  /** How many steps were compared. */
  count = 0;
  readonly #parts: ModelStepsParts;
  readonly #names = new Map<string, string>();
  /** Scripts that a transaction will run, by the connection. */
  readonly #queued = new Map<string, Omit<Call, 'reply'>>();

  constructor(parts: ModelStepsParts) {
    this.#parts = parts;
  }

  /** Takes an executed command with its reply. */
  async note(words: string[], reply: Buffer, connection: string): Promise<void> {
    const [command = '', script = '', count = '0'] = words;
    if (/^DEL$/i.test(command)) return this.#compare({ name: 'lost', keys: words.slice(1), args: [], reply });
    if (/^EXEC$/i.test(command)) {
      const call = this.#queued.get(connection);
      this.#queued.delete(connection);
      // If the store does not know the script, it gets it after the transaction.
      const ran = call !== undefined && reply.toString('latin1', 0, 2) === '*2' && !reply.includes('NOSCRIPT');
      return ran ? this.#compare({ ...call, reply: lastOf(reply) }) : undefined;
    }
    if (!/^EVAL/i.test(command)) return;
    const keysEnd = 3 + Number(count);
    const call = { name: this.#nameOf(command, script), keys: words.slice(3, keysEnd), args: words.slice(keysEnd) };
    if (reply.toString() === '+QUEUED\r\n') this.#queued.set(connection, call);
    else await this.#compare({ ...call, reply });
  }

  /** The text of a script names it; its digest stands for the text. */
  #nameOf(command: string, script: string): string {
    if (/^EVALSHA/i.test(command)) return this.#names.get(script) ?? '';
    const name = /^-- (\S+)$/m.exec(script)?.[1] ?? '';
    this.#names.set(createHash('sha1').update(script).digest('hex'), name);
    return name;
  }

  async #compare(call: Call): Promise<void> {
    const { ask, now, followers } = this.#parts;
    for (const key of call.keys) {
      for (const { follow } of followers.filter(({ record }) => record.test(key))) {
        const wrong = await follow(ask, key, call);
        this.count += 1;
        const says = `${call.name} on ${key}: ${wrong}`;
        if (wrong !== null) this.violations.push({ check: 'step', at: now(), account: '', device: null, says });
      }
    }
  }
}
