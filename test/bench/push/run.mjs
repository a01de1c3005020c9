import { fork } from 'node:child_process';
import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildOrExit } from '../../../deploy/build/build.mjs';
import { makeCertificate } from '../../../deploy/local/setup/certificate.mjs';
import { freePort, startRedis } from '../../../deploy/local/setup/redis.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../../deploy/local/setup/setup.mjs';
import { spread } from '../rounds/figures.mjs';
import { makeDevice, openPair } from '../load/client-pairs.mjs';

/*
 * `npm run bench:push`: measures two replicas, one Redis, and a push service that answers after 50 ms. It shows how
 * soon a push arrives, how fast thousands that are queued at once are drained, and what that does to events between
 * other devices.
 */

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({
  options: {
    pushes: { type: 'string', default: '5000' },
    concurrency: { type: 'string', default: '10' },
    ms: { type: 'string', default: '50' },
    rate: { type: 'string', default: '100' },
    singles: { type: 'string', default: '50' },
    appendonly: { type: 'boolean', default: false },
  },
});
/** The phones of one account, which one message wakes. */
const PHONES = 20;
const SECONDS_BEFORE = 10;

requireNode();
installPackages();
await buildOrExit();
const folder = mkdtempSync(join(tmpdir(), 'baton-bench-push-'));
makeCertificate({ folder, hosts: ['127.0.0.1'] });
const redis = await startRedis({ path: requireRedisServer('APP_REDIS_URL'), detached: true });
const { Redis } = await import('ioredis');
const store = new Redis(redis.url);
if (!values.appendonly) await store.config('SET', 'appendonly', 'no');
const children = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  redis.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const run = (path, args, env) => {
  const child = fork(path, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 2, 2, 'ipc'] });
  children.push(child);
  return child;
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const provider = run(at('./provider.mjs'), [join(folder, 'key.pem'), join(folder, 'cert.pem'), values.ms]);
const [{ port: providerPort }] = await once(provider, 'message');
const endpointHost = `127.0.0.1:${providerPort}`;
async function ask() {
  const answer = once(provider, 'message');
  provider.send('?');
  return (await answer)[0];
}

