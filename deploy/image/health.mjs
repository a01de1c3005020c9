import { readFileSync } from 'node:fs';
import { get } from 'node:http';

/*
 * The health check of the image, for engines that ask inside the container. Exit code 0 means that the service takes
 * traffic. It asks the service with which the container was started.
 */

const { env } = process;

/** Returns a setting as the service reads it: its own text, or that of the file that `<KEY>_FILE` names. */
function settingOf(key, fallback) {
  const file = env[`${key}_FILE`]?.trim();
  return env[key]?.trim() || (file && readFileSync(file, 'utf8').trim()) || fallback;
}

/** Addresses that stand for every address of the container. The check asks the loopback one. */
const ANY = ['0.0.0.0', '::'];

function hostOf(key) {
  const host = settingOf(key, '0.0.0.0');
  if (ANY.includes(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function end(exitCode, text) {
  process.stdout.write(`${text}\n`);
  process.exit(exitCode);
}

const isBroker = /\bbroker\b/.test(readFileSync('/proc/1/cmdline', 'utf8'));
const url = isBroker
  ? `http://${hostOf('BROKER_HOST')}:${settingOf('BROKER_PORT', 8090)}/healthz`
  : `http://${hostOf('APP_HOST')}:${settingOf('APP_ADMIN_PORT', 9090)}/readyz`;

get(url, { timeout: 2_500, agent: false }, (answer) => {
  let said = '';
  answer.setEncoding('utf8').on('data', (text) => (said += text));
  answer.on('end', () => end(answer.statusCode === 200 ? 0 : 1, `${answer.statusCode} ${said}`));
})
  .on('timeout', () => end(1, 'no answer within 2.5 s'))
  .on('error', (error) => end(1, error.message));
