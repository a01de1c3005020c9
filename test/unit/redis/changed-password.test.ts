import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BulkStore } from '../../../services/sync/redis/bulk/bulk-store.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import { withUsers } from '../../../shared/service-kit/config/store-users.ts';
import {
  close,
  type Connection,
  connectCommands,
  connectShardedSubscriber,
  connectSubscriber,
} from '../../../shared/service-kit/redis/connections.ts';
import { ServerCheck } from '../../../shared/service-kit/redis/server-check.ts';
import { makeLogger } from '../../../shared/service-kit/telemetry/logger.ts';
import { type RedisProcess, startRedisProcess, until } from '../../support/redis/redis-processes.ts';

/* A password changes at the store and in its file, while the process runs. */

const [OLD, NEW, SENTINEL_OLD, SENTINEL_NEW] = ['old/pass+word=', 'new/pass+word=', 'old sentinel', 'new sentinel'];

const folder = mkdtempSync(join(tmpdir(), 'baton-test-password-'));
const servers: RedisProcess[] = [];
const connections: Connection[] = [];
const nothing = () => undefined;

afterEach(async () => {
  for (const connection of connections.splice(0)) close(connection);
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function started(...[options]: Parameters<typeof startRedisProcess>): Promise<RedisProcess> {
  const server = await startRedisProcess(options);
  servers.push(server);
  return server;
}

let files = 0;

/** Makes an address whose passwords lie in files, and a function that writes them. */
function addressWithFiles(url: string): { address: RedisAddress; put: (password: string, sentinel?: string) => void } {
  const [own, sentinel] = [join(folder, `own-${++files}`), join(folder, `sentinel-${files}`)];
  const put = (password: string, sentinelPassword = '') => {
    writeFileSync(own, password);
    writeFileSync(sentinel, sentinelPassword);
  };
  put(OLD, SENTINEL_OLD);
  const parsed = redisAddress(url) as { value: RedisAddress };
  const values = { X_USERNAME: null, X_PASSWORD: OLD, X_SENTINEL_USERNAME: null, X_SENTINEL_PASSWORD: SENTINEL_OLD };
  const env = { X_PASSWORD_FILE: own, X_SENTINEL_PASSWORD_FILE: sentinel };
  return { address: withUsers(parsed.value, { env, values, prefix: 'X' }), put };
}

/** Changes the password, and throws out every client that was let in with the old one. */
async function change(server: RedisProcess, from: string, to: string): Promise<void> {
  const as = (password: string) => ['--no-auth-warning', '-a', password] as const;
  await server.cli(...as(from), 'config', 'set', 'requirepass', to);
  for (const type of ['normal', 'pubsub']) await server.cli(...as(to), 'client', 'kill', 'type', type);
}

const answers = (connection: Connection) =>
  until(
    () => connection.ping() as Promise<string>,
    (text) => text === 'PONG',
    'an answer',
  );

/** Unlike `once` of Node, this goes on when the connection is refused before it is let in. */
const ready = (connection: Connection) => new Promise<void>((resolve) => connection.once('ready', resolve));

async function opened(connection: Connection): Promise<Connection> {
  connections.push(connection);
  connection.connect().catch(nothing);
  await ready(connection);
  return connection;
}

test('commands and a subscriber of one server go on with the new one', async () => {
  const server = await started({ settings: { requirepass: OLD } });
  const { address, put } = addressWithFiles(`redis://127.0.0.1:${server.port}`);
  const commands = await opened(connectCommands({ address, name: 'commands', onError: nothing }));
  const subscriber = connectSubscriber({ address, name: 'subscriber', onError: nothing });
  await opened(subscriber);
  await subscriber.subscribe('news');
  put(NEW);
  const again = [commands, subscriber].map(ready);
  await change(server, OLD, NEW);
  await Promise.all(again);
  expect(await answers(commands)).toBe('PONG');
  const heard = once(subscriber, 'message');
  await until(
    () => commands.publish('news', 'back'),
    (count) => count === 1,
    'the subscription',
  );
  expect(await heard).toEqual(['news', 'back']);
});

test('a file that is changed after the server is taken when it is', async () => {
  const server = await started({ settings: { requirepass: OLD } });
  const { address, put } = addressWithFiles(`redis://127.0.0.1:${server.port}`);
  const news = new EventEmitter();
  const onError = (error: Error) => news.emit('failure', error.message);
  const commands = await opened(connectCommands({ address, name: 'commands', onError }));
  const refused = async () => {
    for (;;) {
      const [message] = await once(news, 'failure');
      if (/WRONGPASS/.test(message)) return;
    }
  };
  const isRefused = refused();
  await change(server, OLD, NEW);
  await isRefused;
  const back = ready(commands);
  put(NEW);
  await back;
  expect(await answers(commands)).toBe('PONG');
});

test('connections of a cluster go on with the new one', async () => {
  const server = await started({
    settings: { requirepass: OLD, masterauth: OLD, 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' },
  });
  await server.cli('--no-auth-warning', '-a', OLD, 'cluster', 'addslotsrange', 0, 16_383);
  await until(
    () => server.cli('--no-auth-warning', '-a', OLD, 'cluster', 'info'),
    (text) => text.includes('cluster_state:ok'),
    'the cluster',
  );
  const { address, put } = addressWithFiles(`redis://127.0.0.1:${server.port}`);
  const inCluster: RedisAddress = { ...address, mode: 'cluster' };
  const commands = await opened(connectCommands({ address: inCluster, name: 'commands', onError: nothing }));
  const subscriber = connectShardedSubscriber({ address: inCluster, name: 'subscriber', onError: nothing });
  await opened(subscriber);
  const subscribed = () => subscriber.ssubscribe('news').then(() => true);
  await until(subscribed, Boolean, 'a subscription');
  put(NEW);
  await change(server, OLD, NEW);
  expect(await until(() => commands.get('key').then((text) => [text]), Array.isArray, 'an answer')).toEqual([null]);
  const heard = once(subscriber, 'smessage');
  await until(
    async () => Number(await (commands as typeof subscriber).spublish('news', 'back')),
    (count) => count === 1,
    'the subscription',
  );
  expect(await heard).toEqual(['news', 'back']);
});

test('behind sentinels both passwords can be changed, and the watch for a new primary goes on', async () => {
  const server = await started({ settings: { requirepass: OLD } });
  const file = [
    `sentinel monitor main 127.0.0.1 ${server.port} 1`,
    `sentinel auth-pass main ${OLD}`,
    `requirepass "${SENTINEL_OLD}"`,
  ];
  const sentinel = await started({ isSentinel: true, file, readyWhen: 'Sentinel ID is' });
  const { address, put } = addressWithFiles(`redis+sentinel://127.0.0.1:${sentinel.port}/main`);
  const commands = await opened(connectCommands({ address, name: 'commands', onError: nothing }));
  const asSentinel = (password: string) => ['--no-auth-warning', '-a', password] as const;
  /** Returns the clients that listen for another primary with this password. */
  const watches = (password: string) =>
    until(
      () => sentinel.cli(...asSentinel(password), 'client', 'list', 'type', 'pubsub'),
      (text) => /cmd=subscribe/.test(text),
      'the watch',
    );
  await watches(SENTINEL_OLD);
  put(NEW, SENTINEL_NEW);
  await server.cli('--no-auth-warning', '-a', OLD, 'config', 'set', 'requirepass', NEW);
  const again = ready(commands);
  await sentinel.cli(...asSentinel(SENTINEL_OLD), 'acl', 'setuser', 'default', 'resetpass', `>${SENTINEL_NEW}`);
  await sentinel.cli(...asSentinel(SENTINEL_NEW), 'client', 'kill', 'type', 'pubsub');
  // The connection for commands was not cut. It is made again for the sake of the watch.
  await again;
  expect(await watches(SENTINEL_NEW)).toMatch(/cmd=subscribe/);
  expect(await answers(commands)).toBe('PONG');
});

test('an own store of the relay opens its connections for bytes with the new one', async () => {
  const server = await started({ settings: { requirepass: OLD } });
  const { address, put } = addressWithFiles(`redis://127.0.0.1:${server.port}`);
  const logger = makeLogger({ level: 'silent', server: 'test' });
  const store = new BulkStore({ address, logger, metrics: makeMetrics({ version: 'test' }) });
  const link = await store.take('key');
  put(NEW);
  await change(server, OLD, NEW);
  store.giveBack(link);
  const another = await store.take('key');
  expect(another).not.toBe(link);
  expect(String(await another.command(['PING']))).toBe('PONG');
  store.giveBack(another);
  store.stop();
});

test('a wrong one is warned of while the old connections last, and is forgotten when it is right', async () => {
  const server = await started({ settings: { requirepass: OLD } });
  const { address, put } = addressWithFiles(`redis://127.0.0.1:${server.port}`);
  const lines: { level: number; msg: string }[] = [];
  const logger = makeLogger({ level: 'info', server: 'test' }, { write: (text) => lines.push(JSON.parse(text)) });
  const connection = await opened(connectCommands({ address, name: 'commands', onError: nothing }));
  const asked = { store: 'main' as const, connection, address, logger, keeps: false, announces: false };
  const check = new ServerCheck(asked);
  const isRefused = expect.stringMatching(/^the password that was read anew is refused/);
  const seen = async () => {
    await check.run();
    return check.warnings.filter((text) => text.includes('password'));
  };
  expect(await seen()).toEqual([]);
  put('mistyped');
  expect(await seen()).toEqual([isRefused]);
  expect(await seen()).toEqual([isRefused]);
  expect(await connection.ping()).toBe('PONG');
  await server.cli('--no-auth-warning', '-a', OLD, 'config', 'set', 'requirepass', NEW);
  put(NEW);
  expect(await seen()).toEqual([]);
  const said = lines.filter(({ msg }) => msg.includes('password')).map(({ level, msg }) => [level, msg]);
  expect(said).toEqual([
    [40, isRefused],
    [30, 'the password was read anew'],
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/mistyped|pass\+word/);
});
