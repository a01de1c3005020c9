import { v7 as uuidv7 } from 'uuid';
import type { TestDevice } from '../support/device.ts';
import { ageMail, mailBytes, setMailBytes } from '../support/mailbox.ts';
import { type Site, startSite } from '../support/site.ts';
import { keysHolding } from '../support/redis/stored.ts';
import type { Recorder } from '../support/stream-recorder.ts';
import { expectProblem, request } from '../support/wire.ts';

const DAY_MS = 86_400_000;
const ACCOUNT_BYTES = 8 * 1024 * 1024;

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const send = async (from: TestDevice, to: TestDevice | '*', content: string): Promise<string> => {
  const target = to === '*' ? { to } : { to_device_id: to.id };
  return (await from.on(site.one).call('sendMessage', { body: { ...target, content } })).body.message_id;
};
const tryToSend = (from: TestDevice, to: string, content: string) =>
  request(site.two, { method: 'POST', path: '/api/message', headers: from.headers, body: { to, content } });
const ack = async (device: TestDevice, ids: string[]): Promise<number> =>
  (await device.on(site.two).call('ackMessages', { body: { message_ids: ids } })).body.acked;
const textsOf = async (device: TestDevice): Promise<string[]> =>
  (await device.on(site.two).call('listMessages')).body.messages.map(({ content }) => content);
const mailOf = (device: TestDevice) => ({ redis: site.redis, account: `${site.prefix}:{${device.user}}` });

/** Waits for a marker message. Resolves to the texts of all messages before it. */
async function textsUntilMarker(from: TestDevice, to: TestDevice, stream: Recorder): Promise<string[]> {
  const marker = await send(from, to, 'marker');
  await stream.next('message', ({ data }) => data.message_id === marker);
  return stream.events.flatMap((event) =>
    event.name === 'message' && event.data.content !== 'marker' ? [event.data.content] : [],
  );
}

test('a place in the mailbox whose text has expired is not counted, and goes with the next look', async () => {
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const { redis, account } = mailOf(phone);
  await send(laptop, phone, 'there');
  await redis.zadd(`${account}:inbox`, 0, `${phone.id}:${Date.now() - 8 * DAY_MS}-1:${uuidv7()}`);
  const stream = site.listen(phone, site.one);
  expect((await stream.next('ready')).data.pending.messages).toBe(1);
  const places = () => redis.zlexcount(`${account}:inbox`, `[${phone.id}:`, `(${phone.id};`);
  expect(await places()).toBe(1);

  await redis.del(`${account}:mail`);
  await laptop.on(site.one).call('removeDevice', { params: { device_id: phone.id } });
  expect(await places()).toBe(0);
});

