import { randomBytes } from 'node:crypto';
import { makeDevice } from '../support/device.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { type PushSite, startPushSite, tell } from './scene.ts';

let push: PushSite;
beforeAll(async () => {
  push = await startPushSite();
});
afterEach(() => push.site.closeStreams());
afterAll(() => push.stop());

describe('a device without a stream', () => {
  test('is woken at once by one push that says how many and which, and no text', async () => {
    const { site, service } = push;
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const subscription = await push.subscribe(phone);
    const sentAt = Date.now();
    const accepted = await tell(laptop, phone, site.two);
    expect(accepted.to).toEqual([{ device_id: phone.id, name: 'Phone', online: false, pushed: true }]);
    const [got, ...more] = await service.received(1, subscription);
    expect(more).toEqual([]);
    expect(got?.payload).toEqual({ v: 1, type: 'message', count: 1, id: accepted.message_id });
    // It waits neither as for a device with a stream, nor for the next search for due pushes.
    expect((got?.atMs ?? 0) - sentAt).toBeLessThan(8_000);
    expect(got).toMatchObject({ urgency: 'high', topic: expect.stringMatching(/^[\w-]{32}$/) });
    expect(got?.ttl).toBeGreaterThan(86_000);
    expect(got?.ttl).toBeLessThanOrEqual(86_400);
  });

  test('sees what one sender sends collapse into one notification, and counted', async () => {
    const { site, service } = push;
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const subscription = await push.subscribe(phone);
    await tell(laptop, phone, site.one);
    await service.received(1, subscription);
    const second = await tell(laptop, phone, site.two);
    await service.received(2, subscription);
    await tell(tablet, phone, site.one);
    await service.received(3, subscription);
    const payloads = service.held(subscription).map(({ payload }) => payload);
    expect(payloads).toHaveLength(2);
    expect(payloads).toContainEqual({ v: 1, type: 'message', count: 2, id: second.message_id });
    expect(payloads).toContainEqual(expect.objectContaining({ type: 'message', count: 1 }));
  });

  test('is woken for an offer of files, and told how many wait', async () => {
    const { site, service } = push;
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const subscription = await push.subscribe(phone);
    const offer = (client = laptop.on(site.one)) =>
      client.call('initTransfer', { body: { to_device_id: phone.id, files: [{ name: 'a.txt', size: 1 }] } });
    const { transfer } = (await offer()).body;
    const [got] = await service.received(1, subscription);
    expect(got?.payload).toEqual({ v: 1, type: 'transfer', count: 1, id: transfer.transfer_id });
    expect(got?.ttl).toBeLessThanOrEqual(3_600);
    await offer();
    const [, second] = await service.received(2, subscription);
    expect(second).toMatchObject({ payload: { count: 2 }, topic: got?.topic });
  });

  test('is told when another device joins the account', async () => {
    const { site, service } = push;
    const [laptop] = await site.enrol('Laptop');
    const subscription = await push.subscribe(laptop);
    const phone = makeDevice({ user: laptop.user, name: 'Phone' });
    await phone.on(site.two).call('getMe');
    const [got] = await service.received(1, subscription);
    expect(got?.payload).toEqual({ v: 1, type: 'device', count: 1, id: phone.id });
  });

  test('gets a test notification when it asks for one', async () => {
    const { site, service } = push;
    const [laptop] = await site.enrol('Laptop');
    const subscription = await push.subscribe(laptop);
    expect((await laptop.on(site.two).call('testPush')).status).toBe(202);
    const [got] = await service.received(1, subscription);
    expect(got?.payload).toEqual({ v: 1, type: 'test', count: 1, id: expect.any(String) });
  });

  test.each([
    ['sender', { from: 'Laptop' }],
    ['full', { from: 'Laptop', text: 'the secret text' }],
  ] as const)('reads more only where it asked for it: %s', async (preview, more) => {
    const { site, service } = push;
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const subscription = await push.subscribe(phone, { preview });
    const { message_id: id } = await tell(laptop, phone, site.one);
    const [got] = await service.received(1, subscription);
    expect(got?.payload).toEqual({ v: 1, type: 'message', count: 1, id, ...more });
    const holding = await keysHolding(site.redis, site.prefix, 'the secret text');
    expect(holding.filter((key) => !key.endsWith(':mail'))).toEqual([]);
  });

  test('reads of a sealed message its id alone, whatever it asked for', async () => {
    const { site, service } = push;
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const subscription = await push.subscribe(phone, { preview: 'full' });
    const sealed = Buffer.concat([Buffer.of(1, 0, 0, 0, 1), randomBytes(60)]).toString('base64url');
    const sent = await laptop.on(site.one).call('sendMessage', { body: { to_device_id: phone.id, sealed } });
    const [got] = await service.received(1, subscription);
    expect(got?.payload).toEqual({ v: 1, type: 'message', count: 1, id: sent.body.message_id });
  });

  test.each(['none', 'sender', 'full'] as const)(
    'reads who offers files, or has joined, where it asked: %s',
    async (preview) => {
      const { site, service } = push;
      const [laptop, phone] = await site.enrol('Laptop "A\\B/"', 'Phone');
      const subscription = await push.subscribe(phone, { preview });
      const body = { to: 'Phone', files: [{ name: 'a.txt', size: 1 }] };
      const { transfer } = (await laptop.on(site.two).call('initTransfer', { body })).body;
      await service.received(1, subscription);
      const tablet = makeDevice({ user: laptop.user, name: 'Tablet' });
      await tablet.on(site.two).call('getMe');
      const [offered, joined] = await service.received(2, subscription);
      const from = (name: string) => (preview === 'none' ? {} : { from: name });
      const offer = { v: 1, type: 'transfer', count: 1, id: transfer.transfer_id };
      expect(offered?.payload).toEqual({ ...offer, ...from('Laptop "A\\B/"') });
      expect(joined?.payload).toEqual({ v: 1, type: 'device', count: 1, id: tablet.id, ...from('Tablet') });
    },
  );
});

