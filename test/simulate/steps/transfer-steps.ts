import { wordsOf } from '../world/resp.ts';
import { type Call, type Follower, makeFollower, readSteps } from './model-steps.ts';

const STEPS = readSteps('transfer');
const ENDED = new Set(['DONE', 'FAILED', 'CANCELLED']);
const GONE = 'gone';

interface TransferRecord {
  /** The state in the words of the model: `ACCEPTED+accepted`. */
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

/** Returns the answer in the words of the model. `again` also stands for the answer to a call that was sent again. */
function saidIn(reply: Buffer, before: TransferRecord, after: TransferRecord): string {
  const [word = '', , , , refusing = ''] = wordsOf(reply);
  if (word === 'not_a_party') return 'forbidden';
  if (word !== 'OK') return word;
  if (refusing !== '') return 'refused';
  return before.state === after.state ? 'again' : 'changes';
}

/** Returns what is wrong with the step that an action took; null if the model allows it. */
function wrongAct({ args, reply }: Call, before: TransferRecord, after: TransferRecord): string | null {
  const [device = '', action = '', , , , resentAfter = ''] = args;
  const by = device === '' ? 'system' : device === before.sender ? 'sender' : 'receiver';
  const isSame = before.state === after.state;
  const said = saidIn(reply, before, after);
  // If the store is unavailable or has no record, nothing may have changed.
  if (said === 'store_unavailable' || said === 'not_found') return isSame ? null : said;
  if (by === 'receiver' && device !== before.receiver)
    return isSame && said === 'forbidden' ? null : `${action} by another device was answered "${said}"`;
  // The call took effect the first time, whatever came since.
  if (resentAfter !== '' && said === 'again') return null;
  const step = STEPS.get(`${before.state} ${by} ${action}`);
  if (step?.says === said && step.to === after.state) return null;
  return `${action} by the ${by} was answered "${said}", and the model says "${step?.says}" and ${step?.to}`;
}

/** Returns what is wrong with the change of a record by any other script; null if the model allows it. */
function wrongElse({ name }: Call, before: TransferRecord, after: TransferRecord): string | null {
  if (before.state === after.state) return null;
  if (name === 'transfer-init') return before.state === GONE && after.state === 'PENDING' ? null : name;
  const [state = ''] = before.state.split('+');
  if (name === 'transfer-evict') return ENDED.has(state) && after.state === GONE ? null : name;
  const step = STEPS.get(`${before.state} system expire`);
  return name === 'transfer-expire' && step?.to === after.state ? null : name;
}

/** Follows the records of transfers by `transfer.tla`. */
export const followTransfers = (): Follower =>
  makeFollower<TransferRecord>({
    record: /:transfer:[^:]+$/,
    look: async (ask, key) => recordOf(await ask('HGETALL', key)),
    wrong(call, known, after) {
      const before = known ?? { state: GONE, sender: '', receiver: '' };
      const wrong = call.name === 'transfer-act' ? wrongAct(call, before, after) : wrongElse(call, before, after);
      return wrong && `from ${before.state} to ${after.state}: ${wrong}`;
    },
  });