describe('the list of unread messages', () => {
  test('has the oldest first, whoever sent them and through whichever replica', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    for (const [from, replica, content] of [
      [laptop, site.one, '1'],
      [phone, site.two, '2'],
      [laptop, site.two, '3'],
      [phone, site.one, '4'],
    ] as const) {
      await from.on(replica).call('sendMessage', { body: { to: 'Tablet', content } });
    }
    expect(await textsOf(tablet)).toEqual(['1', '2', '3', '4']);
  });

  test('tells everything that the event told', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(phone, site.one);
    await stream.next('ready');
    await send(laptop, phone, 'hello');
    const { data } = await stream.next('message');
    expect((await phone.on(site.two).call('listMessages')).body.messages).toEqual([data]);
  });

  test('of 100 long messages, more than one page, is complete and in order', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const texts = Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(4_000)}`);
    for (const text of texts) await send(laptop, phone, text);
    expect(await textsOf(phone)).toEqual(texts);
    const stream = site.listen(phone, site.two);
    await stream.next('message', ({ data }) => data.content === texts[99]);
    expect(stream.events.flatMap((event) => (event.name === 'message' ? [event.data.content] : []))).toEqual(texts);
  });
});

describe('an acknowledgement', () => {
  test('takes the message away and tells its sender, who is on the other replica', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const sender = site.listen(laptop, site.one);
    const bystander = site.listen(tablet, site.one);
    await Promise.all([sender.next('ready'), bystander.next('ready')]);
    const [first, second, third] = [
      await send(laptop, phone, '1'),
      await send(laptop, phone, '2'),
      await send(laptop, phone, '3'),
    ];
    expect(await ack(phone, [third, first])).toBe(2);
    const { id, data } = await sender.next('message:delivered');
    expect(id).toMatch(/^\d+-\d+$/);
    expect(data).toEqual({
      message_ids: [third, first],
      by_device_id: phone.id,
      by_name: 'Phone',
      at: expect.any(Number),
    });
    expect(Math.abs(data.at - Date.now())).toBeLessThan(10_000);
    expect(await textsOf(phone)).toEqual(['2']);
    expect(await ack(phone, [second])).toBe(1);
    expect((await sender.next('message:delivered')).data.message_ids).toEqual([second]);
    await textsUntilMarker(laptop, tablet, bystander);
    expect(bystander.events.some(({ name }) => name === 'message:delivered')).toBe(false);
  });

  test('that is repeated counts nothing and is told to nobody', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const sender = site.listen(laptop, site.two);
    await sender.next('ready');
    const id = await send(laptop, phone, 'x');
    expect([await ack(phone, [id]), await ack(phone, [id]), await ack(phone, [id, id])]).toEqual([1, 0, 0]);
    await textsUntilMarker(phone, laptop, sender);
    expect(sender.events.filter(({ name }) => name === 'message:delivered')).toHaveLength(1);
  });

  test('counts each message once, and neither unknown ones nor those of others', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const [mine, others] = [await send(laptop, phone, 'mine'), await send(laptop, tablet, 'not mine')];
    expect(await ack(phone, [mine, mine, uuidv7(), others])).toBe(1);
    expect(await textsOf(tablet)).toEqual(['not mine']);
  });

  test('of messages of several senders tells each of its own', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const streams = [site.listen(laptop, site.one), site.listen(phone, site.two)];
    await Promise.all(streams.map((stream) => stream.next('ready')));
    const ids = [await send(laptop, tablet, '1'), await send(phone, tablet, '2'), await send(laptop, tablet, '3')];
    expect(await ack(tablet, ids)).toBe(3);
    const [toLaptop, toPhone] = await Promise.all(streams.map((stream) => stream.next('message:delivered')));
    expect(toLaptop?.data.message_ids).toEqual([ids[0], ids[2]]);
    expect(toPhone?.data.message_ids).toEqual([ids[1]]);
  });

  test('of a message to all is told for each device that has it', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const sender = site.listen(laptop, site.one);
    await sender.next('ready');
    const id = await send(laptop, '*', 'x');
    for (const device of [phone, tablet]) expect(await ack(device, [id])).toBe(1);
    const told = [await sender.next('message:delivered'), await sender.next('message:delivered')];
    expect(told.map(({ data }) => data.by_name)).toEqual(['Phone', 'Tablet']);
    expect(told.map(({ data }) => data.message_ids)).toEqual([[id], [id]]);
  });

  test('of a message that a device sent to itself is told to it', async () => {
    const [laptop] = await site.enrol('Laptop');
    const stream = site.listen(laptop, site.two);
    await stream.next('ready');
    const id = await send(laptop, laptop, 'x');
    expect(await ack(laptop, [id])).toBe(1);
    expect((await stream.next('message:delivered')).data.message_ids).toEqual([id]);
  });

  test('reaches a sender that was away when it comes back', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const before = site.listen(laptop, site.one);
    const { id: position } = await before.next('ready');
    await before.stop();
    const id = await send(laptop, phone, 'x');
    await ack(phone, [id]);
    const { data } = await site.listen(laptop, site.two, position as string).next('message:delivered');
    expect(data.message_ids).toEqual([id]);
  });

  test('of a message without a sender device is told to nobody', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(laptop, site.one);
    await stream.next('ready');
    const headers = { 'X-Dev-User': laptop.user };
    const { body } = await request(site.one, {
      method: 'POST',
      path: '/api/message',
      headers,
      body: { to: 'Phone', content: 'x' },
    });
    expect(await ack(phone, [(body as { message_id: string }).message_id])).toBe(1);
    await textsUntilMarker(phone, laptop, stream);
    expect(stream.events.some(({ name }) => name === 'message:delivered')).toBe(false);
  });

  test('takes at most 100 ids', async () => {
    const [, phone] = await site.enrol('Laptop', 'Phone');
    const ids = Array.from({ length: 101 }, () => uuidv7());
    const path = '/api/message/ack';
    for (const message_ids of [ids, ['not-a-uuid'], [ids[0]?.toUpperCase()]]) {
      expectProblem(
        await request(site.one, { method: 'POST', path, headers: phone.headers, body: { message_ids } }),
        'invalid_request',
      );
    }
    expect(await ack(phone, ids.slice(1))).toBe(0);
    expect(await ack(phone, [])).toBe(0);
  });
});

describe('an unread message', () => {
  // Proves G3.
  test('comes again after each ready, marked, without id, oldest first, until it is acknowledged', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const ids = [await send(laptop, phone, '1'), await send(laptop, phone, '2')];
    for (const replica of [site.one, site.two]) {
      const stream = site.listen(phone, replica);
      const events = [await stream.next('ready'), await stream.next('message'), await stream.next('message')];
      expect(stream.events.slice(0, 3)).toEqual(events);
      expect(events.slice(1)).toMatchObject(
        ['1', '2'].map((content, i) => ({ id: null, data: { message_id: ids[i], content, redelivered: true } })),
      );
      await stream.stop();
    }
    await ack(phone, ids);
    const last = site.listen(phone, site.one);
    expect((await last.next('ready')).data.pending.messages).toBe(0);
    expect(await textsUntilMarker(laptop, phone, last)).toEqual([]);
  });

  // Proves G2.
  test('that was among the missed events does not come a second time', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await send(laptop, phone, 'before');
    const first = site.listen(phone, site.one);
    const { id: position } = await first.next('ready');
    await first.stop();
    await send(laptop, phone, 'missed');
    const stream = site.listen(phone, site.two, position as string);
    expect((await stream.next('ready')).data).toMatchObject({ resumed: true, pending: { messages: 2 } });
    expect(await textsUntilMarker(laptop, phone, stream)).toEqual(['missed', 'before']);
    const messages = stream.events.flatMap((event) => (event.name === 'message' ? [event] : []));
    expect(messages.slice(0, 2)).toMatchObject([
      { id: expect.any(String), data: { content: 'missed', redelivered: false } },
      { id: null, data: { content: 'before', redelivered: true } },
    ]);
  });

  test('that was acknowledged while its device was away is not among the missed events', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const first = site.listen(phone, site.one);
    const { id: position } = await first.next('ready');
    await first.stop();
    await ack(phone, [await send(laptop, phone, 'read elsewhere')]);
    const stream = site.listen(phone, site.two, position as string);
    await stream.next('ready');
    expect(await textsUntilMarker(laptop, phone, stream)).toEqual([]);
  });

  test.each([1, 60])(
    'of the last seven days is kept and an older one is gone, also when there are many: %d',
    async (count) => {
      const [laptop, phone] = await site.enrol('Laptop', 'Phone');
      for (let i = 0; i < count; i++) await send(laptop, phone, 'eight days old');
      await ageMail(mailOf(phone), 2 * DAY_MS);
      await send(laptop, phone, 'six days old');
      await ageMail(mailOf(phone), 6 * DAY_MS);
      await send(laptop, phone, 'new');
      expect(await textsOf(phone)).toEqual(['six days old', 'new']);
      const stream = site.listen(phone, site.one);
      expect((await stream.next('ready')).data.pending.messages).toBe(2);
      expect(await textsUntilMarker(laptop, phone, stream)).toEqual(['six days old', 'new']);
      expect(await keysHolding(site.redis, mailOf(phone).account, 'eight days old')).toEqual([]);
    },
  );

  // Proves G3.
  test('that is too old is not counted as pending, nor sent, when its device comes back at last', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    for (let i = 0; i < 30; i++) await send(laptop, phone, 'eight days old');
    await ageMail(mailOf(phone), 8 * DAY_MS);
    const stream = site.listen(phone, site.one);
    expect((await stream.next('ready')).data.pending.messages).toBe(0);
    expect(await textsUntilMarker(laptop, phone, stream)).toEqual([]);
  });
});

describe('a mailbox', () => {
  test('with 500 messages is full: to its device 409, to all it is reported and skipped, and reading makes room', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const ids: string[] = [];
    for (let i = 0; i < 10; i++)
      ids.push(...(await Promise.all(Array.from({ length: 50 }, (_, j) => send(laptop, phone, `${i}-${j}`)))));
    const answer = await tryToSend(laptop, 'Phone', 'one too many');
    expect(answer.headers['retry-after']).toBeUndefined();
    expectProblem(answer, 'mailbox_full');

    const toAll = await laptop.on(site.one).call('sendMessage', { body: { to: '*', content: 'to all' } });
    const refused = new Map(toAll.body.to.map(({ name, error }) => [name, error]));
    expect(refused).toEqual(
      new Map([
        ['Phone', 'mailbox_full'],
        ['Tablet', undefined],
      ]),
    );
    expect(await textsOf(tablet)).toEqual(['to all']);

    await ack(phone, ids.slice(0, 1));
    expect((await tryToSend(laptop, 'Phone', 'the five hundredth')).status).toBe(201);
    const texts = await textsOf(phone);
    expect(texts).toHaveLength(500);
    expect(texts).toEqual(expect.not.arrayContaining(['one too many', 'to all']));
  });

  // Proves G31.
  test('shares 8 MiB with the others of its account', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    await send(laptop, tablet, 'x');
    await setMailBytes(mailOf(laptop), ACCOUNT_BYTES - 4_096);
    expect((await tryToSend(laptop, 'Phone', 'x'.repeat(4_096))).status).toBe(201);
    expectProblem(await tryToSend(laptop, 'Phone', 'x'), 'mailbox_full');
    const toAll = await tryToSend(laptop, '*', 'x');
    expect(toAll.status).toBe(201);
    expect((toAll.body as { to: { error?: string }[] }).to.map(({ error }) => error)).toEqual([
      'mailbox_full',
      'mailbox_full',
    ]);
    expect(await textsOf(phone)).toHaveLength(1);
  });

  test('counts a text once for all who got it, and gives its bytes back when the last has read it', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const id = await send(laptop, '*', 'é'.repeat(100));
    expect(await mailBytes(mailOf(laptop))).toBe(200);
    await ack(phone, [id]);
    expect(await mailBytes(mailOf(laptop))).toBe(200);
    await ack(tablet, [id]);
    expect(await mailBytes(mailOf(laptop))).toBe(0);
  });

  test('gives back the bytes of what has become too old before it calls itself full', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await send(laptop, phone, 'x'.repeat(4_096));
    await ageMail(mailOf(phone), 8 * DAY_MS);
    await setMailBytes(mailOf(phone), ACCOUNT_BYTES);
    expect((await tryToSend(laptop, 'Phone', 'x')).status).toBe(201);
  });

  test('is not kept full by what waits for a device that never came back', async () => {
    const [laptop, , lost] = await site.enrol('Laptop', 'Phone', 'Lost');
    await send(laptop, lost, 'x'.repeat(4_096));
    await ageMail(mailOf(lost), 8 * DAY_MS);
    await setMailBytes(mailOf(lost), ACCOUNT_BYTES);
    expect((await tryToSend(laptop, 'Phone', 'x')).status).toBe(201);
  });
});
