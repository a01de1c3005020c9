import type { Redis } from 'ioredis';
import type { Store } from '../store.ts';

const PAGE = 500;
const LOOK_MS = 500;

/** Of INFO memory: what belongs to connections and files, and not to what is stored. */
const NOT_STORED = ['mem_clients_normal', 'mem_clients_slaves', 'mem_cluster_links', 'mem_aof_buffer'];

async function storedBytesOf(redis: Redis): Promise<number> {
  const text = await redis.info('memory');
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return NOT_STORED.reduce((bytes, name) => bytes - field(name), field('used_memory'));
}

const storedBytes = async ({ primaries }: Store): Promise<number> => {
  const each = await Promise.all(primaries.map(storedBytesOf));
  return each.reduce((sum, bytes) => sum + bytes, 0);
};

/** Looks again and again at how much the store holds; the function tells how much it was before and at most. */
export async function watchMemory(store: Store): Promise<() => Promise<{ before: number; highest: number }>> {
  const before = await storedBytes(store);
  let highest = before;
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      highest = Math.max(highest, await storedBytes(store));
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  })();
  return async () => {
    isOver = true;
    await looking;
    return { before, highest };
  };
}

/** The kind of a key: what its owner calls it, or, of keys of no account, its first word. */
function kindOf(key: string, prefix: string, attacker: string): string | null {
  const rest = key.slice(prefix.length + 1);
  const own = `{${attacker}}:`;
  if (rest.startsWith(own)) return (rest.slice(own.length).split(':')[0] as string) || null;
  if (rest.startsWith('relay:')) return 'relay bytes';
  const shared = /^(login|push|rate|\{sys\}:revoked|due)\b/.exec(rest)?.[1];
  return shared === undefined ? null : `shared: ${shared}`;
}

/** What the keys of the attacker's account, and of nobody's account, take in memory, by kind. */
export async function bytesByKind(store: Store, prefix: string, attacker: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const redis of store.primaries) {
    for await (const page of redis.scanStream({ match: `${prefix}:*`, count: PAGE })) {
      const keys = page as string[];
      const looks = redis.pipeline();
      for (const key of keys) looks.call('MEMORY', 'USAGE', key, 'SAMPLES', '0');
      const answers = (await looks.exec()) ?? [];
      for (const [i, key] of keys.entries()) {
        const kind = kindOf(key, prefix, attacker);
        if (kind !== null) found[kind] = (found[kind] ?? 0) + Number(answers[i]?.[1] ?? 0);
      }
    }
  }
  return found;
}
