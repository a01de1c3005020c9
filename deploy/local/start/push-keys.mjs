import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../setup/tree.mjs';

/**
 * Returns the VAPID keys of `npm start`, as environment of its replicas. They are made once and kept in the data
 * directory, so that subscribed browsers stay subscribed. The result is empty if keys are given, or in production.
 * Needs the build.
 */
export async function pushKeys(env, say) {
  const given = ['', '_FILE'].some((end) => env[`APP_VAPID_PUBLIC_KEY${end}`] || env[`APP_VAPID_PRIVATE_KEY${end}`]);
  if (given || env.NODE_ENV === 'production') return {};
  const folder = env.APP_DATA_DIR || join(ROOT, '.baton');
  const file = join(folder, 'vapid.json');
  const { checkVapidKey, makeVapidKeys } = await import(
    join(ROOT, 'dist/services/sync/push/senders/web-push/vapid.js')
  );
  try {
    mkdirSync(folder, { recursive: true });
    // If two first starts run at once, one writes and both read.
    writeFileSync(file, `${JSON.stringify(makeVapidKeys())}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') {
      say(`push: keys cannot be kept in ${folder} (${error.code}), and end with this run`);
      return {};
    }
  }
  const { publicKey, privateKey } = JSON.parse(readFileSync(file, 'utf8'));
  if (!checkVapidKey({ publicKey, privateKey })) throw new Error(`${file} holds no pair of keys: remove it`);
  return { APP_VAPID_PUBLIC_KEY: publicKey, APP_VAPID_PRIVATE_KEY: privateKey };
}
