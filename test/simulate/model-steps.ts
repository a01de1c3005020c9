import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Violation } from '../chaos/checker/violation.ts';
import { wordsOf } from './world/resp.ts';

/** What a model says of a step: how it is answered, and the state that it leaves. */
interface Outcome {
  says: string;
  to: string;
}

/** The steps of transfers that the model allows, which TLC has printed (test/models). */
const STEPS = new Map<string, Outcome>(
  readFileSync(new URL('../models/steps.txt', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([model]) => model === 'transfer')
    .map(([, from, by, action, says = '', to = '']) => [`${from} ${by} ${action}`, { says, to }]),
);

const RECORD = /:transfer:[^:]+$/;
const ENDED = new Set(['DONE', 'FAILED', 'CANCELLED']);
const GONE = 'gone';

interface TransferRecord {
  /** As the model writes it: `ACCEPTED+accepted`. */
  state: string;
  sender: string;
  receiver: string;
}

function recordOf(reply: Buffer): TransferRecord {
  const words = wordsOf(reply);
  const field = (name: string): string => {
    const at = words.findIndex((word, i) => i % 2 === 0 && word === name);
    return at === -1 ? '' : (words[at + 1] ?? '');
  };
  const [sender, receiver] = [field('sender'), field('receiver')];
  if (words.length === 0) return { state: GONE, sender, receiver };
  const isRejected = field('error').includes('"code":"rejected"');
  const more = [field('accepted') === '1' && 'accepted', field('relay') === '1' && 'relay', isRejected && 'rejected'];
  return { state: [field('state'), ...more].filter(Boolean).join('+'), sender, receiver };
}

/** A script that the store has carried out. */
interface Call {
  name: string;
  args: string[];
  reply: Buffer;
}

/** What the answer says, in the words of the model; `again` also stands for what a call that was sent again hears. */
function saidIn(reply: Buffer, before: TransferRecord, after: TransferRecord): string {
  const [word = '', , , , refusing = ''] = wordsOf(reply);
  if (word === 'not_a_party') return 'forbidden';
  if (word !== 'OK') return word;
  if (refusing !== '') return 'refused';
  return before.state === after.state ? 'again' : 'changes';
}

/** Returns what is wrong about the step that an action took; null where the model allows it. */
function wrongAct({ args, reply }: Call, before: TransferRecord, after: TransferRecord): string | null {
  const [device = '', action = '', , , , resentAfter = ''] = args;
  const by = device === '' ? 'system' : device === before.sender ? 'sender' : 'receiver';
  if (by === 'receiver' && device !== before.receiver) return before.state === after.state ? null : 'by another device';
  const isSame = before.state === after.state;
  const said = saidIn(reply, before, after);
  // Nobody knows, or nothing is there: then it has changed nothing.
  if (said === 'store_unavailable' || said === 'not_found') return isSame ? null : said;
  // It took effect the first time, whatever came since.
  if (resentAfter !== '' && said === 'again') return null;
  const step = STEPS.get(`${before.state} ${by} ${action}`);
  if (step?.says === said && step.to === after.state) return null;
  return `${action} by the ${by} was answered "${said}", and the model says "${step?.says}" and ${step?.to}`;
}

/** Returns what is wrong about what any other script made of a record; null where the model allows it. */
function wrongElse({ name }: Call, before: TransferRecord, after: TransferRecord): string | null {
  if (before.state === after.state) return null;
  if (name === 'transfer-init') return before.state === GONE && after.state === 'PENDING' ? null : name;
  const [state = ''] = before.state.split('+');
  if (name === 'transfer-evict') return ENDED.has(state) && after.state === GONE ? null : name;
  const step = STEPS.get(`${before.state} system expire`);
  return name === 'transfer-expire' && step?.to === after.state ? null : name;
}

interface ModelStepsParts {
  /** Asks the store aside of all replicas. */
  ask: (...words: string[]) => Promise<Buffer>;
  now: () => number;
}

/**
 * Compares each script that the store carries out on the record of a transfer with the steps of `transfer.tla`: the state
 * before, the action, the answer, the state after. One script runs at a time, so that their order is known.
 */
export class ModelSteps {
  readonly violations: Violation[] = [];
  /** How many steps were compared. */
  count = 0;
  readonly #parts: ModelStepsParts;
  readonly #names = new Map<string, string>();
  readonly #records = new Map<string, TransferRecord>();

  constructor(parts: ModelStepsParts) {
    this.#parts = parts;
  }

  /** Takes a command that was carried out, with its reply. */
  async note(words: string[], reply: Buffer): Promise<void> {
    const [command = '', script = '', count = '0'] = words;
    if (!/^EVAL/i.test(command)) return;
    const name = this.#nameOf(command, script);
    const keysEnd = 3 + Number(count);
    for (const key of words.slice(3, keysEnd)) {
      if (RECORD.test(key)) await this.#compare(key, { name, args: words.slice(keysEnd), reply });
    }
  }

  /** The text of a script names it; its digest stands for the text. */
  #nameOf(command: string, script: string): string {
    if (/^EVALSHA/i.test(command)) return this.#names.get(script) ?? '';
    const name = /^-- (\S+)$/m.exec(script)?.[1] ?? '';
    this.#names.set(createHash('sha1').update(script).digest('hex'), name);
    return name;
  }

  async #compare(key: string, call: Call): Promise<void> {
    const before = this.#records.get(key) ?? { state: GONE, sender: '', receiver: '' };
    const after = recordOf(await this.#parts.ask('HGETALL', key));
    this.#records.set(key, after);
    const wrong = call.name === 'transfer-act' ? wrongAct(call, before, after) : wrongElse(call, before, after);
    this.count += 1;
    if (wrong === null) return;
    const says = `${key} went from ${before.state} to ${after.state}: ${wrong}`;
    this.violations.push({ check: 'step', at: this.#parts.now(), account: '', device: null, says });
  }
}
