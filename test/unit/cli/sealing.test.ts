import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { keyedToSend } from '../../../services/cli/sealing.ts';
import type { Session } from '../../../shared/client/index.ts';
import { sealingFiles } from '../../../shared/client/node.ts';
import { keepDeviceKeys } from '../../../shared/client/sealed.ts';
import { adoptFirstRing } from '../../../shared/client/sealed/keyring.ts';
import { makeFirstRing } from '../../../shared/client/sealed/ring/change.ts';

const ACCOUNT = { service: 'https://baton.example', user_id: 'user-1', device_id: 'device-1' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Asks a service that is away for the ring, as before something is sent. */
async function askedOfNobody(): Promise<unknown> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const user = { user_id: ACCOUNT.user_id, name: 'User' };
  const ends = Date.now() + 3_600_000;
  const times = { access_token: 'token', access_expires_at: ends, session_expires_at: ends, expires_at: ends };
  const device = { device_id: ACCOUNT.device_id };
  const session = { device, user, origins: [url], ...times } as unknown as Session;
  const store = { load: async () => session, save: async () => {}, clear: async () => {} };
  const settings = { folder, sessionPath: '', givenUrl: null, keptUrl: null, url: '', keepUrl: async () => {} };
  return keyedToSend({ settings, session: store, output: { note: () => {} } }, url);
}

test('a device without keys sends nothing while the service cannot say whether it had any', async () => {
  await expect(askedOfNobody()).rejects.toMatchObject({ code: 'network' });
  expect(readdirSync(folder)).toEqual([]);
});

test('a device with keys sends nothing while the ring in force cannot be fetched', async () => {
  const { keys: store } = sealingFiles(folder);
  const { keys } = await keepDeviceKeys(store);
  const ring = await makeFirstRing(ACCOUNT, { device_id: ACCOUNT.device_id, keys, kind: 'cli' });
  await adoptFirstRing(store, ACCOUNT, ring.text, Date.now());
  await expect(askedOfNobody()).rejects.toMatchObject({ code: 'network' });
});
