import { randomBytes } from 'node:crypto';
import { buildOrExit } from '../build/build.mjs';
import { startRedis } from './setup/redis.mjs';
import { installPackages, requireNode, requireRedisServer } from './setup/setup.mjs';
import { lanAddress, startLan } from './start/lan.mjs';
import { brokerSecret } from './start/broker-secret.mjs';
import { readPorts } from './start/ports.mjs';
import { pushKeys } from './start/push-keys.mjs';
import { REPLICA_MEMORY, startService } from './start/service.mjs';

/*
 * `npm start`: runs everything on this machine, on loopback: a store, the reference broker with its development login,
 * and replicas that take their callers from it. Exactly one line goes to stdout, `ready <url> <url> ...`, when all
 * replicas serve. Everything else goes to stderr.
 */

const { env } = process;
const say = (text) => process.stderr.write(`${text}\n`);

function refuse(problems) {
  for (const problem of problems) say(`npm start: ${problem}`);
  process.exit(1);
}

/** Reads what was asked for. Exits before anything is started when that is not possible. */
async function readPlan() {
  const args = process.argv.slice(2);
  const unknown = args.find((arg) => arg !== '--lan');
  if (unknown !== undefined) refuse([`unknown argument ${unknown}; everything but --lan is set by the environment.`]);
  // Without `--` before it npm keeps the flag to itself, and passes it in this variable.
  const withLan = args.length > 0 || env.npm_config_lan === 'true';
  const address = withLan ? env.APP_LAN_ADDRESS || lanAddress() : null;
  if (withLan && address === null)
    refuse(['--lan: this machine is on no network; set APP_LAN_ADDRESS to its address.']);
  const replicas = Number(env.APP_REPLICAS || 2);
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > 64) {
    refuse([`APP_REPLICAS=${env.APP_REPLICAS} is not a number from 1 to 64.`]);
  }
  // Baton's own broker is not needed if another one is given, or another identity mode is set.
  const withBroker = (env.APP_IDENTITY || 'broker') === 'broker' && !env.APP_BROKER_URL && !env.APP_BROKER_URL_FILE;
  const { ports, brokerPort, lanPort, problems } = await readPorts(replicas, env, { withBroker, withLan });
  if (problems.length > 0) refuse(problems);
  return {
    places: ports.map(({ port, adminPort }, i) => ({
      name: `replica ${i + 1}`,
      port,
      adminPort,
      url: `http://localhost:${port}`,
    })),
    brokerPort,
    lan: withLan ? { address, port: lanPort, url: `https://${address}:${lanPort}` } : null,
  };
}

/** The secret with which the broker and the replicas authenticate to each other. It lasts as long as they do. */
const brokerToken = randomBytes(32).toString('hex');

/** The password of Baton's own store, because other users of this machine reach loopback too. Nothing prints it. */
const storePassword = randomBytes(32).toString('hex');
const withPassword = (url) => url.replace('redis://', `redis://:${storePassword}@`);

function environmentOfBroker({ places, brokerPort, lan }, redisUrl) {
  return {
    // Until it has reached its store it answers 503, and would log each of these answers as a warning.
    BROKER_LOG_LEVEL: 'error',
    BROKER_TOKENS: `baton:${brokerToken}`,
    BROKER_DEV_LOGIN: 'true',
    ...secretOfBroker,
    BROKER_HOST: '127.0.0.1',
    BROKER_PUBLIC_URL: lan?.url ?? `http://localhost:${brokerPort}`,
    ...(env.APP_REDIS_URL_FILE
      ? { BROKER_REDIS_URL_FILE: env.APP_REDIS_URL_FILE }
      : { BROKER_REDIS_URL: redisUrl ?? env.APP_REDIS_URL }),
    // Nothing scrapes it here. A free port keeps two of these from colliding.
    BROKER_ADMIN_PORT: '0',
    ...env,
    BROKER_PORT: String(brokerPort),
    BROKER_RETURN_ORIGINS: lan?.url ?? places.map(({ url }) => url).join(','),
  };
}

