import { makeDevice, randomUser, type TestDevice } from '../../support/device.ts';
import { keysUnder } from '../../support/redis/redis.ts';
import { type Site, startSite } from '../../support/site.ts';
import { picture } from '../../support/redis/stored.ts';
import { expectProblem, request, type WireAnswer } from '../../support/wire.ts';

/* Limits are at a twentieth: messages 6 a minute, clipboard 3 a minute, everything on sign-in 3 a minute. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '0.05', APP_TRUSTED_PROXIES: '127.0.0.0/8' });
});
afterAll(() => site.stop());

/** Sends the same request this many times, on both replicas in turn. */
async function oneAtATime(
  times: number,
  send: (replica: { url: string }, index: number) => Promise<WireAnswer>,
): Promise<WireAnswer[]> {
  const answers: WireAnswer[] = [];
  for (let index = 0; index < times; index++) answers.push(await send(index % 2 === 0 ? site.one : site.two, index));
  return answers;
}

const statuses = (answers: WireAnswer[]): number[] => answers.map(({ status }) => status);
const many = (times: number, status: number): number[] => Array.from({ length: times }, () => status);

/** Expects what a refused client needs: when to come back, and what the limit is. */
function expectRateLimited(answer: WireAnswer | undefined, group: string, limit: number): void {
  expectProblem(answer as WireAnswer, 'rate_limited');
  const { 'retry-after': after, ratelimit, 'ratelimit-policy': policy } = answer?.headers ?? {};
  expect(Number(after)).toBeGreaterThan(0);
  expect(Number(after)).toBeLessThanOrEqual(60);
  expect(ratelimit).toMatch(new RegExp(`^"${group}"; r=0; t=([1-9]|[1-5]\\d|60)\\b`));
  expect(policy).toMatch(new RegExp(`^"${group}"; q=${limit}; w=60\\b`));
}

const sendMessage =
  (device: TestDevice, more: Record<string, string> = {}) =>
  (replica: { url: string }) =>
    request(replica, {
      method: 'POST',
      path: '/api/message',
      headers: { ...device.headers, ...more },
      body: { to: device.name, content: 'x' },
    });

const setClipboard = (device: TestDevice) => (replica: { url: string }) =>
  request(replica, {
    method: 'PUT',
    path: '/api/clipboard',
    headers: device.headers,
    body: { content: 'x', content_type: 'text/plain' },
  });

describe('messages', () => {
  test('of one device are counted on both replicas together', async () => {
    const answers = await oneAtATime(8, sendMessage(makeDevice({ user: randomUser() })));
    expect(statuses(answers)).toEqual([...many(6, 201), 429, 429]);
    expectRateLimited(answers[6], 'message', 6);
    expectRateLimited(answers[7], 'message', 6);
  });

  test('of another device of the account are counted apart', async () => {
    const user = randomUser();
    const [busy, quiet] = [makeDevice({ user, name: 'Busy' }), makeDevice({ user, name: 'Quiet' })];
    await oneAtATime(7, sendMessage(busy));
    expect((await sendMessage(quiet)(site.one)).status).toBe(201);
  });

  test('of callers without a device are counted for the account', async () => {
    const user = randomUser();
    const device = makeDevice({ user, name: 'Laptop' });
    await device.on(site.one).call('getMe');
    const send = (replica: { url: string }) =>
      request(replica, {
        method: 'POST',
        path: '/api/message',
        headers: { 'X-Dev-User': user },
        body: { to: 'Laptop', content: 'x' },
      });
    const answers = await oneAtATime(7, send);
    expect(statuses(answers)).toEqual([...many(6, 201), 429]);
    expect((await sendMessage(device)(site.one)).status).toBe(201);
  });

  test('that are refused by the limit leave nothing behind but the count', async () => {
    const user = randomUser();
    const device = makeDevice({ user });
    await oneAtATime(6, sendMessage(device));
    const withoutCount = (all: Record<string, string>) =>
      Object.fromEntries(Object.entries(all).filter(([key]) => !key.includes(':rate:')));
    const account = `${site.prefix}:{${user}}`;
    const before = withoutCount(await picture(site.redis, account));
    expect((await sendMessage(device)(site.two)).status).toBe(429);
    expect(withoutCount(await picture(site.redis, account, before))).toEqual(before);
  });

  test('that are repeated with their key are answered beyond the limit: nothing new is sent', async () => {
    const device = makeDevice({ user: randomUser() });
    const keyed = sendMessage(device, { 'Idempotency-Key': 'once' });
    const first = await keyed(site.one);
    await oneAtATime(6, sendMessage(device));
    const again = await keyed(site.two);
    expect(again.status).toBe(201);
    expect((again.body as { message_id: string }).message_id).toBe((first.body as { message_id: string }).message_id);
  });

  test('go on when the minute is over', async () => {
    const user = randomUser();
    const device = makeDevice({ user });
    await oneAtATime(7, sendMessage(device));
    const [count] = await keysUnder(site.redis, `${site.prefix}:{${user}}`, `:rate:message:${device.id}`);
    expect(await site.redis.pttl(count as string)).toBeLessThanOrEqual(60_000);
    expect(await site.redis.pttl(count as string)).toBeGreaterThan(0);
    await site.redis.del(count as string);
    expect((await sendMessage(device)(site.two)).status).toBe(201);
  });
});

