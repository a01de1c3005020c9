import type { Violation } from '../chaos/checker/violation.ts';
import { wordsOf } from './world/resp.ts';

const STATE = /:relay:(\{[^}]+\}:\d+):state$/;
/** The text of the script that takes a chunk or refuses it. */
const COMMIT = /^-- relay-commit$/m;
const RECORD = /:transfer:([^:]+)$/;

/** Reads the state of a file in the relay, the last id of its stream, and the end and the size of each chunk. */
const LOOK = `
local s = redis.call('HMGET', KEYS[1], 'g', 'end')
local stream = s[1] and string.gsub(KEYS[1], 'state$', s[1])
if not stream or redis.call('EXISTS', stream) == 0 then return {} end
local info, found = redis.call('XINFO', 'STREAM', stream), { s[1], s[2] }
for i = 1, #info, 2 do if info[i] == 'last-generated-id' then found[3] = string.match(info[i + 1], '^%d+') end end
for _, chunk in ipairs(redis.call('XRANGE', stream, '-', '+')) do
  found[#found + 1] = string.match(chunk[1], '^%d+')
  found[#found + 1] = tostring(#chunk[2][2])
end
return found`;

/** Returns what is wrong with the bytes of a file, by `OnePiece` of relay.tla; null if nothing is. */
function wrongBytes([, end = '', last = '', ...chunks]: string[]): string | null {
  if (last !== end) return `its bytes end at ${last}, and its state says ${end}`;
  for (let i = 2; i < chunks.length; i += 2) {
    const begin = Number(chunks[i]) - Number(chunks[i + 1]);
    if (begin !== Number(chunks[i - 2]))
      return `a chunk that begins at ${begin} follows one that ends at ${chunks[i - 2]}`;
  }
  return null;
}

interface RelayInvariantsParts {
  /** Asks the store on a connection that no replica has. */
  ask: (...words: string[]) => Promise<Buffer>;
  now: () => number;
}

/** Compares the store with what `relay.tla` says of each of its states, after each script that may change it. */
export class RelayInvariants {
  readonly violations: Violation[] = [];
  /** How many states were compared. */
  count = 0;
  readonly #parts: RelayInvariantsParts;
  /** States that a transaction will change. */
  readonly #queued = new Set<string>();
  /**
   * How many chunks of a file still wait for their script. If the store does not know the script, it gets it after the
   * transaction.
   */
  readonly #uncommitted = new Map<string, number>();

  constructor(parts: RelayInvariantsParts) {
    this.#parts = parts;
  }

  /** Takes an executed command with its reply. */
  async note(words: string[], reply: Buffer): Promise<void> {
    const [command = '', script = '', count = '0'] = words;
    if (/^EXEC$/i.test(command)) {
      const queued = [...this.#queued];
      this.#queued.clear();
      const isUnknown = reply.includes('NOSCRIPT');
      for (const key of queued) {
        if (isUnknown) this.#countUncommitted(key, 1);
        else await this.#checkBytes(key);
      }
    }
    if (!/^EVAL/i.test(command)) return;
    for (const key of words.slice(3, 3 + Number(count))) {
      if (STATE.test(key) && COMMIT.test(script)) this.#countUncommitted(key, -1);
      if (STATE.test(key) && reply.toString() === '+QUEUED\r\n') this.#queued.add(key);
      else if (STATE.test(key)) await this.#checkBytes(key);
      else if (RECORD.test(key)) await this.#checkRecord(key);
    }
  }

  #countUncommitted(key: string, more: number): void {
    this.#uncommitted.set(key, Math.max(0, (this.#uncommitted.get(key) ?? 0) + more));
  }

  async #checkBytes(key: string): Promise<void> {
    if ((this.#uncommitted.get(key) ?? 0) > 0) return;
    const found = wordsOf(await this.#parts.ask('EVAL', LOOK, '1', key));
    if (found.length === 0) return;
    this.count += 1;
    const wrong = wrongBytes(found);
    if (wrong !== null) this.#violate(`${key} in generation ${found[0]}: ${wrong}`);
  }

  /**
   * Checks that the stream of a generation is made before the record names it. Each transfer here has one file in the
   * relay.
   */
  async #checkRecord(key: string): Promise<void> {
    const [, id = ''] = RECORD.exec(key) ?? [];
    const [begun = ''] = wordsOf(await this.#parts.ask('HMGET', key, 'r0'));
    const state = `${key.slice(0, key.indexOf(':'))}:relay:{${id}}:0:state`;
    const [generation = ''] = wordsOf(await this.#parts.ask('HMGET', state, 'g'));
    if (begun === '' || generation === '') return;
    this.count += 1;
    const [recorded = ''] = begun.split(':');
    if (Number(recorded) > Number(generation))
      this.#violate(`${key} is in generation ${recorded}, and its bytes are in generation ${generation}`);
  }

  #violate(says: string): void {
    this.violations.push({ check: 'step', at: this.#parts.now(), account: '', device: null, says });
  }
}
