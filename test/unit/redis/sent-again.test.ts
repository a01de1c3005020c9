import type { Redis } from 'ioredis';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { bindScript, type BoundScript } from '../../../shared/service-kit/redis/scripts/bound-script.ts';
import type { Raw } from '../../../shared/service-kit/redis/scripts/script-values.ts';
import { clipboardSet } from '../../../services/sync/clipboard/scripts.ts';
import { deviceRename } from '../../../services/sync/devices/scripts.ts';
import { messageAccept, messageAck } from '../../../services/sync/messages/scripts.ts';
import { makeKeys } from '../../../services/sync/redis/keys.ts';
import { signalSend } from '../../../services/sync/signals/scripts.ts';
import { type OwnRedis, startOwnRedis } from '../../support/redis/own-redis.ts';
import { connectTo } from '../../support/redis/redis.ts';

/* The client library sends calls again, the copies arrive in any order, and anything may have changed in between. */

let redis: OwnRedis;
let client: Redis;
const keys = makeKeys('baton');

beforeAll(async () => {
  redis = await startOwnRedis();
  client = connectTo(redis.url);
});
beforeEach(async () => {
  await client.flushall();
  await client.hset(keys.devices('u'), 'laptop', 'Laptop\n', 'phone', 'Phone\n', 'tablet', 'Tablet\n');
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
});

/** Returns copies of a call. All have the same words, except the time since the first was sent. */
const copiesOf =
  (
    { text, keyCount, resentAt }: Pick<BoundScript<never, never, never>, 'text' | 'keyCount' | 'resentAt'>,
    words: (string | number)[],
  ) =>
  (resentAfterMs?: number): Promise<Raw[]> => {
    const sent = words.map((word, i) => (i === resentAt && resentAfterMs !== undefined ? resentAfterMs : word));
    return client.eval(text, keyCount, ...sent) as Promise<Raw[]>;
  };

const limited = { rate: 'baton:{u}:rate', accountRate: 'baton:{u}:rates' };

function signal() {
  const bound = bindScript(signalSend, true, [], 0);
  const on = keys.inAccount('u', { ...limited, operation: keys.call('u', 'laptop'), transfer: 'baton:{u}:t' });
  const given = { target: '=phone', transferId: '', kind: 'offer', payload: '"x"', lateMs: 0, sender: 'laptop' };
  return copiesOf(bound, bound.words(on, given));
}

function message(wanted: string, { sender = 'laptop', id = 'm1', pushes = 'unscheduled' as const } = {}) {
  const bound = bindScript(messageAccept, true, [], 0);
  const on = keys.inAccount('u', { ...limited, operation: keys.call('u', 'laptop') });
  const words = bound.words(on, {
    ...{ sender, fromName: 'Laptop', wanted, messageId: id, content: '"hello"', bytes: 7, fingerprint: '' },
    ...{ rememberSeconds: 0, pushes, dead: [], lateMs: 0 },
  });
  const send = copiesOf(bound, words);
  return async (resentAfterMs?: number) => {
    const reply = await send(resentAfterMs);
    return reply[0] === 'OK' ? { id: reply[1], createdAt: reply[2], targets: JSON.parse(String(reply[3])) } : reply[0];
  };
}

function clipboard(content: string) {
  const bound = bindScript(clipboardSet, true, [{ TTL_MS: 60_000 }], 0);
  const on = keys.inAccount('u', { ...limited, operation: keys.call('u', 'laptop') });
  const given = { device: 'laptop', name: '', content: JSON.stringify(content), bytes: content.length };
  return copiesOf(bound, bound.words(on, given));
}

function rename(name: string) {
  const bound = bindScript(deviceRename, true, [], 0);
  const on = keys.inAccount('u', { ...limited, operation: keys.call('u', 'laptop') });
  return copiesOf(bound, bound.words(on, { caller: 'laptop', device: 'phone', name }));
}

const logged = () => client.xlen(keys.log('u'));
const mailFor = async (device: string) =>
  (await client.zrangebylex(keys.inbox('u'), '-', '+')).filter((member) => member.startsWith(`${device}:`)).length;

// Proves G10.
test('a call that was carried out is not carried out again, however much came after it', async () => {
  const send = signal();
  expect((await send()).slice(0, 2)).toEqual(['OK', 'phone']);
  for (let i = 1; i < LIMITS.logEvents; i++) await signal()();
  expect((await send(500)).slice(0, 2)).toEqual(['OK', 'phone']);
  expect(await logged()).toBe(LIMITS.logEvents);
});

test('one that was not is carried out: by an empty log, by a whole one, by one that goes back far enough', async () => {
  expect((await signal()(500))[0]).toBe('OK');
  expect((await signal()(500))[0]).toBe('OK');
  expect(await logged()).toBe(2);
  await client.del(keys.log('u'));
  const longAgo = Date.now() - 60_000;
  const entry = ['p', `${longAgo - 1}-1`, 'e', 'signal', 't', 'phone', 'd', '{}', 's', '2'];
  await client.xadd(keys.log('u'), `${longAgo}-1`, ...entry);
  expect((await signal()(500))[0]).toBe('OK');
  expect(await logged()).toBe(2);
});

test('it is refused where the log has lost what came since it was first sent: it may have been among that', async () => {
  const send = signal();
  await send();
  for (let i = 0; i < 2 * LIMITS.logEvents; i++) await signal()();
  const before = await logged();
  expect((await send(60_000))[0]).toBe('store_unavailable');
  expect(await logged()).toBe(before);
});

