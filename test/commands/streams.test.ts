import { type TestDevice, makeDevice, randomUser } from '../support/device.ts';
import { closeRawStreams, openRawStream } from '../support/raw-stream.ts';
import { type ReplicaProcess, startReplica } from '../support/replicas.ts';
import { sharedRedisUrl } from '../support/redis/redis.ts';
import { type Site, startSite } from '../support/site.ts';
import type { Recorder } from '../support/stream-recorder.ts';

const HEARTBEAT_MS = 5_000;

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_HUB_HEARTBEAT_MS: String(HEARTBEAT_MS) });
});
afterEach(() => {
  closeRawStreams();
  return site.closeStreams();
});
afterAll(() => site.stop());

async function open(device: TestDevice, replica: ReplicaProcess, lastEventId?: string): Promise<Recorder> {
  const stream = site.listen(device, replica, lastEventId);
  await stream.nextState('open');
  return stream;
}

const send = (from: TestDevice, to: TestDevice, content = 'x') =>
  from.on(site.one).call('sendMessage', { body: { to_device_id: to.id, content } });

describe('the first event of a stream', () => {
  test('is ready, with everything a client begins with', async () => {
    const [laptop] = await site.enrol('Laptop');
    const { data, id } = await site.listen(laptop, site.one).next('ready');
    expect(id).toMatch(/^\d+-\d+$/);
    expect(data).toEqual({
      resumed: false,
      reason: 'new',
      device: { device_id: laptop.id, name: 'Laptop', type: 'linux' },
      presence: { version: expect.any(Number), devices: [expect.objectContaining({ name: 'Laptop', online: true })] },
      clipboard: null,
      pending: { messages: 0, transfers: 0 },
      heartbeat_ms: HEARTBEAT_MS,
      server_id: expect.stringMatching(/./),
    });
  });

  test('tells which replica serves, the same for all its streams', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const ids = await Promise.all(
      [site.listen(laptop, site.one), site.listen(phone, site.one), site.listen(phone, site.two)].map(
        async (stream) => (await stream.next('ready')).data.server_id,
      ),
    );
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[2]);
  });

  test('tells since when there is a clipboard and until when, not what is in it', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const body = { content: 'secret text', content_type: 'text/plain' };
    const { body: entry } = await laptop.on(site.one).call('setClipboard', { body });
    const { data } = await site.listen(phone, site.two).next('ready');
    expect(data.clipboard).toEqual({ updated_at: entry.updated_at, expires_at: entry.expires_at });
    expect(JSON.stringify(data)).not.toContain('secret text');
  });

  test('tells how many messages wait', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    for (const content of ['1', '2', '3']) await send(laptop, phone, content);
    expect((await site.listen(phone, site.two).next('ready')).data.pending).toEqual({ messages: 3, transfers: 0 });
    expect((await site.listen(laptop, site.two).next('ready')).data.pending).toEqual({ messages: 0, transfers: 0 });
  });

  test('has no id and no reason when the stream was resumed, on whatever replica', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const before = await site.listen(phone, site.one).next('ready');
    await send(laptop, phone, 'missed');
    const resumed = site.listen(phone, site.two, before.id as string);
    const { id, data } = await resumed.next('ready');
    expect({ id, resumed: data.resumed, reason: data.reason }).toEqual({ id: null, resumed: true, reason: undefined });
    expect((await resumed.next('message')).data).toMatchObject({ content: 'missed', redelivered: false });
  });

  test.each([
    ...['rubbish', '1-2-3', '-1', 'NaN-0', '99999999999999999999-1', '1-', '(1-1', '\u00ff'].map((text) => [
      text,
      text,
    ]),
    ['4,000 characters', 'x'.repeat(4_000)],
  ])('says that a position was not understood, and goes on at the present end: %s', async (_, position) => {
    const [laptop] = await site.enrol('Laptop');
    const stream = await openRawStream(site.one, { ...laptop.headers, 'Last-Event-ID': position });
    expect(stream.status).toBe(200);
    expect(await stream.until(/\n\n/)).toMatch(
      /^id: \d+-\d+\nevent: ready\ndata: \{"resumed":false,"reason":"expired",/,
    );
  });

  test('takes the position from the query where a header cannot be set, and the header before the query', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const { id } = await site.listen(phone, site.one).next('ready');
    await send(laptop, phone);
    const query = `?last_event_id=${id}`;
    expect(await (await openRawStream(site.two, phone.headers, query)).until(/event: message\n/)).toContain(
      '"resumed":true',
    );
    const headers = { ...phone.headers, 'Last-Event-ID': 'rubbish' };
    expect(await (await openRawStream(site.two, headers, query)).until(/\n\n/)).toContain('"reason":"expired"');
  });

  test('resets a stream that brings the position of another account', async () => {
    const [laptop] = await site.enrol('Laptop');
    const [stranger] = await site.enrol('Stranger');
    await site.listen(stranger, site.one).next('ready');
    const { id } = await site.listen(laptop, site.one).next('ready');
    const { data } = await site.listen(stranger, site.two, id as string).next('ready');
    expect(data.resumed).toBe(false);
  });
});

