import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { expectRight, routesWhere, sampleRequest } from '../support/samples.ts';
import { type Site, startSite } from '../support/site.ts';
import { picture } from '../support/redis/stored.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

interface Accepted {
  message_id: string;
  to: { device_id: string; name: string; online: boolean }[];
  created_at: number;
}

const send = (from: TestDevice, key: string | string[], body: unknown, replica: ReplicaProcess = site.one) =>
  request(replica, {
    ...{ method: 'POST', path: '/api/message', body },
    headers: { ...from.headers, 'Idempotency-Key': key },
  });
const acceptedIn = ({ status, body }: WireAnswer): Accepted => {
  expect(status).toBe(201);
  return body as Accepted;
};
const mailOf = async (device: TestDevice) => (await device.on(site.two).call('listMessages')).body.messages;
/** Writes the row of a device with another name, because the rates of renaming do not allow so many. */
const renamed = async ({ user }: TestDevice, { id }: TestDevice, name: string) =>
  ((await site.redis.hget(`${site.prefix}:{${user}}:devices`, id)) ?? '').replace(/^[^\n]*/, name);
const hello = { to: 'Phone', content: 'hello' };

describe('a message that is sent again with its key', () => {
  // Proves G9.
  test('is answered as the first time, also by the other replica, and exists once', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    const first = acceptedIn(await send(laptop, 'key-1', hello, site.one));
    for (const replica of [site.one, site.two, site.two])
      expect(acceptedIn(await send(laptop, 'key-1', hello, replica))).toEqual(first);
    expect(await mailOf(phone)).toHaveLength(1);
    const marker = acceptedIn(await send(laptop, 'key-2', { ...hello, content: 'marker' }));
    await stream.next('message', ({ data }) => data.message_id === marker.message_id);
    const received = stream.events.flatMap((event) => (event.name === 'message' ? [event.data.content] : []));
    expect(received).toEqual(['hello', 'marker']);
  });

  // Proves G9.
  test('twenty times at once through both replicas exists once', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const replicas = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? site.one : site.two));
    const answers = await Promise.all(replicas.map((replica) => send(laptop, 'storm', hello, replica)));
    expect(new Set(answers.map((answer) => acceptedIn(answer).message_id)).size).toBe(1);
    expect(await mailOf(phone)).toHaveLength(1);
  });

  test('is not delivered anew when it was read in between', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const { message_id: id } = acceptedIn(await send(laptop, 'read', hello));
    await phone.on(site.two).call('ackMessages', { body: { message_ids: [id] } });
    expect(acceptedIn(await send(laptop, 'read', hello, site.two)).message_id).toBe(id);
    expect(await mailOf(phone)).toEqual([]);
  });

  test('to all devices is answered to the letter, also after they were renamed and removed', async () => {
    const names = ['Phone', 'Tablet', 'Desk', 'Watch', 'Car'];
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet', 'Desk', 'Watch', 'Car');
    const toAll = { to: '*', content: 'hello' };
    const first = acceptedIn(await send(laptop, 'all', toAll));
    expect(first.to.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    const ofPhone = acceptedIn(await send(phone, 'all', toAll));
    expect(ofPhone.to.map(({ name }) => name)).toContain('Laptop');
    await tablet.on(site.two).call('renameDevice', { params: { device_id: tablet.id }, body: { name: 'Slate' } });
    await laptop.on(site.two).call('removeDevice', { params: { device_id: phone.id } });
    for (const replica of [site.one, site.two])
      expect(acceptedIn(await send(laptop, 'all', toAll, replica))).toEqual(first);
    const later = acceptedIn(await send(laptop, 'all-later', toAll));
    expect(later.to.map(({ name }) => name).toSorted()).toEqual(['Car', 'Desk', 'Slate', 'Watch']);
    expect(acceptedIn(await send(laptop, 'all-later', toAll))).toEqual(later);
  });

  test('to all devices of a large account is remembered with less than a kilobyte', async () => {
    const names = Array.from({ length: 64 }, (_, i) => `${i}`.padStart(32, 'A long name of a device '));
    const user = randomUser();
    const devices = names.map((name, i) => {
      const [device, id] = [makeDevice({ user, name }), `${i}`.padStart(64, 'x')];
      return { ...device, id, headers: { ...device.headers, 'X-Dev-Device': id } };
    });
    for (const { headers } of devices) await request(site.one, { path: '/api/me', headers });
    const sender = devices[0] as TestDevice;
    const key = 'k'.repeat(64);
    const first = acceptedIn(await send(sender, key, { to: '*', content: 'x' }));
    expect(first.to).toHaveLength(63);
    expect(acceptedIn(await send(sender, key, { to: '*', content: 'x' }, site.two))).toEqual(first);
    const bytes = await site.redis.call('MEMORY', 'USAGE', `${site.prefix}:{${user}}:op:${sender.id}:${key}`);
    expect(Number(bytes)).toBeLessThan(1_024);
    expect(Number(await site.redis.call('MEMORY', 'USAGE', `${site.prefix}:{${user}}:targets`))).toBeLessThan(8_192);
  });

  test('keeps a bounded number of lists of devices, whoever renames them', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone', 'Tablet', 'Desk', 'Watch');
    for (let i = 0; i < 260; i++) {
      await site.redis.hset(
        `${site.prefix}:{${laptop.user}}:devices`,
        phone.id,
        await renamed(laptop, phone, `Phone ${i}`),
      );
      acceptedIn(await send(laptop, `list-${i}`, { to: '*', content: 'x' }));
    }
    expect(await site.redis.hlen(`${site.prefix}:{${laptop.user}}:targets`)).toBe(512);
    const last = acceptedIn(await send(laptop, 'list-259', { to: '*', content: 'x' }));
    expect(last.to.map(({ name }) => name).toSorted()).toEqual(['Desk', 'Phone 259', 'Tablet', 'Watch']);
  });

  test('is still the first one when its target has another name by now', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const first = acceptedIn(await send(laptop, 'renamed', hello));
    await phone.on(site.two).call('renameDevice', { params: { device_id: phone.id }, body: { name: 'Old phone' } });
    expect(acceptedIn(await send(laptop, 'renamed', hello)).message_id).toBe(first.message_id);
  });

  // Proves G9.
  test('is remembered for ten minutes', async () => {
    const [laptop] = await site.enrol('Laptop', 'Phone');
    await send(laptop, 'ten-minutes', hello);
    const ttl = await site.redis.pttl(`${site.prefix}:{${laptop.user}}:op:${laptop.id}:ten-minutes`);
    expect(ttl).toBeGreaterThan(590_000);
    expect(ttl).toBeLessThanOrEqual(600_000);
  });

  test('but with other words is refused, and nothing is sent', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await send(laptop, 'reused', hello);
    const before = await picture(site.redis, site.prefix);
    for (const body of [
      { ...hello, content: 'other words' },
      { ...hello, to: 'Laptop' },
      { to_device_id: phone.id, content: 'hello' },
    ]) {
      expectProblem(await send(laptop, 'reused', body, site.two), 'idempotency_key_reused');
    }
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  });
});