async function startReplica() {
  const [port, adminPort] = [await freePort(), await freePort()];
  run(at('../../../dist/services/sync/main.js'), [], {
    ...{ APP_IDENTITY: 'dev', APP_REDIS_URL: redis.url, APP_DRAIN_SECONDS: '0', APP_RATE_LIMIT_SCALE: '0' },
    ...{ APP_PORT: String(port), APP_ADMIN_PORT: String(adminPort), APP_LOG_LEVEL: 'warn' },
    ...{ APP_PUSH_ENDPOINTS: endpointHost, APP_PUSH_CONCURRENCY: values.concurrency },
    NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
  while (!(await isReady())) await pause(50);
  return { url: `http://127.0.0.1:${port}`, metrics: `http://127.0.0.1:${adminPort}/metrics` };
}
const [one, two] = [await startReplica(), await startReplica()];

const keys = {
  p256dh: createECDH('prime256v1').generateKeys('base64url'),
  auth: randomBytes(16).toString('base64url'),
};
async function enrol(phones) {
  const user = `bench-${randomBytes(6).toString('hex')}`;
  const sender = makeDevice({ url: one.url, user, name: 'Sender' });
  await sender.client.call('getMe');
  const all = Array.from({ length: phones }, (_, i) => makeDevice({ url: two.url, user, name: `Phone ${i}` }));
  // All devices exist before the first one subscribes. Otherwise it would get pushes about the others.
  for (const phone of all) await phone.client.call('getMe');
  for (const phone of all) {
    const endpoint = `https://${endpointHost}/${randomBytes(9).toString('hex')}`;
    await phone.client.call('subscribePush', { body: { endpoint, keys } });
  }
  return sender;
}

/** Sends events between other devices, evenly spaced, until `until` resolves. */
async function exchange(pairs, until) {
  const samples = [];
  const running = [];
  let isOver = false;
  void until.then(() => (isOver = true));
  for (let i = 0; !isOver; i += 1) {
    const atMs = performance.now();
    running.push(pairs[i % pairs.length].exchange().then((ms) => samples.push({ atMs, ms })));
    await pause(1_000 / Number(values.rate));
  }
  await Promise.all(running);
  return samples;
}

const shown = ({ p50, p95, p99 }) => [p50, p95, p99].map((ms) => ms.toFixed(1)).join(' / ');
const say = (text) => process.stdout.write(`${text}\n`);

// Pushes go one at a time. The time runs from the call to the answer of the push service, which takes its own time.
const single = await enrol(1);
const delays = [];
for (let i = 0; i < Number(values.singles); i += 1) {
  const { taken } = await ask();
  const startedAt = performance.now();
  await single.client.call('sendMessage', { body: { to: 'Phone 0', content: 'x' } });
  while ((await ask()).taken === taken) await pause(1);
  delays.push(performance.now() - startedAt);
}
say(
  `one push, from the call to its answer at the push service (${values.ms} ms of it): p50 / p95 / p99 ${shown(spread(delays))} ms`,
);

const accounts = Number(values.pushes) / PHONES;
const senders = [];
for (let i = 0; i < accounts; i += 10) {
  const some = Array.from({ length: Math.min(10, accounts - i) }, () => enrol(PHONES));
  senders.push(...(await Promise.all(some)));
}
const pairs = [];
for (let i = 0; i < 10; i += 1) {
  pairs.push(await openPair({ sendOn: one.url, listenOn: two.url, bytes: 100, ackEvery: 10 }));
}
await exchange(pairs, pause(3_000));
const msOf = (samples) => samples.map(({ ms }) => ms);
const before = msOf(await exchange(pairs, pause(SECONDS_BEFORE * 1_000)));
say(`events before: p50 / p95 / p99 ${shown(spread(before))} ms`);

/** Returns the processor time of Redis so far, in seconds. */
async function redisSeconds() {
  const text = await store.info('cpu');
  return ['user', 'sys'].reduce((sum, kind) => sum + Number(new RegExp(`used_cpu_${kind}:(\\S+)`).exec(text)[1]), 0);
}

/** Returns the processor time of both replicas so far, in seconds. */
async function cpuSeconds() {
  const texts = await Promise.all([one, two].map(async ({ metrics }) => (await fetch(metrics)).text()));
  return texts.reduce((sum, text) => sum + Number(/^process_cpu_seconds_total (\S+)/m.exec(text)[1]), 0);
}

const { taken: base } = await ask();
const [cpuBefore, redisBefore] = [await cpuSeconds(), await redisSeconds()];
const startedAt = performance.now();
let queuedAt = 0;
const drained = (async () => {
  for (const sender of senders) await sender.client.call('sendMessage', { body: { to: '*', content: 'wake up' } });
  queuedAt = performance.now();
  for (;;) {
    const { taken } = await ask();
    if (taken - base >= Number(values.pushes)) return;
    await pause(20);
  }
})();
let most = 0;
const watch = setInterval(() => void ask().then((answer) => (most = Math.max(most, answer.most))), 500);
const during = await exchange(pairs, drained);
clearInterval(watch);
const [cpu, redisCpu] = [(await cpuSeconds()) - cpuBefore, (await redisSeconds()) - redisBefore];
const seconds = (performance.now() - startedAt) / 1_000;
say(
  `${values.pushes} pushes: accepted within ${((queuedAt - startedAt) / 1_000).toFixed(1)} s, drained in ${seconds.toFixed(1)} s, ${(Number(values.pushes) / seconds).toFixed(0)}/s, at most ${most} at once (${values.concurrency} a replica)`,
);
for (const [what, some] of [
  ['being queued', during.filter(({ atMs }) => atMs < queuedAt)],
  ['being drained', during.filter(({ atMs }) => atMs >= queuedAt)],
]) {
  const figures = spread(msOf(some));
  say(
    `events while they are ${what}: p50 / p95 / p99 ${shown(figures)} ms, p99 ${(figures.p99 / spread(before).p99).toFixed(2)} times`,
  );
}
say(`processor time meanwhile, events included: replicas ${cpu.toFixed(1)} s, Redis ${redisCpu.toFixed(1)} s`);
for (const pair of pairs) await pair.close();
process.exit(0);