describe('the wire', () => {
  test('is an event stream that no proxy stores, changes or buffers', async () => {
    const [laptop] = await site.enrol('Laptop');
    const { status, headers } = await openRawStream(site.one, laptop.headers);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-api-version': '1',
    });
    expect(headers['content-encoding']).toBeUndefined();
  });

  test('never breaks a frame, whatever a message holds', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = await openRawStream(site.two, phone.headers);
    await stream.until(/\n\n/);
    const content = 'a\n\ndata: {}\r\nevent: evil\nid: 7\n\u2028\u2029\u0085\r\r';
    await send(laptop, phone, content);
    const text = await stream.until(/event: message\ndata: [^\n]*\n\n/);
    const frames = text.trimEnd().split('\n\n');
    expect(
      frames.every((frame) => /^(id: \d+-\d+\n)?event: (ready|presence|message)\ndata: \{[^\n\r]*\}$/.test(frame)),
    ).toBe(true);
    const data = /event: message\ndata: ([^\n]*)\n/.exec(text)?.[1] as string;
    expect((JSON.parse(data) as { content: string }).content).toBe(content);
  });

  test('pings a quiet stream with the position up to which it was served', async () => {
    const quick = await startReplica({
      ...{ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix },
      env: { APP_HUB_HEARTBEAT_MS: '100' },
    });
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(laptop, quick);
    const { id: start } = await stream.next('ready');
    expect(await stream.next('ping')).toMatchObject({ id: start, data: {} });
    // The event is not for this device, but its position moves on.
    const watcher = site.listen(phone, site.two);
    await watcher.next('ready');
    await send(laptop, phone);
    const { id: later } = await watcher.next('message');
    await stream.next('ping', ({ id }) => id === later);
    expect(stream.events.some(({ name }) => name === 'message')).toBe(false);
  });
});

describe('a fifth stream of one device', () => {
  test('ends the oldest, on whatever replica it is, and that one stays away', async () => {
    const [laptop] = await site.enrol('Laptop');
    const streams: Recorder[] = [];
    for (const replica of [site.one, site.two, site.one, site.two]) streams.push(await open(laptop, replica));
    await open(laptop, site.two);
    const [oldest, ...others] = streams as [Recorder, ...Recorder[]];
    const { data, id } = await oldest.next('reconnect');
    expect({ data, id }).toEqual({ data: { reason: 'superseded', retry_ms: 60_000 }, id: null });
    await oldest.nextState('superseded');
    expect(others.map(({ stream }) => stream.state)).toEqual([{ state: 'open' }, { state: 'open' }, { state: 'open' }]);
  });

  test('is none, and ends none, where one of the others was on a replica that has been killed', async () => {
    const doomed = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix });
    const [laptop] = await site.enrol('Laptop');
    const streams: Recorder[] = [];
    for (const replica of [site.one, site.two, doomed, doomed]) streams.push(await open(laptop, replica));
    await doomed.kill();
    for (const replica of [site.one, site.two]) streams.push(await open(laptop, replica));
    // Four streams are alive, and this is the fifth.
    await open(laptop, site.two);
    const [oldest, second, , , third, fourth] = streams;
    expect((await oldest?.next('reconnect'))?.data.reason).toBe('superseded');
    expect([second, third, fourth].map((recorder) => recorder?.stream.state)).toEqual(Array(3).fill({ state: 'open' }));
  });

  test('shows nobody as offline', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const watcher = await open(phone, site.one);
    const first = await open(laptop, site.two);
    for (const replica of [site.one, site.two, site.one, site.two]) await open(laptop, replica);
    await first.next('reconnect');
    const { version } = (await phone.on(site.one).call('getPresence')).body;
    await watcher.next('presence', ({ data }) => data.version >= version);
    const states = watcher.events.flatMap((event) =>
      event.name === 'presence' ? [event.data.devices[0]?.online] : [],
    );
    expect(states.slice(states.indexOf(true))).not.toContain(false);
  });

  test('leaves the streams of other devices alone, and those without a device under another name', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const phones = [await open(phone, site.one), await open(phone, site.two)];
    const kiosks: Recorder[] = [];
    for (let i = 0; i < 5; i++) {
      kiosks.push(site.listenAs('Kiosk', laptop.user, site.one));
      await kiosks[i]?.next('ready');
    }
    expect((await kiosks[0]?.next('reconnect'))?.data.reason).toBe('superseded');
    await send(laptop, phone);
    for (const stream of phones) {
      await stream.next('message');
      expect(stream.events.some(({ name }) => name === 'reconnect')).toBe(false);
    }
  });
});

