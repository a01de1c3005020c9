import type { ServerResponse } from 'node:http';

/** Version of the wire contract; changes inside a version only add. */
const API_VERSION = '1';

/** What every answer carries, errors and those of the broker included (CONTRACT.md, "Conventions"). */
export function setVersion(res: ServerResponse): void {
  res.setHeader('X-Api-Version', API_VERSION);
}
