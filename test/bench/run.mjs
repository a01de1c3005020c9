import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { startRedis } from '../../deploy/local/setup/redis.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';
import { growthTable } from './growth/table.mjs';
import { readOptions } from './options.mjs';
import { makePinning } from './machine/pinning.mjs';
import { killAll, makeServers } from './machine/processes.mjs';
import { publishGrowth, publishTable } from './report/publish.mjs';
import { tableOf } from './report/report.mjs';

/*
 * `npm run bench`: measures what messages, commands, streams and storms cost two replicas, beside a floor and a
 * hand-written Express in the same run. README.md says what is measured and how.
 */

const MICROS = 1_000_000;
const say = (text) => process.stderr.write(`${text}\n`);

/** Reads the figures of Redis itself. */
function makeRedisGauge(client, pid) {
  const field = async (section, name) =>
    Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(await client.info(section))?.[1]);
  return {
    client,
    pid,
    cpuMicros: async () => ((await field('cpu', 'used_cpu_user')) + (await field('cpu', 'used_cpu_sys'))) * MICROS,
    memory: () => field('memory', 'used_memory'),
    version: async () => /^redis_version:(\S+)/m.exec(await client.info('server'))?.[1],
  };
}

const headOf = ({ machine, options }) =>
  [
    `${machine.date}, ${machine.cpus} x ${machine.cpu}, Node ${machine.node}, Redis ${machine.redis}`,
    `pinning: ${machine.pinning}; persistence: ${options.appendOnly ? 'append-only file, fsync every second' : 'off'}`,
    `messages of ${options.bytes} bytes, ${options.pairs} accounts, acknowledged ${options.ackEvery} at a time; identity edge, rate limits counted`,
    `median of ${options.rounds} rounds (storm and idle: ${options.fleetRounds})${options.smoke ? '; SMOKE: the figures mean nothing' : ''}`,
  ].join('\n');

const options = readOptions(process.argv.slice(2));
const startedMs = performance.now();
requireNode();
installPackages();
await buildOrExit();
const server = await startRedis({ path: requireRedisServer('APP_REDIS_URL'), detached: true });
process.on('exit', () => {
  killAll();
  server.kill();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

// A bare checkout has the packages only now, so the code that measures is loaded now.
const { Redis } = await import('ioredis');
const { measureCommands } = await import('./parts/commands.mjs');
const { measureFanOut } = await import('./parts/fan-out.mjs');
const { measureFleet } = await import('./parts/fleet.mjs');
const { measureGrowth } = await import('./parts/growth.mjs');
const { measureMessages } = await import('./parts/messages.mjs');
const redis = new Redis(server.url);
const gauge = makeRedisGauge(redis, server.child.pid);
if (!options.appendOnly) await redis.config('SET', 'appendonly', 'no');
const pinning = makePinning(options.layout);
pinning.pin('redis', server.child.pid);
const machine = {
  date: new Date().toISOString().slice(0, 10),
  cpus: cpus().length,
  cpu: cpus()[0]?.model,
  node: process.versions.node,
  redis: await gauge.version(),
  pinning: pinning.text,
};

const nodeFlags = options.profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
const made = { redisUrl: server.url, keyPrefix: `bench-${randomBytes(5).toString('hex')}`, pinning, nodeFlags };
const found = {};
/** Saves after each part, so that a run that fails late keeps what it had. */
function save() {
  if (options.json === null) return;
  writeFileSync(options.json, `${JSON.stringify({ machine, options, ...found }, null, 2)}\n`);
}
const growthSoFar = (rows) => {
  found.growth = rows;
  save();
};
const parts = { ...made, servers: makeServers(made), redis: gauge, options, say, growthSoFar };
const isWanted = (part) => options.parts.includes(part);
const measured = async (part, measure) => {
  if (!isWanted(part)) return;
  found[part] = await measure(parts);
  save();
  await redis.flushall();
};
await measured('messages', measureMessages);
await measured('commands', measureCommands);
await measured('fan-out', measureFanOut);
if (isWanted('storm') || isWanted('idle')) {
  for (const step of await measureFleet(parts)) found[step.name] = [step];
  save();
}
await measured('growth', measureGrowth);

const table = tableOf(found);
const beside = table === '' ? '' : `${headOf({ machine, options })}\n\n${table}`;
const lines = [beside, found.growth ? growthTable(found.growth) : ''];
process.stdout.write(`\n${lines.filter((text) => text !== '').join('\n\n')}\n`);
if (options.publish && beside !== '') publishTable(beside);
if (options.publish && found.growth) publishGrowth({ machine, growth: found.growth });
redis.disconnect();
await server.stop();
say(`${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