describe('a device with a live stream', () => {
  test('is woken after 15 s by what it did not acknowledge, and by an offer only once its stream is over', async () => {
    const { site, service } = push;
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const [silent, quick] = [await push.subscribe(phone), await push.subscribe(tablet)];
    const streams = [phone, tablet].map((device) => site.listen(device, site.two));
    for (const stream of streams) await stream.next('ready');
    const sentAt = Date.now();
    const { message_id: id, to } = await tell(laptop, phone, site.one);
    expect(to).toMatchObject([{ online: true, pushed: false }]);
    const acked = await tell(laptop, tablet, site.one);
    await tablet.on(site.one).call('ackMessages', { body: { message_ids: [acked.message_id] } });
    const body = { to_device_id: tablet.id, files: [{ name: 'a.txt', size: 1 }] };
    const { transfer } = (await laptop.on(site.one).call('initTransfer', { body })).body;
    const [got] = await service.received(1, silent);
    expect(got?.payload).toEqual({ v: 1, type: 'message', count: 1, id });
    expect((got?.atMs ?? 0) - sentAt).toBeGreaterThanOrEqual(15_000);
    expect((got?.atMs ?? 0) - sentAt).toBeLessThan(25_000);
    // All became due together, and nothing was sent to the other one, until its stream ends.
    expect(service.pushes.filter(({ subscriptionId }) => subscriptionId === quick.id)).toEqual([]);
    await streams[1]?.stop();
    const [offered] = await service.received(1, quick);
    expect(offered?.payload).toEqual({ v: 1, type: 'transfer', count: 1, id: transfer.transfer_id });
  });
});

test('the push service had nothing to complain of', () => {
  expect(push.service.complaints).toEqual([]);
});
