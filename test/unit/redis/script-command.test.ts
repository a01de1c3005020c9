import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import { close, type Connection, connectCommands } from '../../../shared/service-kit/redis/connections.ts';
import { ScriptCommand } from '../../../shared/service-kit/redis/scripts/script-command.ts';
import { makeScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import { scriptCalls } from '../../../shared/service-kit/telemetry/trace-points.ts';
import { messageAck } from '../../../services/sync/messages/scripts.ts';
import { presenceRead } from '../../../services/sync/presence/scripts.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis/own-redis.ts';

const SCRIPT = { text: "return { KEYS[1], ARGV[1], ARGV[2] or '' }", sha: 'f'.repeat(40), keyCount: 1, resentAt: -1 };

const written = (connection: object, words: (string | number)[]): string =>
  new ScriptCommand(SCRIPT, words).toWritable(connection);

/** Another call of the same, which the store refused because it has forgotten the script. */
function refused(words: string[], connection: object, timesSent = 1, script = SCRIPT): ScriptCommand {
  const command = new ScriptCommand(script, words);
  for (let i = 0; i < timesSent; i++) command.toWritable(connection);
  return new ScriptCommand(script, words, command);
}

const noNote = (): void => undefined;

test('a connection is sent the text of a script once, and then its SHA-1', () => {
  const [first, second] = [{}, {}];
  const names = [first, first, second, first].map((connection) => written(connection, ['key']).split('\r\n')[2]);
  expect(names).toEqual(['eval', 'evalsha', 'eval', 'evalsha']);
  expect(refused(['key'], first).toWritable(first)).toContain(SCRIPT.text);
});

test('words go out with their lengths in bytes, however long they are', () => {
  const connection = {};
  written(connection, ['key']);
  const long = 'é'.repeat(2_000);
  const expected = ['*6', '$7', 'evalsha', '$40', SCRIPT.sha, '$1', '1', '$3', 'key', '$2', '17', '$4000', long, ''];
  expect(written(connection, ['key', 17, long])).toBe(expected.join('\r\n'));
});

test('a call that is written again says how long ago it was first, also after the store has refused it', () => {
  const connection = {};
  const marked = { ...SCRIPT, resentAt: 2 };
  const words = ['key', 'a', '', 'b'];
  const mark = (text: string): string | undefined => text.split('\r\n').at(-4);
  const command = new ScriptCommand(marked, words);
  const marks = [1, 2, 3].map(() => mark(command.toWritable(connection)));
  expect(marks).toEqual(['', expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
  expect(Number(marks[2])).toBeGreaterThanOrEqual(Number(marks[1]));
  expect(mark(refused(words, connection, 1, marked).toWritable(connection))).toBe('');
  expect(mark(refused(words, connection, 2, marked).toWritable(connection))).toMatch(/^\d+$/);
  const unmarked = new ScriptCommand(SCRIPT, words);
  expect([1, 2].map(() => mark(unmarked.toWritable(connection)))).toEqual(['', '']);
});

describe('over a connection', () => {
  let redis: OwnRedis;
  let connection: Connection;

  beforeAll(async () => {
    redis = await startOwnRedis();
    const { value: address } = redisAddress(redis.url) as { value: RedisAddress };
    connection = connectCommands({ address, name: 'test', onError: () => undefined });
    await connection.connect();
  });
  afterAll(async () => {
    close(connection);
    await redis.stop();
  });

  test('a store that has forgotten its scripts is sent them again, and each call has its answer', async () => {
    const read = makeScriptLoader({ connection, announcing: null }).define(presenceRead);
    const keys = { devices: '{a}:devices', presence: '{a}:presence' };
    await connection.hset(keys.devices, 'phone', 'row');
    const before = await read(keys, {});
    await connection.script('FLUSH');
    const after = await Promise.all([read(keys, {}), read(keys, {}), read(keys, {})]);
    expect([before, ...after]).toEqual(Array.from({ length: 4 }, () => ({ devices: ['phone', 'row'], states: [] })));
  });

  test('what a script refuses is raised, and what the store says against it too', async () => {
    const announcing = {
      publishInScript: true,
      losses: () => 0,
      replied: (reply: unknown[]) => void reply.pop(),
      failed: () => undefined,
    };
    const ack = makeScriptLoader({ connection, announcing }).define(messageAck);
    const names = ['devices', 'routes', 'log', 'mail', 'inbox', 'operation'] as const;
    const keys = Object.fromEntries(names.map((name) => [name, `{b}:${name}`])) as Record<
      (typeof names)[number],
      string
    >;
    const args = { device: 'phone', messageIds: ['m'] };
    const failures: unknown[] = [];
    const watcher = {
      start: noNote,
      end: noNote,
      asyncStart: noNote,
      asyncEnd: noNote,
      error: (call: unknown) => void failures.push(call),
    };
    scriptCalls.subscribe(watcher);
    await expect(ack(keys, args)).rejects.toMatchObject({ code: 'device_required' });
    scriptCalls.unsubscribe(watcher);
    expect(failures).toEqual([]);
    await expect(ack(keys, args)).rejects.toMatchObject({ code: 'device_required' });
    await connection.set('{b}:devices', 'no hash');
    await expect(ack(keys, args)).rejects.toMatchObject({ code: 'internal' });
  });
});