test.each([
  ['a signal', signal],
  ['a message', () => message('=phone')],
])('%s whose first copy comes last is there once', async (_, make) => {
  const send = make();
  await send(3_000);
  await send();
  await send(4_000);
  expect(await logged()).toBe(1);
});

test.each([
  ['a signal', signal],
  ['a message', () => message('=phone')],
  ['the clipboard', () => clipboard('text')],
  ['a name', () => rename('Name')],
])('the answer of %s that was sent again is kept while another copy may come: for a minute', async (_, make) => {
  await make()(500);
  const [kept = ''] = await client.keys('baton:{u}:op:*');
  const keptMs = await client.pttl(kept);
  expect(keptMs).toBeGreaterThan(30_000);
  expect(keptMs).toBeLessThanOrEqual(60_000);
});

test('a message is not sent anew because its device can be pushed to by now', async () => {
  const send = message('=phone');
  const first = await send();
  await client.hset(keys.push('u'), 'r:web:phone', ['id', 'hash', '1', '1', '0', '0', '0', 'target'].join('\n'));
  expect(await send(500)).toEqual(first);
  expect(await mailFor('phone')).toBe(1);
});

test('a message is told as it was accepted, whatever became of the devices', async () => {
  const send = message('*');
  const first = await send();
  expect(await send(500)).toEqual(first);
  await client.hset(keys.devices('u'), 'watch', 'Watch\n', 'phone', 'Old phone\n');
  await client.hdel(keys.devices('u'), 'tablet');
  const again = await send(500);
  const byId = (a: string[], b: string[]) => (a[0] ?? '').localeCompare(b[0] ?? '');
  expect((again as { targets: string[][] }).targets.toSorted(byId)).toEqual([
    ['phone', 'Old phone', '', false],
    ['tablet', 'tablet', '', false],
  ]);
});

test('a message to a device that is gone, or has another name, is told with that device', async () => {
  const [toId, toName] = [message('=phone', { id: 'm1' }), message('~Phone', { id: 'm2' })];
  await toId();
  await toName();
  await client.hset(keys.devices('u'), 'phone', 'Other\n');
  expect(await toName(500)).toMatchObject({ id: 'm2', targets: [['phone', expect.any(String), '', false]] });
  await client.hdel(keys.devices('u'), 'phone');
  expect(await toId(500)).toMatchObject({ id: 'm1', targets: [['phone', 'phone', '', false]] });
});

test('an acknowledgement of what somebody without a device has sent is told as the first time', async () => {
  await message('=phone', { sender: '', id: 'm1' })();
  await message('=phone', { id: 'm2' })();
  const bound = bindScript(messageAck, true, []);
  const on = keys.inAccount('u', { operation: keys.call('u', 'phone') });
  const ack = copiesOf(bound, bound.words(on, { device: 'phone', messageIds: ['m1', 'm2', 'm3'] }));
  expect((await ack()).slice(0, 2)).toEqual(['OK', '2']);
  expect(await client.pttl(on.operation)).toBeGreaterThan(30_000);
  expect((await ack(500)).slice(0, 2)).toEqual(['OK', '2']);
  expect(await logged()).toBe(3);
});

test('an acknowledgement of what a removed device had sent is logged for nobody, and told as the first time', async () => {
  await message('=phone', { id: 'm1' })();
  await client.hdel(keys.devices('u'), 'laptop');
  const bound = bindScript(messageAck, true, []);
  const on = keys.inAccount('u', { operation: keys.call('u', 'phone') });
  const ack = copiesOf(bound, bound.words(on, { device: 'phone', messageIds: ['m1'] }));
  expect((await ack()).slice(0, 2)).toEqual(['OK', '1']);
  expect(await logged()).toBe(1);
  expect((await ack(500)).slice(0, 2)).toEqual(['OK', '1']);
});

test('an acknowledgement that the log can tell of keeps nothing beside it, and is told as the first time', async () => {
  await message('=phone', { id: 'm1' })();
  await message('=phone', { id: 'm2' })();
  await message('=phone', { sender: 'tablet', id: 'm3' })();
  const bound = bindScript(messageAck, true, []);
  const on = keys.inAccount('u', { operation: keys.call('u', 'phone') });
  const ack = copiesOf(bound, bound.words(on, { device: 'phone', messageIds: ['m1', 'm2', 'm3'] }));
  expect((await ack()).slice(0, 2)).toEqual(['OK', '3']);
  expect(await client.keys('baton:{u}:op:*')).toEqual([]);
  expect((await ack(500)).slice(0, 2)).toEqual(['OK', '3']);
});

test.each([
  ['the clipboard', clipboard, async () => (await client.get(keys.clipboard('u')))?.match(/"content":"(\w+)"/)?.[1]],
  ['a name', rename, async () => (await client.hget(keys.devices('u'), 'phone'))?.split('\n')[0]],
])(
  'what was done to %s is not done again after somebody else, in either order of the copies',
  async (_, make, present) => {
    const [early, late] = [make('early'), make('late')];
    const first = (await early()).slice(0, 2);
    await make('other')();
    expect((await early(500))[0]).toBe(first[0]);
    expect(await present()).toBe('other');
    await late(500);
    await make('last')();
    await late();
    expect(await present()).toBe('last');
  },
);
