import type { ServerResponse } from 'node:http';

/** The version of the wire contract. Changes within a version only add. */
const API_VERSION = '1';

/** Sets the version, which every response has, also errors and those of the broker (CONTRACT.md, "Conventions"). */
export function setVersion(res: ServerResponse): void {
  res.setHeader('X-Api-Version', API_VERSION);
}
