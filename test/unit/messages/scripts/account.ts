import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { mailPage, messageAccept, messageAck } from '../../../../services/sync/messages/scripts.ts';
import { makeKeys } from '../../../../services/sync/redis/keys.ts';
import { randomPrefix } from '../../../support/redis/redis.ts';
import { callOf, NOW, runScript } from '../../../support/redis/still-clock.ts';

const keys = makeKeys(randomPrefix());

/** Makes an account with a laptop, which sends, and a phone. Its scripts run in the store at NOW. */
export async function makeAccount(redis: Redis) {
  const name = `u${randomBytes(5).toString('hex')}`;
  const rate = `${keys.rate(name, 'message', 'laptop')}`;
  const on = keys.inAccount(name, {
    ...{ operation: keys.call(name, 'laptop'), rate, accountRate: keys.rate(name, 'message', null) },
  });
  await redis.hset(on.devices, 'laptop', 'Laptop\n', 'phone', 'Phone\n');
  const message = {
    ...{ sender: 'laptop', fromName: '', wanted: '=phone', messageId: 'm1', content: '"hello"', bytes: 7 },
    ...{ fingerprint: 'body', rememberSeconds: 0, pushes: 'off' as 'off' | 'scheduled' | 'unscheduled' },
    ...{ dead: [] as string[], lateMs: 0 },
  };
  const prepare = (args: Partial<typeof message> = {}) => callOf(redis, messageAccept, [], on, { ...message, ...args });
  return {
    name,
    keys: on,
    /** Returns the call of a message, which may be sent again. */
    prepare,
    send: (args: Partial<typeof message> = {}) => prepare(args)(),
    ack: (messageIds: string[], device = 'phone') => callOf(redis, messageAck, [], on, { device, messageIds }),
    page: (after = '', position = '', device = 'phone') =>
      runScript(redis, mailPage, [], on, { device, after, position }),
    devices: (names: Record<string, string>) =>
      redis.hset(on.devices, Object.fromEntries(Object.entries(names).map(([id, row]) => [id, `${row}\n`]))),
    /** Opens a stream. */
    stream: (id: string, channel: string, device: string, seen = 0) =>
      redis.hset(on.routes, id, [channel, device, 1, NOW - seen, NOW - seen, 0].join('\n')),
    /** Puts members without a text into a mailbox. */
    fill: (device: string, count: number, at = NOW) =>
      redis.zadd(on.inbox, ...Array.from({ length: count }, (_, i) => ['0', `${device}:${at}-1:f${i}`]).flat()),
    subscribe: (device: string) =>
      redis.hset(on.push, `r:web:${device}`, ['id', 'hash', '1', '1', '0', '0', '0', 'target'].join('\n')),
    inbox: () => redis.zrange(on.inbox, '0', '-1'),
    logged: () => redis.xrange(on.log, '-', '+'),
  };
}
