import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildOrExit } from '../../../deploy/build/build.mjs';
import { freePort, startRedis } from '../../../deploy/local/setup/redis.mjs';
import { REPLICA_MEMORY } from '../../../deploy/local/start/service.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../../deploy/local/setup/setup.mjs';
import { median } from '../rounds/figures.mjs';
import { makePinning } from '../machine/pinning.mjs';
import { measureEvents } from './events.mjs';

/*
 * `npm run bench:relay`: sends bytes through two replicas, and for comparison through one process that pipes (the floor) and a
 * plain relay with the client library, alternating in the same run. It shows MB/s, CPU seconds a GB of servers and of Redis,
 * and peak memory. `--clients hashing` uses clients that are written in the usual way and take digests, instead of clients that
 * cost next to nothing. `--clients curl` uses the one that people use. `--events` measures instead what ten relays cost the
 * latency of messages. `--beside name=folder,...` also measures other builds of Baton, to compare two ways of doing it, with
 * `--only baton,name`. `--pin` puts servers on one half of the processors, Redis and the clients on the other. `--heap` sets
 * the MiB that replicas have as heap; the image sets 384 in a container of 768 MiB, and the figures of the relay depend on it.
 */

const MIB = 1024 * 1024;
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    mib: { type: 'string', default: '1024' },
    many: { type: 'string', default: '10' },
    appendonly: { type: 'boolean', default: false },
    only: { type: 'string', default: 'pipe,plain,baton' },
    events: { type: 'boolean', default: false },
    clients: { type: 'string', default: 'bare' },
    beside: { type: 'string', default: '' },
    pin: { type: 'boolean', default: false },
    heap: { type: 'string' },
    profile: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const kinds = values.events ? ['baton'] : values.only.split(',');
const pinning = makePinning(values.pin ? 'apart' : 'none');

requireNode();
installPackages();
await buildOrExit();
const redisServer = await startRedis({ path: requireRedisServer('APP_REDIS_URL'), detached: true });
const { Redis } = await import('ioredis');
const redis = new Redis(redisServer.url);
if (!values.appendonly) await redis.config('SET', 'appendonly', 'no');
const children = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  redisServer.kill();
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