describe('a key', () => {
  test('belongs to its device: the same from another is another message', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const ids = [acceptedIn(await send(laptop, 'same', hello)), acceptedIn(await send(tablet, 'same', hello))];
    expect(ids[0]?.message_id).not.toBe(ids[1]?.message_id);
    expect(await mailOf(phone)).toHaveLength(2);
  });

  test('belongs to the account for callers without a device', async () => {
    const [phone] = await site.enrol('Phone');
    const nobody = { ...phone, headers: { 'X-Dev-User': phone.user } };
    const first = acceptedIn(await send(nobody, 'account', hello, site.one));
    expect(acceptedIn(await send(nobody, 'account', hello, site.two)).message_id).toBe(first.message_id);
    expect(await mailOf(phone)).toHaveLength(1);
  });

  test('belongs to one account: the same elsewhere is another message', async () => {
    const [laptop] = await site.enrol('Laptop', 'Phone');
    const [stranger] = await site.enrol('Laptop', 'Phone');
    const first = acceptedIn(await send(laptop, 'everywhere', hello));
    expect(acceptedIn(await send(stranger, 'everywhere', hello)).message_id).not.toBe(first.message_id);
  });

  test('belongs to one route: a body that both take is another request on the other', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const body = { ...hello, files: [{ name: 'a.txt', size: 1 }] };
    const offer = (key: string, replica: ReplicaProcess) =>
      request(replica, {
        ...{ method: 'POST', path: '/api/transfer/init', body },
        headers: { ...laptop.headers, 'Idempotency-Key': key },
      });
    const message = acceptedIn(await send(laptop, 'message-first', body));
    expectProblem(await offer('message-first', site.two), 'idempotency_key_reused');
    const offered = await offer('offer-first', site.one);
    expect(offered.status).toBe(201);
    expectProblem(await send(laptop, 'offer-first', body, site.two), 'idempotency_key_reused');
    expect((await mailOf(phone)).map(({ message_id }) => message_id)).toEqual([message.message_id]);
    expect((await phone.on(site.two).call('listTransfers')).body.transfers).toHaveLength(1);
    expect(acceptedIn(await send(laptop, 'message-first', body, site.two))).toEqual(message);
    expect((await offer('offer-first', site.two)).body).toEqual(offered.body);
  });

  test('of a refused message can be used again once it can be sent', async () => {
    const [laptop] = await site.enrol('Laptop');
    expectProblem(await send(laptop, 'early', hello), 'not_found');
    const phone = makeDevice({ user: laptop.user, name: 'Phone' });
    await phone.on(site.two).call('getMe');
    acceptedIn(await send(laptop, 'early', hello));
    expect(await mailOf(phone)).toHaveLength(1);
  });

  test.each(['a', 'x'.repeat(64), 'A-Z_a.z:0-9', '__proto__'])('may be %s', async (key) => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    for (let i = 0; i < 2; i++) acceptedIn(await send(laptop, key, hello));
    expect(await mailOf(phone)).toHaveLength(1);
  });

  test.each([[''], ['x'.repeat(65)], ['with space'], ['a,b'], ['{u}'], ['ü'], ['a/b'], [['twice', 'twice']]])(
    'may not be %j',
    async (key) => {
      const [laptop, phone] = await site.enrol('Laptop', 'Phone');
      const { errors } = expectProblem(await send(laptop, key, hello), 'invalid_request');
      expect(errors?.map(({ path }) => path)).toEqual(['/header/Idempotency-Key']);
      expect(await mailOf(phone)).toEqual([]);
    },
  );

  test.each(
    routesWhere(({ idempotent, method }) => !idempotent && method !== 'GET').filter((name) => name !== 'logOut'),
  )('means nothing to %s, whatever it is', async (name) => {
    const [own, other] = await site.enrol('Laptop', 'Phone');
    const headers = { ...own.headers, 'Idempotency-Key': 'no key at all' };
    for (let i = 0; i < 2; i++) {
      const answer = await request(site.one, { ...sampleRequest(name, { own, other }), headers });
      expectRight(name, answer, { own, other });
    }
  });
});

test('without a key the same words are two messages', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const path = '/api/message';
  for (let i = 0; i < 2; i++) await request(site.one, { method: 'POST', path, headers: laptop.headers, body: hello });
  expect(await mailOf(phone)).toHaveLength(2);
});
