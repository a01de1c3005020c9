import type { Ring } from '../../../shared/contract/modules/keys.ts';
import { wordsOf } from '../world/resp.ts';
import { type Call, fieldsAt, type Follower, makeFollower, readSteps } from './model-steps.ts';

const STEPS = readSteps('keyring');

/** The ring in force; `n` is 0 without one. */
interface InForce {
  n: number;
  hash: string;
}

/** Returns the hash of the preceding ring, which a ring has in its own bytes. */
function hashBefore(text: string): string {
  const [bytes = ''] = text.split('.');
  return (JSON.parse(Buffer.from(bytes, 'base64url').toString('utf8')) as Ring).prev_hash;
}

/** Returns what is wrong with the put of a ring; null if the model allows it. */
function wrongPut({ args, reply }: Call, before: InForce, after: InForce): string | null {
  const [number = '', hash = '', text = ''] = args;
  const n = Number(number);
  const place = n === before.n ? 'same' : n === before.n + 1 ? 'next' : 'other';
  const seen = hash === before.hash ? 'itself' : hashBefore(text) === before.hash ? 'follows' : 'foreign';
  const [, said = ''] = wordsOf(reply);
  const says = said === 'put' ? 'ok' : 'refused';
  const isSame = before.n === after.n && before.hash === after.hash;
  const isIt = after.n === n && after.hash === hash;
  const to = isSame ? 'stays' : isIt ? 'grows' : 'is another';
  const step = STEPS.get(`${place} ${seen} put`);
  if (step?.says === says && step.to === to) return null;
  return `ring ${n}, ${place} and ${seen}, was ${says} and the chain ${to}; the model says ${step?.says} and ${step?.to}`;
}

/** Follows the rings of accounts by `keyring.tla`. */
export const followRings = (): Follower =>
  makeFollower<InForce>({
    record: /\}:keys$/,
    async look(ask, key) {
      const { n, hash } = await fieldsAt(ask, key, ['n', 'hash']);
      return { n: Number(n), hash };
    },
    wrong(call, known, after) {
      const before = known ?? { n: 0, hash: '' };
      if (call.name === 'keyring-put') return wrongPut(call, before, after);
      const isSame = before.n === after.n && before.hash === after.hash;
      return isSame || (call.name === 'keyring-drop' && after.n === 0) ? null : `from ring ${before.n} to ${after.n}`;
    },
  });
