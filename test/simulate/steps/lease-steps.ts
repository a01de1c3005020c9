import { wordsOf } from '../world/resp.ts';
import { type Ask, type Call, type Follower, makeFollower } from './model-steps.ts';

type Hash = ReadonlyMap<string, string>;

/** The leases of all replicas, and the reapers of the dead ones. */
interface Leases {
  counters: Hash;
  reaping: Hash;
}

async function hashAt(ask: Ask, key: string): Promise<Hash> {
  const words = wordsOf(await ask('HGETALL', key));
  return new Map(words.flatMap((name, i) => (i % 2 === 0 ? [[name, words[i + 1] ?? ''] as const] : [])));
}

/** Returns what is wrong with a step, by `Renew`, `Claim` and `LeaseOrReaper` of lease.tla; null if nothing is. */
function wrongLease({ name, args, reply }: Call, before: Leases | null, { counters, reaping }: Leases): string | null {
  const both = [...counters.keys()].find((id) => reaping.has(id));
  if (both !== undefined) return `${both} has a lease, and the reaper ${reaping.get(both)}`;
  const [id = '', counter = ''] = args;
  const known = before?.counters.get(id);
  if (name === 'lease-renew' && before !== null && known === undefined && counters.has(id))
    return `${id} had no lease, and a renewal made one`;
  const [, claimed = ''] = wordsOf(reply);
  if (name === 'lease-reap' && before !== null && claimed === '1' && counter !== '' && known !== counter)
    return `${id} was claimed with the counter ${counter}, and had ${known}`;
  return null;
}

/** Follows the leases by `lease.tla`. Their steps are not in steps.txt, which has only what one script sees. */
export const followLeases = (): Follower =>
  makeFollower<Leases>({
    record: /\{sys\}:replicas$/,
    look: async (ask, key) => ({
      counters: await hashAt(ask, key),
      reaping: await hashAt(ask, key.replace(/replicas$/, 'reaping')),
    }),
    wrong: wrongLease,
  });
