import { makeDevice, type TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import type { Recorder } from '../support/stream-recorder.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const rename = (caller: TestDevice, target: TestDevice, name: string) =>
  caller.on(site.one).call('renameDevice', { params: { device_id: target.id }, body: { name } });

const namesIn = (stream: Recorder): string[] =>
  stream.events.map(({ name }) => name).filter((name) => name.startsWith('device:'));

/** Waits until a message has come to the device. Everything that was announced before it has come by then, too. */
async function settle(device: TestDevice, stream: Recorder): Promise<void> {
  const { body } = await device
    .on(site.one)
    .call('sendMessage', { body: { to_device_id: device.id, content: 'marker' } });
  await stream.next('message', ({ data }) => data.message_id === body.message_id);
}

describe('a device that joins', () => {
  test('is announced to the others, on both replicas', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const streams = [site.listen(laptop, site.one), site.listen(phone, site.two)];
    await Promise.all(streams.map((stream) => stream.next('ready')));
    const tablet = makeDevice({ user: laptop.user, name: 'Tablet', type: 'ios' });
    await tablet.on(site.two).call('getMe');
    for (const stream of streams) {
      const added = await stream.next('device:added');
      expect(added.data).toEqual({ device: { device_id: tablet.id, name: 'Tablet', type: 'ios' } });
      expect(added.id).toMatch(/^\d+-\d+$/);
    }
  });

  test('is announced with the name that it was given, not the one it asked for', async () => {
    const [laptop] = await site.enrol('Laptop');
    const stream = site.listen(laptop, site.one);
    await stream.next('ready');
    await makeDevice({ user: laptop.user, name: 'Laptop' }).on(site.two).call('getMe');
    expect((await stream.next('device:added')).data.device.name).toBe('Laptop 2');
  });

  test('is not announced to itself, not even when it catches up from before', async () => {
    const [laptop] = await site.enrol('Laptop');
    const watcher = site.listen(laptop, site.one);
    const { id: before } = await watcher.next('ready');
    const phone = makeDevice({ user: laptop.user, name: 'Phone' });
    await phone.on(site.one).call('getMe');
    await watcher.next('device:added');
    const own = site.listen(phone, site.two, before as string);
    expect((await own.next('ready')).data.resumed).toBe(true);
    await settle(phone, own);
    expect(namesIn(own)).toEqual([]);
  });

  test('changes the presence that the others see', async () => {
    const [laptop] = await site.enrol('Laptop');
    const stream = site.listen(laptop, site.one);
    const { data } = await stream.next('ready');
    await makeDevice({ user: laptop.user, name: 'Phone' }).on(site.two).call('getMe');
    const presence = await stream.next('presence', (event) => event.data.devices.length === 2);
    expect(presence.data.version).toBeGreaterThan(data.presence.version);
    expect(presence.data.devices[1]).toMatchObject({ name: 'Phone', online: false });
  });

  test('is not announced as new when the store had lost its row and it comes back', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(laptop, site.one);
    await stream.next('ready');
    await site.redis.hdel(`${site.prefix}:{${laptop.user}}:devices`, phone.id);
    expect((await phone.on(site.one).call('listMessages')).status).toBe(200);
    expect((await laptop.on(site.two).call('listDevices')).body.devices.map(({ name }) => name)).toContain('Phone');
    await settle(laptop, stream);
    expect(namesIn(stream)).toEqual([]);
  });

  test('is announced once, however often it asks afterwards', async () => {
    const [laptop] = await site.enrol('Laptop');
    const stream = site.listen(laptop, site.one);
    await stream.next('ready');
    const phone = makeDevice({ user: laptop.user, name: 'Phone' });
    for (const replica of [site.one, site.two, site.one]) await phone.on(replica).call('listDevices');
    await settle(laptop, stream);
    expect(namesIn(stream)).toEqual(['device:added']);
  });
});

describe('a rename', () => {
  test('is told to every device, the renamed one included, with the new presence', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const streams = [site.listen(laptop, site.one), site.listen(phone, site.two)];
    const versions = await Promise.all(
      streams.map(async (stream) => (await stream.next('ready')).data.presence.version),
    );
    await rename(laptop, phone, 'Old phone');
    for (const stream of streams) {
      const renamed = await stream.next('device:renamed');
      expect(renamed.data).toEqual({ device: { device_id: phone.id, name: 'Old phone', type: 'linux' } });
      expect(renamed.id).toMatch(/^\d+-\d+$/);
      const presence = await stream.next('presence', ({ data }) => data.devices[1]?.name === 'Old phone');
      expect(presence.data.version).toBeGreaterThan(Math.min(...versions));
      expect(presence.data.devices[1]).toMatchObject({ device_id: phone.id, online: true });
    }
  });

  test('interrupts no stream', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const [own, other] = [site.listen(laptop, site.one), site.listen(phone, site.two)];
    await Promise.all([own, other].map((stream) => stream.next('ready')));
    await rename(laptop, laptop, 'Desk');
    await settle(laptop, own);
    await settle(phone, other);
    for (const stream of [own, other]) {
      expect(stream.states.map(({ state }) => state)).toEqual(['connecting', 'open']);
      expect(stream.events.filter(({ name }) => name === 'ready')).toHaveLength(1);
    }
  });

  test('to the same name is told to nobody', async () => {
    const [laptop] = await site.enrol('Laptop');
    const stream = site.listen(laptop, site.two);
    await stream.next('ready');
    await rename(laptop, laptop, 'Laptop');
    await settle(laptop, stream);
    expect(namesIn(stream)).toEqual([]);
  });

  test('reaches a device that was away, when it comes back', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const first = site.listen(phone, site.two);
    const { id } = await first.next('ready');
    await first.stop();
    await rename(laptop, laptop, 'Desk');
    const again = site.listen(phone, site.one, id as string);
    expect((await again.next('ready')).data.presence.devices[0]?.name).toBe('Desk');
    expect((await again.next('device:renamed')).data.device.name).toBe('Desk');
  });

  test('is the name under which the device now writes and is written to', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    await rename(laptop, laptop, 'Desk');
    await laptop.on(site.one).call('sendMessage', { body: { to: 'Phone', content: 'from the desk' } });
    expect((await stream.next('message')).data.from_name).toBe('Desk');
    const entry = await laptop
      .on(site.two)
      .call('setClipboard', { body: { content: 'x', content_type: 'text/plain' } });
    expect(entry.body.source_device_name).toBe('Desk');
    const { body } = await phone.on(site.two).call('sendMessage', { body: { to: 'Desk', content: 'to the desk' } });
    expect(body.to).toMatchObject([{ device_id: laptop.id, name: 'Desk' }]);
    await expect(
      phone.on(site.one).call('sendMessage', { body: { to: 'Laptop', content: 'x' } }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});
