import { Redis } from 'ioredis';
import type { Harm } from './store.ts';
import { wait } from '../wait.ts';

const UNHARMED = { loss: null, movedClock: false };

/** A connection to one node, for doing harm to it. It outlives the harm. */
export function lookInto(port: number): Redis {
  const look = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: 50, retryStrategy: () => 100 });
  look.on('error', () => undefined);
  return look;
}

/**
 * Cuts every connection of a type again and again while it holds, so that the next one is cut in the middle of its
 * repair.
 */
const cutClients =
  (nodes: readonly Redis[], type: 'pubsub' | 'normal'): Harm =>
  async ({ holdMs, now }) => {
    const until = now() + holdMs;
    do {
      await Promise.all(nodes.map((node) => node.call('CLIENT', 'KILL', 'TYPE', type)));
      await wait(700);
    } while (now() < until);
    return { ...UNHARMED, target: `all ${type} connections` };
  };

async function onPrimary<T>(nodes: readonly Redis[], read: (node: Redis) => Promise<T>): Promise<T> {
  const readThere = async (node: Redis) => {
    const [role] = (await node.call('ROLE')) as [string];
    if (role !== 'master') throw new Error(role);
    return await read(node);
  };
  return await Promise.any(nodes.map(readThere));
}

/** Returns the routes and the presence of an account, from the nodes that hold them, one line each. */
export async function peekInto(nodes: readonly Redis[], account: string): Promise<string> {
  const parts = ['routes', 'presence'].map(async (part) => {
    const rows = onPrimary(nodes, (node) => node.hgetall(`chaos:{${account}}:${part}`));
    const found = await rows
      .then((all) => Object.entries(all).map((pair) => pair.join(' ')))
      .catch(() => ['not readable']);
    return `${part}: ${found.join(' | ').replaceAll('\n', ' ')}`;
  });
  return (await Promise.all(parts)).join('; ');
}

async function flush(node: Redis): Promise<void> {
  const [role] = (await node.call('ROLE')) as [string];
  if (role === 'master') await node.flushall();
}

/** Returns the harms that can be done to any kind of Redis from outside, given a connection to each of its nodes. */
export const harmsOfAnyStore = (nodes: readonly Redis[]): Record<string, Harm> => ({
  'cut-pubsub': cutClients(nodes, 'pubsub'),
  'cut-normal': cutClients(nodes, 'normal'),
  flushall: async () => {
    await Promise.all(nodes.map(flush));
    return { target: 'all nodes', loss: { since: null, times: 1 }, movedClock: false };
  },
});