/** Tells a replica how to reach the broker that was started here. */
const wayToBroker = ({ brokerPort, lan }) => ({
  APP_BROKER_URL: `http://127.0.0.1:${brokerPort}`,
  APP_BROKER_LOGIN_URL: `${lan?.url ?? `http://localhost:${brokerPort}`}/login`,
  APP_BROKER_TOKEN: brokerToken,
});

/** Makes all replicas one installation, also for a client that changes from one address to another. */
function installation({ places, lan }) {
  const origins = [...(lan === null ? [] : [lan.url]), ...places.map(({ url }) => url)];
  const given = env.APP_PUBLIC_ORIGINS ? [env.APP_PUBLIC_ORIGINS] : [];
  return {
    APP_SERVICE_ID: env.APP_SERVICE_ID || places[0].url,
    ...(env.APP_PUBLIC_ORIGINS_FILE ? {} : { APP_PUBLIC_ORIGINS: [...origins, ...given].join(',') }),
  };
}

/** Returns the environment of a replica: the caller's, with what makes it one of several here. */
function environmentOf({ port, adminPort, url }, redisUrl) {
  return {
    APP_IDENTITY: 'broker',
    ...(plan.brokerPort === null ? {} : wayToBroker(plan)),
    // A replica with a broker would listen on every address, but here is no edge and no TLS.
    APP_HOST: '127.0.0.1',
    APP_LOG_LEVEL: 'warn',
    // A user waits at a terminal for the end.
    APP_DRAIN_SECONDS: '0',
    APP_DRAIN_TRANSFER_SECONDS: '0',
    ...keysOfPush,
    ...REPLICA_MEMORY,
    ...env,
    ...(redisUrl === null ? {} : { APP_REDIS_URL: redisUrl }),
    APP_PORT: String(port),
    APP_ADMIN_PORT: String(adminPort),
    APP_PUBLIC_URL: plan.lan?.url ?? url,
    ...installation(plan),
    // The proxy that publishes the replicas on the local network names the client that it asks for.
    ...(plan.lan === null ? {} : { APP_TRUSTED_PROXIES: '127.0.0.1' }),
  };
}

/** Returns how long a replica may take to end after SIGTERM before it is killed. */
function patienceMs() {
  const drains = [env.APP_DRAIN_SECONDS, env.APP_DRAIN_TRANSFER_SECONDS].map((seconds) => Number(seconds) || 0);
  return (15 + Math.max(...drains)) * 1000;
}

function secretOrRefuse() {
  try {
    return brokerSecret(env, say);
  } catch (error) {
    return refuse([error.message]);
  }
}

requireNode();
const plan = await readPlan();
const external = env.APP_REDIS_URL || env.APP_REDIS_URL_FILE;
installPackages();
const redisServer = external ? null : requireRedisServer('APP_REDIS_URL');
await buildOrExit();
const keysOfPush = await pushKeys(env, say);
const secretOfBroker = plan.brokerPort === null ? {} : secretOrRefuse();

/** Baton's own store, while it starts and afterwards; null when another store is used. */
let starting = null;
let redis = null;
let broker = null;
let lan = null;
const replicas = [];
let ending = false;

/** Returns all services that were started here, without the store. */
const services = () => [...replicas, ...(broker === null ? [] : [broker])];

/** Ends every child, the store last, and then this process. Only the first call does so. */
async function end(exitCode) {
  if (ending) return;
  ending = true;
  lan?.stop();
  await Promise.all(services().map((service) => service.stop(patienceMs())));
  await starting?.then((started) => started.stop());
  process.exit(exitCode);
}

