import { readFileSync } from 'node:fs';
import { get } from 'node:http';

/*
 * The health check of the image, for engines that ask inside the container. Exit code 0 means that the service takes
 * traffic. It asks the service with which the container was started.
 */

const { env } = process;
const isBroker = /\bbroker\b/.test(readFileSync('/proc/1/cmdline', 'utf8'));
const url = isBroker
  ? `http://127.0.0.1:${env.BROKER_PORT || 8090}/healthz`
  : `http://127.0.0.1:${env.APP_ADMIN_PORT || 9090}/readyz`;

function end(exitCode, text) {
  process.stdout.write(`${text}\n`);
  process.exit(exitCode);
}

get(url, { timeout: 2_500, agent: false }, (answer) => {
  let said = '';
  answer.setEncoding('utf8').on('data', (text) => (said += text));
  answer.on('end', () => end(answer.statusCode === 200 ? 0 : 1, `${answer.statusCode} ${said}`));
})
  .on('timeout', () => end(1, 'no answer within 2.5 s'))
  .on('error', (error) => end(1, error.message));
