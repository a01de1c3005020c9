import type { SendMessage } from '../../shared/contract/modules/messages.ts';
import { makeDevice, type TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { keysHolding, picture } from '../support/redis/stored.ts';
import type { Recorder } from '../support/stream-recorder.ts';
import { expectProblem, request } from '../support/wire.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const send = async (from: TestDevice, body: SendMessage) =>
  (await from.on(site.one).call('sendMessage', { body })).body;
const tryToSend = (from: TestDevice, body: unknown) =>
  request(site.one, { method: 'POST', path: '/api/message', headers: from.headers, body });
const mailOf = async (device: TestDevice) => (await device.on(site.two).call('listMessages')).body.messages;

async function open(device: TestDevice, replica = site.two): Promise<Recorder> {
  const stream = site.listen(device, replica);
  await stream.next('ready');
  return stream;
}

describe('a message', () => {
  test.each([
    ['by name', (to: TestDevice) => ({ to: to.name })],
    ['by id', (to: TestDevice) => ({ to_device_id: to.id })],
  ])('%s crosses to the other replica at once', async (_, target) => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = await open(phone);
    const accepted = await send(laptop, { ...target(phone), content: 'hello' });
    expect(accepted).toEqual({
      message_id: expect.stringMatching(UUID_V7),
      to: [{ device_id: phone.id, name: 'Phone', online: true, pushed: false }],
      created_at: expect.any(Number),
    });
    const event = await stream.next('message');
    expect(event.id).toMatch(/^\d+-\d+$/);
    expect(event.data).toEqual({
      message_id: accepted.message_id,
      from_device_id: laptop.id,
      from_name: 'Laptop',
      content: 'hello',
      created_at: accepted.created_at,
      redelivered: false,
    });
  });

  test('to one device is seen by no other, its sender included', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const bystanders = [await open(laptop, site.one), await open(tablet)];
    const stream = await open(phone);
    await send(laptop, { to: 'Phone', content: 'private' });
    await stream.next('message');
    for (const [device, bystander] of [
      [laptop, bystanders[0]],
      [tablet, bystanders[1]],
    ] as const) {
      await send(phone, { to_device_id: device.id, content: 'marker' });
      expect((await bystander?.next('message'))?.data.content).toBe('marker');
    }
    expect(await mailOf(tablet)).toHaveLength(1);
  });

  test('to a device without a stream is kept, and its sender is told that it is away', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const { to } = await send(laptop, { to: 'Phone', content: 'for later' });
    expect(to).toMatchObject([{ name: 'Phone', online: false }]);
    expect(await mailOf(phone)).toMatchObject([{ content: 'for later', redelivered: false }]);
  });

  test('to a device that has just gone says so, while presence still grants it its grace', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await (await open(phone)).stop();
    const isOnline = async () => (await send(laptop, { to: 'Phone', content: 'x' })).to[0]?.online;
    // The replica learns of the closed socket in its own time, well within the grace of 5 s.
    while (await isOnline()) expect((await laptop.on(site.one).call('getPresence')).body.devices[1]?.online).toBe(true);
    expect((await laptop.on(site.one).call('getPresence')).body.devices[1]?.online).toBe(true);
  });

  test('is found by a whole name, in whatever letters', async () => {
    const [laptop] = await site.enrol('Laptop', 'Phone');
    for (const to of ['phone', 'Phone ']) {
      expect((await send(laptop, { to, content: 'x' })).to).toMatchObject([{ name: 'Phone' }]);
    }
    for (const to of ['Phon', 'Phone 2', 'Pho ne'])
      expectProblem(await tryToSend(laptop, { to, content: 'x' }), 'not_found');
  });

  test('to nobody leaves nothing behind', async () => {
    const [laptop] = await site.enrol('Laptop');
    const before = await picture(site.redis, site.prefix);
    const nobody = makeDevice({ user: laptop.user });
    for (const target of [
      { to: 'Nobody' },
      { to_device_id: nobody.id },
      { to: '~Laptop' },
      { to: `=${laptop.id}` },
      { to: 'a\nb' },
      { to: '\ud800' },
    ]) {
      expectProblem(await tryToSend(laptop, { ...target, content: 'x' }), 'not_found');
    }
    expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  });

  test.each([
    ['both', { to: 'Phone', to_device_id: 'phone-0001' }],
    ['neither', {}],
  ])('with %s of its two kinds of target is refused, and both fields are named', async (_, target) => {
    const [laptop] = await site.enrol('Laptop');
    const { errors } = expectProblem(await tryToSend(laptop, { ...target, content: 'x' }), 'invalid_request');
    expect(errors?.map(({ path }) => path)).toEqual(['/body/to', '/body/to_device_id']);
  });

  test('keeps its text in one place until it is acknowledged, and then nowhere', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const text = `once-and-only-${laptop.user}`;
    const { message_id: id } = await send(laptop, { to: '*', content: text });
    expect(await keysHolding(site.redis, site.prefix, text)).toEqual([`${site.prefix}:{${laptop.user}}:mail`]);
    for (const device of [phone, tablet])
      await device.on(site.two).call('ackMessages', { body: { message_ids: [id] } });
    expect(await keysHolding(site.redis, site.prefix, text)).toEqual([]);
  });
});