function start(script, args = [], env = {}, execArgv = []) {
  const child = fork(script, args, {
    env: { PATH: process.env.PATH, ...env },
    execArgv,
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  children.push(child);
  return child;
}

const heard = (child) =>
  new Promise((resolve, reject) => {
    child.once('message', (message) => (message.failed ? reject(new Error(message.failed)) : resolve(message)));
  });

/** Returns the CPU seconds so far. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
const peakOf = (pid) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

async function startReplica(folder, prefix, execArgv) {
  const [port, admin] = [await freePort(), await freePort()];
  const child = start(
    `${folder}/services/sync/main.js`,
    [],
    {
      APP_IDENTITY: 'dev',
      APP_REDIS_URL: redisServer.url,
      APP_KEY_PREFIX: prefix,
      APP_PORT: port,
      APP_ADMIN_PORT: admin,
      APP_DRAIN_SECONDS: '0',
      APP_RATE_LIMIT_SCALE: '0',
      APP_LOG_LEVEL: 'warn',
      ...REPLICA_MEMORY,
    },
    execArgv,
  );
  while (
    !(await fetch(`http://127.0.0.1:${admin}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { child, port };
}

const lines = (head) => `${head.join('\r\n')}\r\n\r\n`;

async function call(port, method, path, device, body) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...device, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** For each kind of server, its processes and the requests of one file. */
const SERVERS = {
  async pipe() {
    const child = start(at('./pipe-server.mjs'));
    const { port } = await heard(child);
    return {
      children: [child],
      async file(size) {
        const path = `/${randomBytes(6).toString('hex')}`;
        return {
          up: { port, size, head: lines([`PUT ${path} HTTP/1.1`, 'Host: localhost', `Content-Length: ${size}`]) },
          down: { port, size, head: lines([`GET ${path} HTTP/1.1`, 'Host: localhost']) },
        };
      },
    };
  },
  async plain() {
    const both = [0, 1].map(() => start(at('./plain-server.mjs'), [redisServer.url]));
    const [{ port: one }, { port: two }] = await Promise.all(both.map(heard));
    return {
      children: both,
      async file(size) {
        const path = `/${randomBytes(6).toString('hex')}`;
        return {
          up: { port: one, size, head: lines([`PUT ${path} HTTP/1.1`, 'Host: localhost', `Content-Length: ${size}`]) },
          down: { port: two, size, head: lines([`GET ${path}?size=${size} HTTP/1.1`, 'Host: localhost']) },
        };
      },
    };
  },
  async baton(folder = at('../../../dist')) {
    const prefix = `bench-${randomBytes(5).toString('hex')}`;
    const flags = [
      ...(values.profile ? ['--cpu-prof', `--cpu-prof-dir=${values.profile}`] : []),
      ...(values.heap ? [`--max-old-space-size=${values.heap}`] : []),
    ];
    const [one, two] = [await startReplica(folder, prefix, flags), await startReplica(folder, prefix, flags)];
    return {
      children: [one.child, two.child],
      ports: [one.port, two.port],
      async file(size) {
        const user = randomBytes(6).toString('hex');
        const device = (name) => ({ 'X-Dev-User': user, 'X-Dev-Device': `device-${name}`, 'X-Dev-Name': name });
        const [from, to] = [device('Sender'), device('Receiver')];
        for (const each of [from, to]) await call(one.port, 'GET', '/api/me', each);
        const body = { to: 'Receiver', files: [{ name: 'file', size }] };
        const { transfer } = await call(one.port, 'POST', '/api/transfer/init', from, body);
        const base = `/api/transfer/${transfer.transfer_id}`;
        await call(one.port, 'POST', `${base}/relay`, from);
        await call(two.port, 'POST', `${base}/accept`, to);
        const path = `/api/relay/${transfer.transfer_id}/0/0`;
        const headers = (all) => Object.entries(all).map(([name, value]) => `${name}: ${value}`);
        const type = 'Content-Type: application/partial-upload';
        const upload = [`PATCH ${path} HTTP/1.1`, 'Host: localhost', type, 'Upload-Offset: 0', 'Upload-Complete: ?1'];
        return {
          up: { port: one.port, size, head: lines([...upload, `Content-Length: ${size}`, ...headers(from)]) },
          down: { port: two.port, size, head: lines([`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers(to)]) },
          done: () => call(two.port, 'POST', `${base}/complete`, to),
        };
      },
    };
  },
};

for (const other of values.beside.split(',').filter(Boolean)) {
  const [name, folder] = other.split('=');
  SERVERS[name] = () => SERVERS.baton(folder);
}

const CLIENTS = { bare: './client.mjs', hashing: './hashing-client.mjs', curl: './curl-client.mjs' };
const client = at(CLIENTS[values.clients]);
const [sender, receiver] = [start(client), start(client)];
const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))[1]);
for (const pid of [redisPid, sender.pid, receiver.pid]) pinning.pin('load', pid);

async function run(server, count, size) {
  const files = [];
  for (let i = 0; i < count; i++) files.push(await server.file(size));
  // Baton's first replica takes what is sent, and its last one gives it out.
  const cpuOfEach = () => server.children.map(({ pid }) => cpuOf(pid));
  await redis.config('RESETSTAT');
  const [before, redisBefore, startedMs] = [cpuOfEach(), cpuOf(redisPid), performance.now()];
  const both = [heard(sender), heard(receiver)];
  receiver.send({ side: 'down', requests: files.map(({ down }) => down) });
  sender.send({ side: 'up', requests: files.map(({ up }) => up) });
  let memory = 0;
  const watch = setInterval(async () => {
    memory = Math.max(memory, Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))[1]) / MIB);
  }, 100);
  await Promise.all(both);
  const seconds = (performance.now() - startedMs) / 1000;
  clearInterval(watch);
  const gb = (count * size) / 1e9;
  const spent = cpuOfEach().map((cpu, i) => (cpu - before[i]) / gb);
  const figures = {
    mb_per_second: (gb * 1000) / seconds,
    servers_cpu_per_gb: spent.reduce((sum, cpu) => sum + cpu, 0),
    sending_cpu_per_gb: spent[0],
    receiving_cpu_per_gb: spent.at(-1),
    redis_cpu_per_gb: (cpuOf(redisPid) - redisBefore) / gb,
    redis_mib: memory,
    peak_mib: Math.max(...server.children.map(({ pid }) => peakOf(pid))),
  };
  for (const { done } of files) await done?.();
  return figures;
}

const cases = [
  { name: `one of ${values.mib} MiB`, count: 1, size: Number(values.mib) * MIB },
  {
    name: `${values.many} of ${Math.floor(Number(values.mib) / 10)} MiB`,
    count: Number(values.many),
    size: Math.floor((Number(values.mib) * MIB) / 10),
  },
];
const servers = {};
for (const kind of kinds) {
  servers[kind] = await SERVERS[kind]();
  for (const { pid } of servers[kind].children) pinning.pin('servers', pid);
  // The first GB costs twice as much, because code is compiled after it has run for a while.
  await run(servers[kind], 4, 256 * MIB);
}
process.stdout.write(
  `${cpus().length} x ${cpus()[0]?.model}, Node ${process.versions.node}, append-only file ${values.appendonly ? 'every second' : 'off'}, ${values.clients} clients, pinning: ${pinning.text}, median of ${rounds}\n`,
);
if (values.events) {
  const [, many] = cases;
  const relay = () => run(servers.baton, many.count, many.size);
  process.stdout.write(`messages beside ${many.name}\n`);
  process.stdout.write(await measureEvents({ ports: servers.baton.ports, relay, rounds }));
}
for (const { name, count, size } of values.events ? [] : cases) {
  const found = Object.fromEntries(kinds.map((kind) => [kind, []]));
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) found[kind].push(await run(servers[kind], count, size));
  }
  process.stdout.write(`\n${name}\n`);
  const floor = found.pipe;
  for (const kind of kinds) {
    const of = (figure) => median(found[kind].map((round) => round[figure]));
    const cpu = (round) => round.servers_cpu_per_gb + round.redis_cpu_per_gb * (kind === 'pipe' ? 0 : 1);
    const ratio = (figure) =>
      floor ? median(found[kind].map((round, i) => figure(round) / figure(floor[i]))) : Number.NaN;
    process.stdout.write(
      `  ${kind.padEnd(6)} ${of('mb_per_second').toFixed(0).padStart(5)} MB/s (${ratio((r) => r.mb_per_second).toFixed(2)})` +
        `  CPU s/GB: servers ${of('servers_cpu_per_gb').toFixed(2)} redis ${of('redis_cpu_per_gb').toFixed(2)}` +
        ` (sending ${of('sending_cpu_per_gb').toFixed(2)}, receiving ${of('receiving_cpu_per_gb').toFixed(2)})` +
        ` (all: ${(floor ? median(found[kind].map((round, i) => cpu(round) / floor[i].servers_cpu_per_gb)) : Number.NaN).toFixed(2)})` +
        `  peak MiB: server ${of('peak_mib').toFixed(0)} redis ${of('redis_mib').toFixed(0)}\n`,
    );
  }
}
redis.disconnect();
for (const child of children) child.kill('SIGTERM');
await new Promise((resolve) => setTimeout(resolve, values.profile ? 3_000 : 300));
await redisServer.stop();
process.exit(0);
