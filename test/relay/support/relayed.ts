import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeParties, type Parties } from '../../transfers/parties.ts';
import type { ReplicaProcess } from '../../support/replicas.ts';

export const MIB = 1024 * 1024;

/** Returns bytes that repeat nowhere near, made quickly. */
export function someBytes(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  const block = randomBytes(Math.min(size, 65_521));
  for (let at = 0; at < size; at += block.length) block.copy(bytes, at);
  for (let at = 0; at + 8 <= size; at += 65_536) bytes.writeBigUInt64LE(BigInt(at), at);
  return bytes;
}

/** Makes a folder that the test removes in the end. */
export function makeFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'baton-relay-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Files that one device has offered to another, with the relay in use. */
export interface Relayed extends Parties {
  readonly id: string;
  readonly url: (replica: { url: string }, index?: number, generation?: number) => string;
}

interface Options {
  sizes: number[];
  accept?: boolean;
  names?: string[];
}

export async function relayFiles(replica: ReplicaProcess, { sizes, accept = true, names }: Options): Promise<Relayed> {
  const parties = await makeParties(replica);
  const sender = parties.sender.on(replica);
  const files = sizes.map((size, i) => ({ name: names?.[i] ?? `file-${i}.bin`, size }));
  const { body } = await sender.call('initTransfer', { body: { to: 'Receiver', files } });
  const { transfer_id: id } = body.transfer;
  const params = { transfer_id: id };
  await sender.call('relayTransfer', { params });
  if (accept) await parties.receiver.on(replica).call('acceptTransfer', { params });
  return {
    ...parties,
    id,
    url: ({ url }, index = 0, generation = 0) => `${url}/api/relay/${id}/${index}/${generation}`,
  };
}

export function writeFile(folder: string, name: string, size: number): { path: string; sha: string } {
  const bytes = someBytes(size);
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return { path, sha: createHash('sha256').update(bytes).digest('hex') };
}
