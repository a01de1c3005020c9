import { makeKeys } from '../../services/sync/redis/keys.ts';
import { looksOf } from '../../shared/contract/vocabulary/device-names.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { picture } from '../support/redis/stored.ts';
import { expectProblem, request } from '../support/wire.ts';

/* Two names are the same if they look the same: `Laptop`, `laptop` and `LAPTOP`; `Roof terrace` and `roof  terrace`. */

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const namesOf = async (device: TestDevice): Promise<string[]> =>
  (await device.on(site.two).call('listDevices')).body.devices.map(({ name }) => name);
const present = async (device: TestDevice): Promise<string[]> =>
  (await device.on(site.two).call('getPresence')).body.devices.map(({ name }) => name);

const rename = (caller: TestDevice, target: TestDevice, name: string) =>
  request(site.one, { method: 'PATCH', path: `/api/devices/${target.id}`, headers: caller.headers, body: { name } });
const open = (user: string, name: string) =>
  request(site.two, { path: `/api/hub/events?name=${encodeURIComponent(name)}`, headers: { 'X-Dev-User': user } });

const WAYS = [
  ['a message', '/api/message', { content: 'for you' }],
  ['a transfer', '/api/transfer/init', { files: [{ name: 'a', size: 1 }] }],
  ['a signal', '/api/hub/signal', { kind: 'offer', payload: 1 }],
] as const;
const send = (by: TestDevice, path: string, body: object) =>
  request(site.one, { method: 'POST', path, headers: by.headers, body });

describe('a new device', () => {
  test('with a name that looks like another one gets the next number', async () => {
    const [, , third] = await site.enrol('Laptop', 'laptop', 'LAPTOP', 'Roof  terrace', 'roof terrace');
    expect(await namesOf(third)).toEqual(['Laptop', 'laptop 2', 'LAPTOP 3', 'Roof  terrace', 'roof terrace 2']);
  });

  test('skips a number that another has in other letters', async () => {
    const [device] = await site.enrol('LAPTOP  2', 'laptop', 'Laptop');
    expect(await namesOf(device)).toEqual(['LAPTOP  2', 'laptop', 'Laptop 3']);
  });

  test('with 32 characters in other letters has them cut for the number', async () => {
    const [device] = await site.enrol('x'.repeat(32), 'X'.repeat(32));
    expect(await namesOf(device)).toEqual(['x'.repeat(32), `${'X'.repeat(30)} 2`]);
  });

  test('never gets a name that looks like another, however many come at once on both replicas', async () => {
    const user = randomUser();
    const spelled = ['Twin', 'twin', 'TWIN', ' tWin'];
    const devices = Array.from({ length: 12 }, (_, i) => makeDevice({ user, name: spelled[i % 4] as string }));
    await Promise.all(devices.map((device, i) => device.on(i % 2 === 0 ? site.one : site.two).call('getMe')));
    const names = await namesOf(devices[0] as TestDevice);
    expect(new Set(names.map(looksOf)).size).toBe(12);
  });
});

describe('a rename', () => {
  test.each(['phone', 'PHONE', ' Phone ', 'pHONE'])(
    'to %j beside Phone is refused, and changes nothing',
    async (name) => {
      const [laptop] = await site.enrol('Laptop', 'Phone');
      const before = await picture(site.redis, site.prefix);
      expectProblem(await rename(laptop, laptop, name), 'name_taken');
      expect(await picture(site.redis, site.prefix, before)).toEqual(before);
    },
  );

  test('to another number of spaces in another name is refused, and in its own is done', async () => {
    const [laptop, terrace] = await site.enrol('Laptop', 'Roof terrace');
    expectProblem(await rename(laptop, laptop, 'roof   terrace'), 'name_taken');
    expect((await rename(laptop, terrace, 'ROOF  terrace')).body).toMatchObject({ device: { name: 'ROOF  terrace' } });
  });

  test('of two devices at once to names that look the same succeeds for one', async () => {
    const devices = await site.enrol('A', 'B', 'C', 'D');
    const wanted = ['Desk', 'desk', 'DESK', 'dESK'];
    const answers = await Promise.all(devices.map((device, i) => rename(device, device, wanted[i] as string)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });
});

describe('a stream without a device', () => {
  test('keeps its name from rows, renames and other streams, as long as it is open', async () => {
    const [laptop] = await site.enrol('Laptop');
    const kitchen = site.listenAs('Kitchen', laptop.user, site.one);
    await kitchen.next('ready');

    expectProblem(await rename(laptop, laptop, 'KITCHEN'), 'name_taken');
    expectProblem(await open(laptop.user, 'kitchen'), 'name_taken');
    const added = makeDevice({ user: laptop.user, name: 'kitchen' });
    expect((await added.on(site.two).call('getMe')).body.device?.name).toBe('kitchen 2');
    const again = site.listenAs('Kitchen', laptop.user, site.two);
    await again.next('ready');
    expect(await present(laptop)).toEqual(['Laptop', 'kitchen 2', 'Kitchen']);

    await Promise.all([kitchen.stop(), again.stop()]);
    const freed = async () => (await rename(laptop, laptop, 'KITCHEN')).status === 200;
    while (!(await freed())) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await namesOf(laptop))[0]).toBe('KITCHEN');
  });

  test('cannot take a name that looks like that of a row', async () => {
    const [device] = await site.enrol('Roof terrace');
    for (const name of ['roof terrace', 'ROOF  TERRACE']) expectProblem(await open(device.user, name), 'name_taken');
  });

  test('gets what is sent to a name that looks like its own, and the answer tells which it was', async () => {
    const [laptop] = await site.enrol('Laptop');
    const kitchen = site.listenAs('Kitchen', laptop.user, site.two);
    await kitchen.next('ready');
    const answer = await send(laptop, '/api/message', { to: 'kitchen', content: 'tea' });
    expect(answer.body).toMatchObject({ to: [{ device_id: null, name: 'Kitchen', online: true }] });
    expect((await kitchen.next('message')).data.content).toBe('tea');
  });
});

