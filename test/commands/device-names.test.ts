import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { picture } from '../support/redis/stored.ts';
import { expectProblem, request, utf8Header } from '../support/wire.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.stop());

const namesOf = async (device: TestDevice): Promise<string[]> =>
  (await device.on(site.two).call('listDevices')).body.devices.map(({ name }) => name);

const rename = (caller: TestDevice, target: TestDevice, name: unknown) =>
  request(site.one, { method: 'PATCH', path: `/api/devices/${target.id}`, headers: caller.headers, body: { name } });

describe('a new device', () => {
  test('with a taken name gets the next number, and is told so', async () => {
    const [, , third] = await site.enrol('Laptop', 'Laptop', 'Laptop');
    expect(await namesOf(third)).toEqual(['Laptop', 'Laptop 2', 'Laptop 3']);
    expect((await third.on(site.one).call('getMe')).body.device?.name).toBe('Laptop 3');
  });

  test('skips numbers that others have by chance', async () => {
    const [device] = await site.enrol('Laptop', 'Laptop 2', 'Laptop', 'Laptop 2');
    expect(await namesOf(device)).toEqual(['Laptop', 'Laptop 2', 'Laptop 3', 'Laptop 2 2']);
  });

  test('with a taken name of 32 characters has it cut to make room for the number', async () => {
    const long = 'abcdefghijklmnopqrstuvwxyz012345';
    const [device] = await site.enrol(long, long);
    expect(await namesOf(device)).toEqual([long, `${long.slice(0, 30)} 2`]);
  });

  test('gets no second space where the cut falls on one', async () => {
    const long = `${'x'.repeat(29)} yz`;
    const [device] = await site.enrol(long, long);
    expect(await namesOf(device)).toEqual([long, `${'x'.repeat(29)} 2`]);
  });

  test('with the tenth equal name makes room for two digits', async () => {
    const long = 'y'.repeat(32);
    const names = Array.from({ length: 10 }, () => long);
    const [device] = (await site.enrol(...names)) as [TestDevice];
    expect((await namesOf(device)).at(-1)).toBe(`${'y'.repeat(29)} 10`);
  });

  test('takes a name that a rename has freed', async () => {
    const [first] = await site.enrol('Laptop');
    await rename(first, first, 'Desk');
    const second = makeDevice({ user: first.user, name: 'Laptop' });
    expect((await second.on(site.two).call('getMe')).body.device?.name).toBe('Laptop');
  });

  test('has the spaces around its name taken away', async () => {
    const device = makeDevice({ user: randomUser(), name: '  Living  room ' });
    expect((await device.on(site.one).call('getMe')).body.device?.name).toBe('Living  room');
  });

  test('never shares its name, however many come at once on both replicas', async () => {
    const user = randomUser();
    const devices = Array.from({ length: 12 }, () => makeDevice({ user, name: 'Twin' }));
    await Promise.all(devices.map((device, i) => device.on(i % 2 === 0 ? site.one : site.two).call('getMe')));
    const names = await namesOf(devices[0] as TestDevice);
    const expected = ['Twin', ...Array.from({ length: 11 }, (_, i) => `Twin ${i + 2}`)];
    expect([...names].sort()).toEqual(expected.sort());
  });

  test('is the sixty-fourth of its account at most', async () => {
    const [first] = (await site.enrol(...Array.from({ length: 64 }, (_, i) => `Device ${i}`))) as [TestDevice];
    const before = await picture(site.redis, site.prefix);
    const surplus = makeDevice({ user: first.user, name: 'One more' });
    expectProblem(await request(site.two, { path: '/api/me', headers: surplus.headers }), 'device_limit');
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
    expect(await namesOf(first)).toHaveLength(64);
  });
});

