import { LIMITS } from '../../shared/contract/limits.ts';
import type { TestDevice } from '../support/device.ts';
import { keysHolding } from '../support/redis/stored.ts';
import { type Site, startSite } from '../support/site.ts';
import { expectProblem, request } from '../support/wire.ts';

/* Content that only devices can open passes through unchanged, in place of a text. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const bytes = (length: number): string => Buffer.alloc(length, 0xf7).toString('base64url');
const BAD = ['', 'a+b/', 'AAA=', 'AB', 'A', ' AAAA', 'AAAA\n'];

const ask = ({ headers }: TestDevice, method: string, path: string, body: unknown, more: Record<string, string> = {}) =>
  request(site.one, { method, path, headers: { ...headers, ...more }, body });

test('an installation says that it passes on what is sealed, and how much', async () => {
  const [laptop] = await site.enrol('Laptop');
  const { features, limits } = (await laptop.on(site.one).call('getMe')).body;
  expect({ ...features, ...limits }).toMatchObject({
    ...{ sealed: true, sealed_message_bytes: 4_480, sealed_clipboard_bytes: 81_920 },
  });
});

describe('a sealed message', () => {
  const send = (device: TestDevice, body: object, more?: Record<string, string>) =>
    ask(device, 'POST', '/api/message', { to: 'Phone', ...body }, more);

  // Proves G33.
  test('arrives as it was sealed, with an empty content, until it is acknowledged', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    const sealed = bytes(LIMITS.sealedMessageBytes);
    const answer = await send(laptop, { sealed });
    expect(answer.status).toBe(201);
    const { data } = await stream.next('message');
    expect(data).toEqual({
      message_id: (answer.body as { message_id: string }).message_id,
      ...{ from_device_id: laptop.id, from_name: 'Laptop', content: '', sealed },
      ...{ created_at: expect.any(Number), redelivered: false },
    });
    const { body } = await phone.on(site.one).call('listMessages');
    expect(body.messages).toEqual([data]);
    const again = site.listen(phone, site.one);
    expect((await again.next('message')).data).toEqual({ ...data, redelivered: true });
    await phone.on(site.one).call('ackMessages', { body: { message_ids: [data.message_id] } });
    expect(await keysHolding(site.redis, site.prefix, sealed)).toEqual([]);
  });

  test('is one message however often it is sent with its key, and another body is refused', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const key = { 'Idempotency-Key': 'sealed-1' };
    const sealed = bytes(300);
    const first = await send(laptop, { sealed }, key);
    expect((await send(laptop, { sealed }, key)).body).toEqual(first.body);
    expectProblem(await send(laptop, { sealed: bytes(301) }, key), 'idempotency_key_reused');
    expect((await phone.on(site.two).call('listMessages')).body.messages).toHaveLength(1);
  });

  test('to a device that knows nothing of it is a message with an empty text', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await send(laptop, { to: '*', sealed: bytes(40) });
    await send(laptop, { content: 'plain' });
    const { body } = await phone.on(site.two).call('listMessages');
    expect(body.messages.map(({ content }) => content)).toEqual(['', 'plain']);
    expect(body.messages[1]).not.toHaveProperty('sealed');
  });

  test('is refused when it is too long, is no base64url, or comes beside a content or without either', async () => {
    const [laptop] = await site.enrol('Laptop', 'Phone');
    expectProblem(await send(laptop, { sealed: bytes(LIMITS.sealedMessageBytes + 1) }), 'message_too_large');
    for (const sealed of BAD) {
      const { errors } = expectProblem(await send(laptop, { sealed }), 'invalid_request');
      expect(errors?.[0]?.path).toBe('/body/sealed');
    }
    for (const body of [{}, { content: 'x', sealed: 'AAAA' }, { sealed: null }, { sealed: 1 }])
      expectProblem(await send(laptop, body), 'invalid_request');
  });
});

describe('a sealed clipboard', () => {
  const put = (device: TestDevice, body: object) =>
    ask(device, 'PUT', '/api/clipboard', { content_type: 'text/plain', ...body });
  const get = async (device: TestDevice) => (await device.on(site.two).call('getClipboard')).body;

  // Proves G33.
  test('is read as it was sealed, told of with its size alone, and lies in one place', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    const sealed = bytes(LIMITS.sealedClipboardBytes);
    const answer = await put(laptop, { sealed });
    expect(answer.body).toMatchObject({ content: '', sealed, content_type: 'text/plain', source_device_id: laptop.id });
    expect(await get(phone)).toEqual(answer.body);
    const { data } = await stream.next('clipboard');
    expect(data).toMatchObject({ bytes: LIMITS.sealedClipboardBytes, source_device_name: 'Laptop' });
    expect(data).not.toHaveProperty('sealed');
    expect(await keysHolding(site.redis, site.prefix, sealed)).toEqual([`${site.prefix}:{${laptop.user}}:clipboard`]);
    // A plain text replaces all of it.
    await put(phone, { content: 'plain' });
    expect(await get(laptop)).not.toHaveProperty('sealed');
  });

  test('is refused when it is too long, is no base64url, or comes beside a content or without either', async () => {
    const [laptop] = await site.enrol('Laptop');
    expectProblem(await put(laptop, { sealed: bytes(LIMITS.sealedClipboardBytes + 1) }), 'clipboard_too_large');
    for (const sealed of BAD) expectProblem(await put(laptop, { sealed }), 'invalid_request');
    for (const body of [{}, { content: 'x', sealed: 'AAAA' }])
      expectProblem(await put(laptop, body), 'invalid_request');
    expectProblem(await put(laptop, { sealed: 'AAAA', content_type: 'image/png' }), 'unsupported_media_type');
    expect(await get(laptop)).toMatchObject({ content: '', updated_at: null });
  });
});
