import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { keyedToSend } from '../../../services/cli/sealing.ts';
import type { Session } from '../../../shared/client/index.ts';

test('a device without keys sends nothing while the service cannot say whether it had any', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-cli-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const user = { user_id: 'user-1', name: 'User' };
  const ends = Date.now() + 3_600_000;
  const times = { access_token: 'token', access_expires_at: ends, session_expires_at: ends, expires_at: ends };
  const session = { device: { device_id: 'device-1' }, user, origins: [url], ...times } as unknown as Session;
  const store = { load: async () => session, save: async () => {}, clear: async () => {} };
  const settings = { folder, sessionPath: '', givenUrl: null, keptUrl: null, url: '', keepUrl: async () => {} };
  try {
    const asked = keyedToSend({ settings, session: store, output: { note: () => {} } }, url);
    await expect(asked).rejects.toMatchObject({ code: 'network' });
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
