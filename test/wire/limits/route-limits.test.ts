import { makeDevice, randomUser } from '../../support/device.ts';
import { type Site, startSite } from '../../support/site.ts';
import { expectProblem, request, type WireAnswer } from '../../support/wire.ts';

/* Limits are at a tenth: an account has 3 renames and 6 removals of a device a minute. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '0.1' });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

test('renames of an account are counted on both replicas together, whichever device asks and whatever comes of it', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const rename = (device: typeof laptop, replica: { url: string }, name: string) =>
    request(replica, { method: 'PATCH', path: `/api/devices/${device.id}`, headers: device.headers, body: { name } });
  const answers = [
    await rename(laptop, site.one, 'First'),
    await rename(phone, site.two, 'First'),
    await rename(phone, site.two, 'Second'),
    await rename(laptop, site.two, 'Third'),
    await rename(phone, site.one, 'Fourth'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 409, 200, 429, 429]);
  const refused = answers[3] as WireAnswer;
  expectProblem(refused, 'rate_limited');
  expect(refused.headers['ratelimit-policy']).toBe('"rename"; q=3; w=60');
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  const { devices } = (await laptop.on(site.one).call('listDevices')).body;
  expect(devices.map(({ name }) => name).sort()).toEqual(['First', 'Second']);
});

test('a device that renames as often as it can does not empty the log of its account', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const stream = site.listen(phone, site.one);
  const { id } = await stream.next('ready');
  await site.closeStreams();
  await phone.on(site.two).call('sendMessage', { body: { to: 'Phone', content: 'missed' } });
  const renames = Array.from({ length: 300 }, (_, i) => {
    const body = { name: `Laptop ${i}` };
    return request(site.two, { method: 'PATCH', path: `/api/devices/${laptop.id}`, headers: laptop.headers, body });
  });
  const statuses = (await Promise.all(renames)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(3);
  const resumed = site.listen(phone, site.two, id ?? '');
  expect((await resumed.next('ready')).data).toMatchObject({ resumed: true });
});

test('removals of a device are limited, and what was not refused had its effect', async () => {
  const device = makeDevice({ user: randomUser() });
  const remove = (i: number) =>
    request(site.one, { method: 'DELETE', path: `/api/devices/nobodys-device-${i}`, headers: device.headers });
  const statuses: number[] = [];
  for (let i = 0; i < 8; i++) statuses.push((await remove(i)).status);
  expect(statuses).toEqual([204, 204, 204, 204, 204, 204, 429, 429]);
});