let askedAt = Number.POSITIVE_INFINITY;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // After a second signal nothing is awaited. (One Ctrl-C comes twice, from the terminal and through npm.)
    if (Date.now() - askedAt > 1_000) for (const { child } of services()) child.kill('SIGKILL');
    askedAt = Math.min(askedAt, Date.now());
    void end(0);
  });
}
// npm passes SIGINT and SIGTERM on, but cannot when it is killed. Then this process gets another parent.
const npm = env.npm_lifecycle_event === 'start' ? process.ppid : null;
if (npm !== null) setInterval(() => process.ppid !== npm && void end(1), 1_000).unref();
// This also runs when the script itself fails, so that nothing that it started is left behind.
process.on('exit', () => {
  for (const { child } of services()) child.kill('SIGKILL');
  redis?.kill();
});

if (redisServer !== null) {
  starting = startRedis({ path: redisServer, detached: true, password: storePassword });
  redis = await starting;
  say(`redis (pid ${redis.child.pid}) on ${redis.url}`);
  redis.child.once('exit', (code, signal) => {
    if (ending) return;
    say(`redis (pid ${redis.child.pid}) was ended (${signal ?? `exit code ${code}`}); nothing can go on without it`);
    void end(1);
  });
}

const storeUrl = redis === null ? null : withPassword(redis.url);
let serving = false;
if (plan.brokerPort !== null) {
  broker = startService({
    name: 'broker',
    main: 'broker/main.js',
    readyUrl: `http://127.0.0.1:${plan.brokerPort}/healthz`,
    env: environmentOfBroker(plan, storeUrl),
  });
  say(`broker (pid ${broker.pid}) on http://localhost:${plan.brokerPort}, where anybody may log in under any name`);
  void broker.ended.then((how) => {
    if (ending) return;
    say(`broker (pid ${broker.pid}) ${how}; nobody can sign in without it`);
    void end(1);
  });
}
for (const place of plan.places) {
  const replica = startService({
    name: place.name,
    main: 'sync/main.js',
    readyUrl: `http://${env.APP_HOST || '127.0.0.1'}:${place.adminPort}/readyz`,
    env: environmentOf(place, storeUrl),
  });
  replicas.push(replica);
  say(`${place.name} (pid ${replica.pid}) on ${place.url}, admin port ${place.adminPort}`);
  void replica.ended.then((how) => {
    if (ending) return;
    lan?.leave(place.port);
    const alone = !replicas.some((other) => !other.isOver());
    const then = !serving ? ' before it was ready' : alone ? '; none is left' : '; the others go on';
    say(`${place.name} (pid ${replica.pid}) ${how}${then}`);
    if (!serving || alone) void end(1);
  });
}

const obstacles = await Promise.all(services().map((service) => service.ready()));
async function publish({ lan: at, places, brokerPort }) {
  lan = await startLan({ ...at, replicaPorts: places.map(({ port }) => port), brokerPort });
  say(`${at.url} is open to this network: ANYBODY on it may log in under any name. Stop it when you are done.`);
  say(`Browsers warn of its certificate, which was made just now: SHA-256 ${lan.fingerprint}`);
  // Without TLS the same address shows what browsers will warn of. The package is loaded here, because it may be newly
  // installed.
  const { renderUnicodeCompact } = await import('uqr');
  const plain = at.url.replace('https:', 'http:');
  say(`\n${renderUnicodeCompact(plain, { border: 2 })}\n\nFor a phone: scan this, or type ${plain}`);
}

if (!ending && obstacles.every((why) => why === null)) {
  serving = true;
  if (plan.lan !== null) {
    await publish(plan).catch((error) => {
      say(`npm start: --lan: ${error.message}`);
      return end(1);
    });
  }
  const urls = plan.lan === null ? plan.places.map(({ url }) => url) : [plan.lan.url];
  if (!ending) process.stdout.write(`ready ${urls.join(' ')}\n`);
} else if (!ending) {
  const late = services()
    .map(({ name }, i) => [name, obstacles[i]])
    .filter(([, why]) => why !== null);
  for (const [name, why] of late) say(`${name} does not become ready: ${why}`);
  await end(1);
}
