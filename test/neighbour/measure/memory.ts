import type { Redis } from 'ioredis';
import type { Store } from '../store.ts';

const PAGE = 500;
const LOOK_MS = 500;

/** What a store holds, in bytes. */
export interface MemoryFigures {
  /** Bytes of keys, and all bytes that are not known to be something else. */
  stored: number;
  /** Bytes of requests and answers of clients. */
  connections: number;
}

/** Fields of INFO memory that belong to replication, the append-only file and the bus of a cluster. */
const OTHERS = ['mem_clients_slaves', 'mem_cluster_links', 'mem_aof_buffer', 'mem_replication_backlog'];

async function memoryOf(redis: Redis): Promise<MemoryFigures> {
  // Both come in one transaction, because the figures for clients in INFO are seconds old, and large answers come and
  // go within a second.
  const answers = (await redis.multi().info('memory').client('LIST').exec()) ?? [];
  const [info = '', list = ''] = answers.map(([, text]) => String(text));
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const clients = [...list.matchAll(/flags=([^ ]*) .*?tot-mem=(\d+)/g)];
  const connections = clients.reduce((sum, [, flags, bytes]) => (flags?.includes('S') ? sum : sum + Number(bytes)), 0);
  const stored = OTHERS.reduce((bytes, name) => bytes - field(name), field('used_memory')) - connections;
  return { stored, connections };
}

async function memoryOfAll({ primaries }: Store): Promise<MemoryFigures> {
  const each = await Promise.all(primaries.map(memoryOf));
  const sum = (of: keyof MemoryFigures) => each.reduce((all, one) => all + one[of], 0);
  return { stored: sum('stored'), connections: sum('connections') };
}

/** Looks repeatedly at what the store holds. The returned function tells how much it was before, and at most. */
export async function watchMemory(store: Store): Promise<() => Promise<Record<'before' | 'highest', MemoryFigures>>> {
  const before = await memoryOfAll(store);
  const highest = { ...before };
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const now = await memoryOfAll(store);
      highest.stored = Math.max(highest.stored, now.stored);
      highest.connections = Math.max(highest.connections, now.connections);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  })();
  return async () => {
    isOver = true;
    await looking;
    return { before, highest };
  };
}

/** Returns the kind of a key: its owner's word for it, or the first word of a key of no account. */
function kindOf(key: string, prefix: string, attacker: string): string | null {
  const rest = key.slice(prefix.length + 1);
  const own = `{${attacker}}:`;
  if (rest.startsWith(own)) return (rest.slice(own.length).split(':')[0] as string) || null;
  if (rest.startsWith('relay:')) return 'relay bytes';
  const shared = /^(login|push|rate|\{sys\}:revoked|due)\b/.exec(rest)?.[1];
  return shared === undefined ? null : `shared: ${shared}`;
}

/** Returns the memory that the keys of the attacker's account, and of no account, take, by kind. */
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