describe('a rename', () => {
  test('gives the device its new name, everywhere and at once', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const answer = await rename(laptop, laptop, 'Desk');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      device: {
        device_id: laptop.id,
        name: 'Desk',
        type: 'linux',
        online: false,
        current: true,
        created_at: expect.any(Number),
        last_seen_at: null,
      },
    });
    expect(await namesOf(phone)).toEqual(['Desk', 'Phone']);
    expect((await laptop.on(site.two).call('getMe')).body.device?.name).toBe('Desk');
    const presence = (await phone.on(site.two).call('getPresence')).body.devices;
    expect(presence.map(({ name }) => name)).toEqual(['Desk', 'Phone']);
  });

  test('of another device of the account is as good', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    expect((await rename(laptop, phone, 'Old phone')).body).toMatchObject({
      device: { device_id: phone.id, name: 'Old phone', current: false },
    });
    expect(await namesOf(phone)).toEqual(['Laptop', 'Old phone']);
  });

  test.each([
    ['x', 'x'],
    ['z'.repeat(32), 'z'.repeat(32)],
    ['  trimmed  ', 'trimmed'],
    [`  ${'w'.repeat(32)}  `, 'w'.repeat(32)],
    ['~!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}', '~!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}'],
    ['**', '**'],
    ['~Laptop', '~Laptop'],
    ['=id', '=id'],
    ['__proto__', '__proto__'],
    ['<script>', '<script>'],
  ])('to "%s" makes it "%s"', async (wanted, name) => {
    const [device] = await site.enrol('Laptop');
    expect((await rename(device, device, wanted)).body).toMatchObject({ device: { name } });
    expect(await namesOf(device)).toEqual([name]);
  });

  test.each([
    '',
    '   ',
    '*',
    ' * ',
    'x'.repeat(33),
    'Zoë',
    '手机',
    '📱',
    'a\tb',
    'a\nb',
    'a\u0000b',
    'a\u007fb',
    'a\u00a0b',
    '\u202eevil',
  ])('to %j is refused, and changes nothing', async (name) => {
    const [device] = await site.enrol('Laptop');
    const before = await picture(site.redis, site.prefix);
    expectProblem(await rename(device, device, name), 'invalid_device_name');
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  });

  test('to the name of another device is refused, and changes nothing', async () => {
    const [laptop] = await site.enrol('Laptop', 'Phone');
    const before = await picture(site.redis, site.prefix);
    for (const name of ['Phone', ' Phone ']) expectProblem(await rename(laptop, laptop, name), 'name_taken');
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  });

  test('to the name that it has is no change', async () => {
    const [device] = await site.enrol('Laptop');
    const version = (await device.on(site.one).call('getPresence')).body.version;
    expect((await rename(device, device, 'Laptop')).body).toMatchObject({ device: { name: 'Laptop' } });
    expect((await device.on(site.two).call('getPresence')).body.version).toBe(version);
  });

  test('of two devices to one name at once succeeds for one of them', async () => {
    const devices = await site.enrol('A', 'B', 'C', 'D');
    const wish = (device: TestDevice, i: number) =>
      request(i % 2 === 0 ? site.one : site.two, {
        ...{ method: 'PATCH', path: `/api/devices/${device.id}` },
        ...{ headers: device.headers, body: { name: 'Wanted' } },
      });
    const answers = await Promise.all(devices.map(wish));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect((await namesOf(devices[0])).filter((name) => name === 'Wanted')).toHaveLength(1);
  });

  test('of a device that does not exist is not found', async () => {
    const [device] = await site.enrol('Laptop');
    expectProblem(await rename(device, makeDevice({ user: device.user }), 'x'), 'not_found');
  });

  test('survives the requests of the device, which go on telling its old name', async () => {
    const [device] = await site.enrol('Laptop');
    await rename(device, device, 'Desk');
    const { body } = await request(site.two, { path: '/api/me', headers: device.headers });
    expect(body).toMatchObject({ device: { name: 'Desk' } });
  });
});

describe('the list', () => {
  test('has every device, oldest first, and marks the caller’s own', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const { devices } = (await phone.on(site.two).call('listDevices')).body;
    const entry = { type: 'linux', online: false, created_at: expect.any(Number), last_seen_at: null };
    expect(devices).toEqual([
      { ...entry, device_id: laptop.id, name: 'Laptop', current: false },
      { ...entry, device_id: phone.id, name: 'Phone', current: true },
    ]);
    expect(Math.abs((devices[0]?.created_at ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test('marks none for a caller without a device', async () => {
    const [laptop] = await site.enrol('Laptop');
    const { body } = await request(site.one, { path: '/api/devices', headers: { 'X-Dev-User': laptop.user } });
    expect(body).toMatchObject({ devices: [{ device_id: laptop.id, current: false }] });
  });

  test('of an account without devices is empty', async () => {
    const { body } = await request(site.one, { path: '/api/devices', headers: { 'X-Dev-User': utf8Header('neu-ü') } });
    expect(body).toEqual({ devices: [] });
  });
});
