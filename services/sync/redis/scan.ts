import { Cluster } from 'ioredis';
import type { Connection } from '../../../shared/service-kit/redis/connections.ts';

/** Small enough that a server is held up for less than a millisecond. */
const KEYS_A_STEP = 500;

/** All keys of a pattern and type, from every primary; some of them twice. Takes long: not for requests. */
export async function* scanKeys(connection: Connection, match: string, type: string): AsyncGenerator<string[]> {
  for (const server of connection instanceof Cluster ? connection.nodes('master') : [connection]) {
    for await (const found of server.scanStream({ match, type, count: KEYS_A_STEP })) yield found as string[];
  }
}
