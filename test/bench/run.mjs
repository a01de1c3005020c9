import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { buildOrExit } from '../../deploy/local/build.mjs';
import { startRedis } from '../../deploy/local/redis.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup.mjs';
import { measureCrossing } from './crossing.mjs';
import { measureIdle } from './idle.mjs';
import { readOptions } from './options.mjs';
import { makePinning } from './pinning.mjs';
import { killAll, makeServers } from './processes.mjs';
import { tableOf } from './report.mjs';

/*
 * `npm run bench`: latency, throughput and memory of two replicas, each beside a floor measured in the same run.
 * README.md says what is measured and how.
 */

const MICROS = 1_000_000;
const say = (text) => process.stderr.write(`${text}\n`);

/** The figures of Redis itself. */
function makeRedisGauge(redis) {
  const field = async (section, name) =>
    Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(await redis.info(section))?.[1]);
  return {
    cpuMicros: async () => ((await field('cpu', 'used_cpu_user')) + (await field('cpu', 'used_cpu_sys'))) * MICROS,
    memory: () => field('memory', 'used_memory'),
    version: async () => /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1],
  };
}

const headOf = ({ machine, options }) =>
  [
    `${machine.cpus} x ${machine.cpu}, Node ${machine.node}, Redis ${machine.redis}`,
    `pinning: ${machine.pinning}; persistence: ${options.appendOnly ? 'append-only file, fsync every second' : 'off'}`,
    `messages of ${options.bytes} bytes, ${options.pairs} accounts, acknowledged ${options.ackEvery} at a time (baton); rate limits off`,
    `median of ${options.rounds} rounds (idle: ${options.idleRounds}); ratio: baton / floor${options.smoke ? '; SMOKE: the figures mean nothing' : ''}`,
  ].join('\n');

const options = readOptions(process.argv.slice(2));
requireNode();
installPackages();
await buildOrExit();
const server = await startRedis({ path: requireRedisServer('APP_REDIS_URL'), detached: true });
process.on('exit', () => {
  killAll();
  server.kill();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

// A bare checkout has the packages only now.
const { Redis } = await import('ioredis');
const redis = new Redis(server.url);
const gauge = makeRedisGauge(redis);
if (!options.appendOnly) await redis.config('SET', 'appendonly', 'no');
const pinning = makePinning(options.pinned);
pinning.pin('load', server.child.pid);
const machine = {
  cpus: cpus().length,
  cpu: cpus()[0]?.model,
  node: process.versions.node,
  redis: await gauge.version(),
  pinning: pinning.text,
};

const nodeFlags = options.profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
const servers = makeServers({
  redisUrl: server.url,
  keyPrefix: `bench-${randomBytes(5).toString('hex')}`,
  pinning,
  nodeFlags,
  mostStreams: Math.max(1_000, options.streams.at(-1)),
});
const parts = { servers, redis: gauge, pinning, options, say };
const found = {};
if (options.parts.includes('crossing')) found.crossing = await measureCrossing(parts);
if (options.parts.includes('idle')) found.idle = await measureIdle(parts);

process.stdout.write(`\n${headOf({ machine, options })}\n\n${tableOf(found)}\n`);
if (options.json !== null) {
  writeFileSync(options.json, `${JSON.stringify({ machine, options, ...found }, null, 2)}\n`);
}
redis.disconnect();
await server.stop();