describe('the text of a message', () => {
  const SIZES: [string, string, number][] = [
    ['4,096 letters', 'x'.repeat(4_096), 201],
    ['4,097 letters', 'x'.repeat(4_097), 413],
    ['2,048 letters of two bytes', 'é'.repeat(2_048), 201],
    ['2,048 letters of two bytes and one more', `${'é'.repeat(2_048)}x`, 413],
    ['1,024 emoji of four bytes', '😀'.repeat(1_024), 201],
    ['1,024 emoji and one more byte', `${'😀'.repeat(1_024)}x`, 413],
    ['4,096 control characters, which JSON writes six times as long', '\u0001'.repeat(4_096), 201],
    ['a single letter', 'x', 201],
    ['4,095 spaces around a letter', `${' '.repeat(4_000)}x${' '.repeat(95)}`, 201],
    ['4,096 spaces around a letter', `${' '.repeat(4_000)}x${' '.repeat(96)}`, 413],
  ];

  test.each(SIZES)('counts in bytes: %s', async (_, content, status) => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const answer = await tryToSend(laptop, { to: 'Phone', content });
    if (status === 201) expect(answer.status).toBe(201);
    else expect(expectProblem(answer, 'message_too_large').detail).toMatch(/4096 bytes.*file/);
    expect((await mailOf(phone)).map((message) => message.content)).toEqual(status === 201 ? [content] : []);
  });

  test.each(['', ' ', '     ', '\n', '\t\r\n ', '\u00a0\u3000', ' '.repeat(5_000)])(
    'is not empty after trimming: %j',
    async (content) => {
      const [laptop, phone] = await site.enrol('Laptop', 'Phone');
      const before = await picture(site.redis, site.prefix);
      expectProblem(await tryToSend(laptop, { to: 'Phone', content }), 'empty_message');
      expect(await picture(site.redis, site.prefix, before)).toEqual(before);
      expect(await mailOf(phone)).toEqual([]);
    },
  );

  test.each([
    '  spaces around it  ',
    'lines\nof\r\ntext\tand tabs\r',
    'quotes " and \' and \\ and / and \\n and \\u0041',
    '\u0000\u0001\u001f\u007f\u0085',
    '\u2028\u2029\ufeff\u202e\u200b',
    'broken \ud800 surrogates \udc00',
    '</script><!-- "redelivered":true} --',
    '{"message_id":"evil","content":"x"}',
    '你好, мир, 😀👩‍👩‍👧‍👦',
    '%s %d %%',
  ])('arrives as it was sent, live, listed and sent again: %j', async (content) => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = await open(phone);
    await send(laptop, { to: 'Phone', content });
    expect((await stream.next('message')).data.content).toBe(content);
    expect((await mailOf(phone)).map((message) => message.content)).toEqual([content]);
    const again = site.listen(phone, site.one);
    expect((await again.next('message')).data).toMatchObject({ content, redelivered: true });
  });
});

