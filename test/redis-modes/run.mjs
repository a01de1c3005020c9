import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildOrExit } from '../../deploy/build/build.mjs';
import { installPackages, requireNode, requireRedisServer } from '../../deploy/local/setup/setup.mjs';
import { ROOT } from '../../deploy/local/setup/tree.mjs';

/*
 * `npm run test:integration -- --mode sentinel|cluster`: runs tests that use the shared Redis on another kind of store, if that
 * kind may behave differently (the rule is in test/README.md). The replicas have the least-privileged user that deploy/redis
 * ships. The tests look at what is stored with another user, which may. Tests that put a proxy between a replica and its one
 * Redis, or harm a Redis of their own, are left out. The faults of these kinds are in the files beside this one, and in
 * test/chaos. Further arguments, behind `--`, go to jest.
 */
const SUITES = {
  // These cover every script with its keys in one slot, every announcement, and every command of the user.
  cluster: [
    'test/commands/(?!names-that-look-one)',
    'test/transfers/(?!ice)',
    'test/signin/(?!link-page)',
    'test/sessions/(?!lost-answers|invented-devices|dev-return|broker-away)',
    'test/push/(subscriptions|surviving|waking)',
    'test/delivery/(main-job|leaving|resume|storm|endings|lost-tail|black-hole)',
    'test/endurance/attach-races',
    'test/relay/(rules|both-ways|replaced|slow|timers)',
    'test/wire/(both-sides|identity/permissions|limits/rate-limits)',
  ],
  // The server is like the one of `npm test`, but is found in another way. These cover the main path of each module, and every
  // connection.
  sentinel: [
    'test/commands/(messages|mailbox|streams|clipboard|presence|due-index)',
    'test/transfers/(transfers|signals)',
    'test/sessions/(device-session|revocation)',
    'test/signin/(qr|limits)\\.test',
    'test/push/(surviving|waking)',
    'test/delivery/(main-job|resume|black-hole)',
    'test/endurance/attach-races',
    'test/relay/(rules|both-ways)',
    'test/wire/(both-sides|identity/permissions|limits/rate-limits)',
  ],
};

/** The shipped users of replicas and broker, and the first part of every key. */
const [USER, BROKER, PREFIX] = ['baton', 'broker', 'baton'];
const PASSWORD = 'only-for-these-tests';

const { values, positionals } = parseArgs({
  options: { mode: { type: 'string', default: 'cluster' } },
  allowPositionals: true,
});

requireNode();
installPackages();
process.env.APP_TEST_REDIS_SERVER = requireRedisServer('APP_TEST_REDIS_URL');
await buildOrExit();
register('../chaos/typescript-hooks.mjs', import.meta.url);

/**
 * Gives all servers the users of replicas and broker, as the shipped file describes them. Both use the one prefix of all tests.
 */
async function addUsers(servers) {
  const text = readFileSync(join(ROOT, 'deploy/redis/users.acl'), 'utf8');
  for (const [, user, shipped] of text.matchAll(/^user (\S+) (.*)$/gm)) {
    const rules = shipped.replace(/#0{64}/, `>${PASSWORD}`).replace(`~${user}:*`, `~${PREFIX}:*`);
    await Promise.all(servers.map((server) => server.cli('acl', 'setuser', user, ...rules.split(' '))));
  }
}

const withUser = (url, user) => url.replace('://', `://${user}:${PASSWORD}@`);

const STORES = {
  async cluster() {
    const { startRedisCluster } = await import('../support/redis/redis-cluster.ts');
    // No failover is wanted here, however busy the machine is.
    const cluster = await startRedisCluster({ settings: { 'cluster-node-timeout': 15_000 } });
    await addUsers(cluster.nodes);
    // The user in the URL's first node holds for all.
    const urlOf = (user) => withUser(cluster.url, user).replaceAll(',redis://', ',');
    return { url: urlOf(USER), brokerUrl: urlOf(BROKER), look: cluster.url, stop: cluster.stop };
  },
  async sentinel() {
    const { startRedisSentinel } = await import('../support/redis/redis-sentinel.ts');
    // Likewise, no failover is wanted.
    const site = await startRedisSentinel({ replicas: 1, downAfterMs: 60_000 });
    await addUsers(site.servers);
    const { port } = await site.primary();
    const [url, brokerUrl] = [USER, BROKER].map((user) => withUser(site.url, user));
    return { url, brokerUrl, look: `redis://127.0.0.1:${port}`, stop: site.stop };
  },
};

const startStore = STORES[values.mode];
if (startStore === undefined) throw new Error(`--mode ${values.mode} is not one of ${Object.keys(STORES).join(', ')}`);
const store = await startStore();
const env = Object.fromEntries(
  Object.entries(process.env).filter(([key]) => !key.startsWith('APP_') || key.startsWith('APP_TEST_')),
);
const jest = spawn(
  process.execPath,
  [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    join(ROOT, 'node_modules/jest/bin/jest.js'),
    ...(positionals.length > 0 ? positionals : SUITES[values.mode]),
  ],
  {
    cwd: ROOT,
    env: {
      ...{ ...env, APP_TEST_REDIS_URL: store.url, APP_TEST_BROKER_REDIS_URL: store.brokerUrl },
      ...{ APP_TEST_REDIS_LOOK: store.look, APP_TEST_REDIS_MODE: values.mode },
    },
    stdio: 'inherit',
  },
);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => jest.kill(signal));
jest.once('exit', async (code) => {
  process.exitCode = code ?? 1;
  await store.stop();
});
