import { join } from 'node:path';
import { makeKeys } from '../../services/sync/redis/keys.ts';
import type { Site } from '../support/site.ts';
import { expectProblem } from '../support/wire.ts';
import { acknowledge, append, read, untilSent } from './support/asking.ts';
import { sha256 } from './support/curl.ts';
import { type SiteWithRelayStore, startSiteWithRelayStore } from './support/own-store.ts';
import { makeFolder, MIB, relayFiles, someBytes, writeFile } from './support/relayed.ts';
import { keepReceiving, keepSending } from './support/resuming.ts';

/* The relay's own Redis is at its limit. */

let own: SiteWithRelayStore;
let site: Site;
let bytesOf: SiteWithRelayStore['bytes'];
const folder = makeFolder();
beforeAll(async () => {
  own = await startSiteWithRelayStore({ APP_RELAY_MEMORY_PERCENT: '100' });
  ({ site, bytes: bytesOf } = own);
});
afterEach(() => bytesOf.config('SET', 'maxmemory', '0'));
afterAll(async () => {
  await own.stop();
  folder.remove();
});

/** From now on the store lacks this much memory for what it holds. */
async function lack(bytes: number): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await bytesOf.info('memory'))?.[1]);
  await bytesOf.config('SET', 'maxmemory', String(used - bytes));
}

test('what is there can be had, which makes room for the rest of it', async () => {
  const size = 30 * MIB;
  const file = writeFile(folder.path, 'full', size);
  const relayed = await relayFiles(site.one, { sizes: [size] });
  const side = { transferId: relayed.id, size };
  const up = keepSending({ ...side, device: relayed.sender, replica: () => site.one, path: file.path });
  // That is far more than the lack, so the bytes that the receiver takes make room.
  await untilSent(relayed, site.one, 6 * MIB);
  await lack(MIB);
  const to = join(folder.path, 'full.out');
  const down = keepReceiving({ ...side, device: relayed.receiver, replica: () => site.two, path: to });
  await down.done;
  up.stop();
  await up.done;
  const story = { up: up.story, down: down.story };
  expect({ sha: await sha256(to), story }).toEqual({ sha: file.sha, story });
});

test('an upload is told that there is no memory, and an acknowledgement gives some back', async () => {
  const bytes = someBytes(2 * MIB);
  const relayed = await relayFiles(site.one, { sizes: [4 * MIB] });
  await append(relayed, site.one, { offset: 0, body: bytes });
  await lack(MIB);
  expectProblem(await append(relayed, site.one, { offset: 2 * MIB, body: bytes }), 'relay_busy');
  expect((await read(relayed, site.two, `bytes=0-${2 * MIB - 1}`)).bytes.equals(bytes)).toBe(true);
  expect((await acknowledge(relayed, site.two, 2 * MIB)).status).toBe(204);
  expect(await bytesOf.xlen(makeKeys(site.prefix).relayBytes(relayed.id, 0, 0))).toBe(0);
});
