import { close, type Connection, connectCommands } from '../../../shared/service-kit/redis/connections.ts';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import { ServerCheck, type ServersFound } from '../../../shared/service-kit/redis/server-check.ts';
import { makeLogger } from '../../../shared/service-kit/telemetry/logger.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis/own-redis.ts';

const { jest } = import.meta;

/* What a store says about its memory, its disk and its settings, and when it is asked again. */

const MIB = 1024 * 1024;

let redis: OwnRedis;
let connection: Connection;
const logger = makeLogger({ level: 'silent', server: 'test' });

async function start(
  options: Parameters<typeof startOwnRedis>[0],
): Promise<{ check: ServerCheck; found: ServersFound[] }> {
  redis = await startOwnRedis(options);
  const address = (redisAddress(redis.url) as { value: RedisAddress }).value;
  connection = connectCommands({ address, name: 'commands', onError: () => undefined });
  await connection.connect();
  const found: ServersFound[] = [];
  const onChecked = (told: ServersFound) => void found.push(told);
  const check = new ServerCheck({
    ...{ store: 'main' as const, connection, address, logger, keeps: false, announces: false },
    onChecked,
  });
  return { check, found };
}

afterEach(async () => {
  close(connection);
  await redis.stop();
});

test('a store without a limit is never full; one beyond its maxmemory is, and says so until it has room again', async () => {
  const { check, found } = await start({ persistent: false });
  const maxmemory = (bytes: number) => connection.config('SET', 'maxmemory', bytes);
  await check.run();
  await maxmemory(512 * MIB);
  await check.run();
  await maxmemory(1);
  await check.run();
  const isReached = expect.stringMatching(/^maxmemory is reached/);
  expect(check.warnings).toEqual([isReached]);
  await maxmemory(0);
  await check.run();
  expect(check.warnings).toEqual([]);
  expect(found.map(({ maxBytes, isFull }) => [maxBytes, isFull])).toEqual([
    [0, false],
    [512 * MIB, false],
    [1, true],
    [0, false],
  ]);
  for (const { usedBytes } of found) expect(usedBytes).toBeGreaterThan(100_000);
});

test('a store whose append-only file finds no room on the disk is full, although it has memory', async () => {
  const { check, found } = await start({ diskBytes: MIB });
  const isRefused = async () =>
    connection.append('filling', 'x'.repeat(100_000)).then(
      () => false,
      () => true,
    );
  while (!(await isRefused())) await new Promise((resolve) => setImmediate(resolve));
  await check.run();
  expect(found).toMatchObject([{ maxBytes: 0, isFull: true }]);
  expect(check.warnings).toEqual([expect.stringMatching(/^Redis cannot write its append-only file/)]);
});

test('an eviction policy that is set at run time is noticed within half a minute', async () => {
  const { check, found } = await start({ persistent: false });
  const clock = jest.useFakeTimers({
    doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'setInterval', 'clearInterval', 'performance', 'Date'],
  });
  const untilFound = async (count: number) => {
    while (found.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  check.watch();
  await untilFound(1);
  await connection.config('SET', 'maxmemory-policy', 'allkeys-lru');
  // The next look is planned a moment after the previous one.
  await new Promise((resolve) => setImmediate(resolve));
  // The time must not be longer, because the command that is sent then would time out by the same clock.
  clock.advanceTimersByTime(30_000);
  await untilFound(2);
  expect(found.map(({ evicts }) => evicts)).toEqual([false, true]);
  expect(check.warnings).toEqual([expect.stringMatching(/^maxmemory-policy is allkeys-lru/)]);
  check.stop();
  jest.useRealTimers();
});
