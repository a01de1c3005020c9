import { Cluster } from 'ioredis';
import type { Connection } from '../../../shared/service-kit/redis/connections.ts';

/** Keys of one step, few enough to hold up a server for less than a millisecond. */
const KEYS_A_STEP = 500;

/** Yields all keys of a pattern and type from every primary, some of them twice. Takes too long for requests. */
export async function* scanKeys(connection: Connection, match: string, type: string): AsyncGenerator<string[]> {
  for (const server of connection instanceof Cluster ? connection.nodes('master') : [connection]) {
    for await (const found of server.scanStream({ match, type, count: KEYS_A_STEP })) yield found as string[];
  }
}
