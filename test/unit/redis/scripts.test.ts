import { once } from 'node:events';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type RedisAddress, redisAddress } from '../../../shared/service-kit/config/redis.ts';
import { close, type Connection, connectCommands } from '../../../shared/service-kit/redis/connections.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import { scriptsIn } from '../../../shared/service-kit/redis/scripts/script.ts';
import { maybeNumber, number, record, resentAfter } from '../../../shared/service-kit/redis/scripts/script-values.ts';
import { makeScriptLoader } from '../../../shared/service-kit/redis/scripts/scripts.ts';
import { scriptCalls } from '../../../shared/service-kit/telemetry/trace-points.ts';
import { messageAck } from '../../../services/sync/messages/scripts.ts';
import { presenceRead } from '../../../services/sync/presence/scripts.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis/own-redis.ts';

const noNote = (): void => undefined;

/** Starts a server whose first connection passes on what it is sent and is cut when the store answers a script. */
async function startCutting(port: number, cuts: number) {
  let left = cuts;
  const server = createServer((client) => {
    const store = connect(port, '127.0.0.1');
    let isScript = false;
    client.on('data', (sent) => {
      isScript ||= /\r\neval(sha)?\r\n/.test(String(sent));
      store.write(sent);
    });
    store.on('data', (reply) => {
      if (!isScript || left === 0) return client.write(reply);
      left -= 1;
      return client.destroy();
    });
    for (const socket of [client, store]) socket.on('error', noNote);
    client.on('close', () => store.destroy());
    store.on('close', () => client.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

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

  describe('that is cut when the answer comes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-test-script-'));
    mkdirSync(join(folder, 'lua'));
    writeFileSync(
      join(folder, 'lua/count.lua'),
      "return { 'OK', redis.call('INCR', keys.count), resent_after_ms or '' }\n",
    );
    const countCalls = scriptsIn(pathToFileURL(join(folder, 'scripts.ts')).href)('count', {
      keys: ['count'],
      args: { resentAfterMs: resentAfter },
      reply: record({ count: number, resentAfterMs: maybeNumber }),
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    /** Opens a connection on which the answers to this many scripts are lost. */
    async function openCut(cuts: number) {
      const { server, url } = await startCutting(Number(new URL(redis.url).port), cuts);
      const { value: address } = redisAddress(url) as { value: RedisAddress };
      const cut = connectCommands({ address, name: 'test', onError: noNote });
      await cut.connect();
      const closeAll = async () => {
        close(cut);
        await new Promise((resolve) => server.close(resolve));
      };
      return { cut, closeAll };
    }

    test('a script is called again on the next connection, and told how long ago the first call was', async () => {
      const { cut, closeAll } = await openCut(1);
      const count = makeScriptLoader({ connection: cut, announcing: null }).define(countCalls);
      const first = await count({ count: '{c}:once' }, {});
      const second = await count({ count: '{c}:once' }, {});
      expect(first).toEqual({ count: 2, resentAfterMs: expect.any(Number) });
      expect(first.resentAfterMs).toBeGreaterThan(0);
      expect(second).toEqual({ count: 3, resentAfterMs: null });
      await closeAll();
    });

    test('a call that is cut again and again ends as store_unavailable within its time', async () => {
      const { cut, closeAll } = await openCut(1_000);
      const count = makeScriptLoader({ connection: cut, announcing: null }).define(countCalls);
      const startedMs = performance.now();
      await expect(count({ count: '{c}:always' }, {})).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(performance.now() - startedMs).toBeLessThan(10_000);
      expect(Number(await connection.get('{c}:always'))).toBeGreaterThan(1);
      await closeAll();
    });

    test('a plain command is sent again, also several at once', async () => {
      const { cut, closeAll } = await openCut(1);
      const add = () => orFault(cut, () => cut.eval("return redis.call('SADD', KEYS[1], 'a')", 1, '{c}:set'));
      expect(await Promise.all([add(), add()])).toEqual([0, 0]);
      await closeAll();
    });

    test('nothing waits for a connection that was away before the call', async () => {
      const { cut, closeAll } = await openCut(0);
      const count = makeScriptLoader({ connection: cut, announcing: null }).define(countCalls);
      await closeAll();
      await expect(count({ count: '{c}:away' }, {})).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(await connection.get('{c}:away')).toBeNull();
    });
  });
});
