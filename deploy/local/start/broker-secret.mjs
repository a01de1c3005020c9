import { randomBytes } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../setup/tree.mjs';

const NAME = 'broker-secret';

/** Writes the file completely or not at all. If two first starts run at once, one writes and both read. */
function make(file) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'w' });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
}

/**
 * Returns the environment that gives the broker of `npm start` its secret, which encrypts the broker's keys in the store. The
 * secret is in a file of mode 0600 in the data directory, made at the first start. A given secret is used instead. If no file
 * can be kept, the secret lasts for this run.
 */
export function brokerSecret(env, say) {
  if (env.BROKER_SECRET || env.BROKER_SECRET_FILE) return {};
  const folder = env.APP_DATA_DIR || join(ROOT, '.baton');
  const file = join(folder, NAME);
  try {
    mkdirSync(folder, { recursive: true });
    make(file);
    // A copy of the file may have other permissions.
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  } catch (error) {
    say(`broker: its secret cannot be kept in ${folder} (${error.code}), and ends with this run`);
    return { BROKER_SECRET: randomBytes(32).toString('hex') };
  }
  let text;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(
      `${file} holds the broker's secret and cannot be read (${error.code}): give this user the right to, or remove it`,
    );
  }
  if (text.split(',').some((secret) => secret.length < 32)) throw new Error(`${file} holds no secret: remove it`);
  return { BROKER_SECRET_FILE: file };
}