describe('the sixty-fifth stream of an account', () => {
  test('is answered 200 and sent away for a while; a device at its own cap still replaces its oldest', async () => {
    const user = randomUser();
    const devices = Array.from({ length: 16 }, (_, i) => makeDevice({ user, name: `Device ${i}` }));
    const openFour = async (device: TestDevice) => {
      for (let i = 0; i < 4; i++)
        await (await openRawStream(i % 2 === 0 ? site.one : site.two, device.headers)).until(/event: ready/);
    };
    await Promise.all(devices.map(openFour));

    for (const replica of [site.one, site.two]) {
      const surplus = await openRawStream(replica, makeDevice({ user, name: 'Surplus' }).headers);
      expect(surplus.status).toBe(200);
      const [, retry, data] = /^retry: (\d+)\nevent: reconnect\ndata: (.*)\n\n$/.exec(await surplus.ended()) ?? [];
      expect(JSON.parse(data as string)).toEqual({ reason: 'busy', retry_ms: Number(retry) });
      expect(Number(retry)).toBeGreaterThanOrEqual(1_000);
    }

    const fifth = await openRawStream(site.one, (devices[0] as TestDevice).headers);
    expect(await fifth.until(/\n\n/)).toMatch(/event: ready\n/);
  });

  test('finds room again as soon as one was closed', async () => {
    const user = randomUser();
    const headers = { 'X-Dev-User': user };
    const names = Array.from({ length: 16 }, (_, i) => `Screen-${i}`);
    const streams = await Promise.all(
      names.flatMap((name) =>
        [0, 1, 2, 3].map((i) => openRawStream(i % 2 === 0 ? site.one : site.two, headers, `?name=${name}`)),
      ),
    );
    await Promise.all(streams.map((stream) => stream.until(/event: ready/)));
    const knock = async () =>
      (await openRawStream(site.two, headers, '?name=Late')).until(/event: (ready|reconnect)\n/);
    expect(await knock()).toContain('"reason":"busy"');
    streams[0]?.close();
    while (!(await knock()).includes('event: ready')) expect(streams).toHaveLength(64);
  });
});

test('a replica that is full sends a client away with 200, and not for good', async () => {
  const small = await startReplica({
    ...{ redisUrl: sharedRedisUrl(), keyPrefix: site.prefix },
    env: { APP_HUB_MAX_STREAMS: '1' },
  });
  const [laptop, phone] = await site.enrol('Laptop', 'Phone');
  const first = await open(laptop, small);
  const second = await openRawStream(small, phone.headers);
  expect(second.status).toBe(200);
  expect(await second.ended()).toMatch(/^retry: \d+\nevent: reconnect\ndata: \{"reason":"busy","retry_ms":\d+\}\n\n$/);
  await first.stop();
  const waiting = site.listen(phone, small);
  await waiting.next('ready');
});