describe('a message to all', () => {
  test('reaches every other device, on both replicas and away, and not its sender', async () => {
    const [laptop, phone, tablet, watch] = await site.enrol('Laptop', 'Phone', 'Tablet', 'Watch');
    const own = await open(laptop, site.one);
    const streams = [await open(phone, site.one), await open(tablet, site.two)];
    const accepted = await send(laptop, { to: '*', content: 'to all' });
    const online = new Map(accepted.to.map((target) => [target.device_id, target.online]));
    expect(online).toEqual(
      new Map([
        [phone.id, true],
        [tablet.id, true],
        [watch.id, false],
      ]),
    );
    for (const stream of streams) expect((await stream.next('message')).data.message_id).toBe(accepted.message_id);
    expect(await mailOf(watch)).toMatchObject([{ message_id: accepted.message_id, content: 'to all' }]);
    await send(phone, { to: 'Laptop', content: 'marker' });
    expect((await own.next('message')).data.content).toBe('marker');
  });

  test('from a caller without a device reaches every device', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const headers = { 'X-Dev-User': laptop.user };
    const answer = await request(site.one, {
      method: 'POST',
      path: '/api/message',
      headers,
      body: { to: '*', content: 'x' },
    });
    expect(answer.status).toBe(201);
    for (const device of [laptop, phone]) expect(await mailOf(device)).toHaveLength(1);
  });

  test('leaves the mailboxes of the others when one device has acknowledged it', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const { message_id: id } = await send(laptop, { to: '*', content: 'x' });
    await phone.on(site.two).call('ackMessages', { body: { message_ids: [id] } });
    expect(await mailOf(phone)).toEqual([]);
    expect(await mailOf(tablet)).toMatchObject([{ message_id: id, content: 'x' }]);
  });
});

describe('a sender without a device', () => {
  test('is known by the name of its user', async () => {
    const [phone] = await site.enrol('Phone');
    const stream = await open(phone);
    const headers = { 'X-Dev-User': phone.user };
    await request(site.one, { method: 'POST', path: '/api/message', headers, body: { to: 'Phone', content: 'x' } });
    expect((await stream.next('message')).data).toMatchObject({ from_device_id: null, from_name: phone.user });
  });
});

describe('a stream without a device', () => {
  test('gets messages to its name while it is open, on all its streams', async () => {
    const [laptop] = await site.enrol('Laptop');
    const kiosks = [site.listenAs('Kiosk', laptop.user, site.one), site.listenAs('Kiosk', laptop.user, site.two)];
    await Promise.all(kiosks.map((stream) => stream.next('ready')));
    const accepted = await send(laptop, { to: 'Kiosk', content: 'hello kiosk' });
    expect(accepted.to).toEqual([{ device_id: null, name: 'Kiosk', online: true, pushed: false }]);
    for (const stream of kiosks) {
      const { data, id } = await stream.next('message');
      expect(data).toMatchObject({ message_id: accepted.message_id, content: 'hello kiosk', redelivered: false });
      expect(id).toMatch(/^\d+-\d+$/);
    }
  });

  test('has no mailbox: once it is closed there is nobody of that name', async () => {
    const [laptop] = await site.enrol('Laptop');
    const kiosk = site.listenAs('Kiosk', laptop.user, site.two);
    await kiosk.next('ready');
    await kiosk.stop();
    // This repeats until the replica has noticed. The name is then as unknown as before.
    let answer = await tryToSend(laptop, { to: 'Kiosk', content: 'x' });
    while (answer.status === 201) answer = await tryToSend(laptop, { to: 'Kiosk', content: 'x' });
    expectProblem(answer, 'not_found');
  });

  test('is not told what is sent to others', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const kiosk = site.listenAs('Kiosk', laptop.user, site.two);
    await kiosk.next('ready');
    await send(laptop, { to: 'Phone', content: 'not for the kiosk' });
    await send(phone, { to: 'Kiosk', content: 'marker' });
    expect((await kiosk.next('message')).data.content).toBe('marker');
  });
});