describe('clipboard writes', () => {
  test('of one device are counted on both replicas together', async () => {
    const answers = await oneAtATime(4, setClipboard(makeDevice({ user: randomUser() })));
    expect(statuses(answers)).toEqual([...many(3, 200), 429]);
    expectRateLimited(answers[3], 'clipboard', 3);
  });

  test('that are refused keep the entry, which can still be read and cleared', async () => {
    const device = makeDevice({ user: randomUser() });
    await oneAtATime(4, setClipboard(device));
    expect((await device.on(site.one).call('getClipboard')).body.content).toBe('x');
    expect((await device.on(site.two).call('clearClipboard')).status).toBe(204);
  });

  test('and messages do not use up each other', async () => {
    const device = makeDevice({ user: randomUser() });
    await oneAtATime(4, setClipboard(device));
    expect((await sendMessage(device)(site.one)).status).toBe(201);
  });
});

describe('everything on sign-in', () => {
  const ask =
    (address: string, path: (index: number) => string = () => '/api/auth/anything') =>
    (replica: { url: string }, index: number) =>
      request(replica, { path: path(index), headers: { 'X-Forwarded-For': address } });

  test('is counted for a client address on both replicas together, whatever the path', async () => {
    const paths = ['/api/auth', '/api/auth/', '/api/auth/nothing', '/api/auth/qr/nothing'];
    const answers = await oneAtATime(
      4,
      ask('192.0.2.1', (index) => paths[index] as string),
    );
    expect(statuses(answers)).toEqual([404, 404, 404, 429]);
    expectRateLimited(answers[3], 'auth', 3);
  });

  test('is counted apart for another address', async () => {
    await oneAtATime(4, ask('192.0.2.2'));
    expect((await ask('192.0.2.3')(site.one, 0)).status).toBe(404);
  });

  test('is counted together for a whole IPv6 customer of /56', async () => {
    const addresses = ['2001:db8:7:a00::1', '2001:db8:7:aff:1:2:3:4', '2001:db8:7:a42::', '2001:db8:7:a11::9'];
    const answers = await oneAtATime(4, (replica, index) => ask(addresses[index] as string)(replica, index));
    expect(statuses(answers)).toEqual([404, 404, 404, 429]);
    expect((await ask('2001:db8:7:b00::1')(site.one, 0)).status).toBe(404);
  });

  test('is counted together for one client whose connections have ports of their own, and apart for another', async () => {
    const ports = ['192.0.2.7:51234', '192.0.2.7:51235', '192.0.2.7', '::ffff:192.0.2.7'];
    const answers = await oneAtATime(4, (replica, index) => ask(ports[index] as string)(replica, index));
    expect(statuses(answers)).toEqual([404, 404, 404, 429]);
    expect((await ask('192.0.2.8:51234')(site.one, 0)).status).toBe(404);
    const customer = ['[2001:db8:9:a00::1]:443', '[2001:db8:9:aff::2]:444', '2001:db8:9:a42::', '[2001:db8:9:a11::9]'];
    const others = await oneAtATime(4, (replica, index) => ask(customer[index] as string)(replica, index));
    expect(statuses(others)).toEqual([404, 404, 404, 429]);
    expect((await ask('[2001:db8:9:b00::1]:443')(site.one, 0)).status).toBe(404);
  });

  test('believes of the forwarded hops only the last that no proxy of ours wrote', async () => {
    const answers = await oneAtATime(4, (replica, index) =>
      ask(`203.0.113.${index}, 192.0.2.4, 127.0.0.9`)(replica, index),
    );
    expect(statuses(answers)).toEqual([404, 404, 404, 429]);
  });

  test('is refused the same to whoever is signed in', async () => {
    const device = makeDevice({ user: randomUser() });
    await oneAtATime(3, ask('192.0.2.5'));
    const headers = { ...device.headers, 'X-Forwarded-For': '192.0.2.5' };
    expectRateLimited(await request(site.two, { path: '/api/auth/sessions', headers }), 'auth', 3);
    expect((await request(site.two, { path: '/api/me', headers })).status).toBe(200);
  });

  test('is counted in keys that end by themselves', async () => {
    await ask('192.0.2.6')(site.one, 0);
    const keys = await keysUnder(site.redis, site.prefix, ':rate:auth:*');
    expect(keys.length).toBeGreaterThan(0);
    for (const ttl of await Promise.all(keys.map((key) => site.redis.pttl(key)))) expect(ttl).toBeGreaterThan(0);
  });
});