describe('what is sent to a name', () => {
  test.each(WAYS)('reaches the one device that looks like it: %s', async (_what, path, body) => {
    const [laptop, terrace] = await site.enrol('Laptop', 'Roof terrace');
    const stream = site.listen(terrace, site.two);
    await stream.next('ready');
    for (const to of ['roof terrace', ' ROOF  TERRACE', 'Roof terrace']) {
      expect((await send(laptop, path, { to, ...body })).status).toBeLessThan(300);
      const name = { '/api/message': 'message', '/api/hub/signal': 'signal' }[path as string] ?? 'transfer:incoming';
      await stream.next(name as 'message');
    }
    expectProblem(await send(laptop, path, { to: 'roofterrace', ...body }), 'not_found');
  });

  test.each(WAYS)('is refused where two look like it, and goes to the exact one: %s', async (_what, path, body) => {
    const { laptop, upper, lower } = await oldAccount();
    const before = await picture(site.redis, site.prefix);
    const refused = await send(laptop, path, { to: 'PHONE', ...body });
    expect(expectProblem(refused, 'name_taken').detail).toMatch(/give the exact name, or the id/);
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);

    const streams = { phone: site.listen(lower, site.two), Phone: site.listen(upper, site.one) };
    for (const [to, stream] of Object.entries(streams)) {
      await stream.next('ready');
      expect((await send(laptop, path, { to, ...body })).status).toBeLessThan(300);
      const name = { '/api/message': 'message', '/api/hub/signal': 'signal' }[path as string] ?? 'transfer:incoming';
      await stream.next(name as 'message');
      const others = Object.values(streams).filter((other) => other !== stream);
      for (const other of others) expect(other.events.filter((event) => event.name === name).length).toBeLessThan(2);
    }
  });
});

/** Makes an account from before the rule: `Phone` and `phone` are two of its devices. */
async function oldAccount() {
  const [laptop, upper, lower] = await site.enrol('Laptop', 'Phone', 'Other');
  const key = makeKeys(site.prefix).devices(laptop.user);
  const row = (await site.redis.hget(key, lower.id)) as string;
  await site.redis.hset(key, lower.id, row.replace('Other', 'phone'));
  return { laptop, upper, lower };
}

describe('an account with names of before the rule', () => {
  test('shows all its devices, online each by itself, and renames what is not in the way', async () => {
    const { laptop, upper, lower } = await oldAccount();
    const stream = site.listen(lower, site.two);
    await stream.next('ready');
    const { devices } = (await laptop.on(site.one).call('getPresence')).body;
    expect(devices.map(({ name, online }) => [name, online])).toEqual([
      ['Laptop', false],
      ['Phone', false],
      ['phone', true],
    ]);
    const all = await send(laptop, '/api/message', { to: '*', content: 'to all' });
    expect((all.body as { to: { name: string }[] }).to.map(({ name }) => name).sort()).toEqual(['Phone', 'phone']);
    expect((await rename(lower, lower, 'phone')).status).toBe(200);
    expectProblem(await rename(lower, lower, 'pHone'), 'name_taken');
    expect((await rename(laptop, upper, 'Tablet')).status).toBe(200);
    expect((await rename(lower, lower, 'PHONE')).status).toBe(200);
    expect(await namesOf(laptop)).toEqual(['Laptop', 'Tablet', 'PHONE']);
  });
});
