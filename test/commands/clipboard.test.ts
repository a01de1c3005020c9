import type { TestDevice } from '../support/device.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type Site, startSite } from '../support/site.ts';
import { keysHolding, picture } from '../support/redis/stored.ts';
import { expectProblem, request, utf8Header } from '../support/wire.ts';

const TTL_MS = 300_000;
const NOTHING = {
  content: '',
  content_type: null,
  source_device_id: null,
  source_device_name: null,
  updated_at: null,
  expires_at: null,
};

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

type Headers = Record<string, string | string[]>;
const put = (
  device: TestDevice,
  content: unknown,
  headers: Headers = {},
  replica: ReplicaProcess = site.one,
  type: unknown = 'text/plain',
) =>
  request(replica, {
    ...{ method: 'PUT', path: '/api/clipboard' },
    ...{ headers: { ...device.headers, ...headers }, body: { content, content_type: type } },
  });
const get = async (device: TestDevice, replica = site.two) => (await device.on(replica).call('getClipboard')).body;
const clear = (device: TestDevice, replica = site.two) => device.on(replica).call('clearClipboard');
const clipboardKey = (device: TestDevice) => `${site.prefix}:{${device.user}}:clipboard`;

describe('what is put on one replica', () => {
  test('is read on the other, with who wrote it and how long it stays', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const { status, body } = await put(laptop, 'copied');
    expect(status).toBe(200);
    expect(body).toEqual({
      content: 'copied',
      content_type: 'text/plain',
      source_device_id: laptop.id,
      source_device_name: 'Laptop',
      updated_at: expect.any(Number),
      expires_at: expect.any(Number),
    });
    const { updated_at: updated, expires_at: expires } = body as { updated_at: number; expires_at: number };
    expect(expires - updated).toBe(TTL_MS);
    for (const device of [laptop, phone]) expect(await get(device)).toEqual(body);
    const left = await site.redis.pttl(clipboardKey(laptop));
    expect(left).toBeGreaterThan(TTL_MS - 30_000);
    expect(left).toBeLessThanOrEqual(TTL_MS);
  });

  test('is announced to every device, never with its text', async () => {
    const [laptop, phone, tablet] = await site.enrol('Laptop', 'Phone', 'Tablet');
    const streams = [site.listen(phone, site.one), site.listen(tablet, site.two)];
    await Promise.all(streams.map((stream) => stream.next('ready')));
    const { body } = await put(laptop, 'zwölf');
    const { content: _, content_type: __, ...told } = body as Record<string, unknown>;
    for (const stream of streams) {
      const { id, data } = await stream.next('clipboard');
      expect(id).toMatch(/^\d+-\d+$/);
      expect(data).toEqual({ ...told, bytes: 6 });
    }
  });

  test('replaces what was there', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await put(laptop, 'first');
    await put(phone, 'second', {}, site.two);
    expect(await get(laptop, site.one)).toMatchObject({ content: 'second', source_device_name: 'Phone' });
  });

  // Proves G27.
  test('is in one place in the store and in no other', async () => {
    const [laptop] = await site.enrol('Laptop');
    const text = `nowhere-else-${laptop.user}`;
    await put(laptop, text);
    expect(await keysHolding(site.redis, site.prefix, text)).toEqual([clipboardKey(laptop)]);
    await put(laptop, 'something else');
    expect(await keysHolding(site.redis, site.prefix, text)).toEqual([]);
  });

  test('at once by many leaves one of them, the same for everybody', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const texts = Array.from({ length: 20 }, (_, i) => `text ${i}`);
    await Promise.all(
      texts.map((text, i) => put(i % 2 === 0 ? laptop : phone, text, {}, i % 3 === 0 ? site.one : site.two)),
    );
    const kept = await get(laptop, site.one);
    expect(texts).toContain(kept.content);
    expect(await get(phone, site.two)).toEqual(kept);
  });
});

describe('the text', () => {
  test.each([
    ['65,536 letters', 'x'.repeat(65_536)],
    ['65,536 line feeds', '\n'.repeat(65_536)],
    ['65,536 quotation marks', '"'.repeat(65_536)],
    ['16,384 emoji of four bytes', '😀'.repeat(16_384)],
    ['21,845 letters of three bytes and one more', `${'你'.repeat(21_845)}x`],
  ])('may be as long as %s', async (_, content) => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    expect((await put(laptop, content)).status).toBe(200);
    expect((await get(phone)).content).toBe(content);
  });

  test.each([
    ['65,537 letters', 'x'.repeat(65_537)],
    ['65,537 line feeds', '\n'.repeat(65_537)],
    ['21,845 letters of three bytes and two more', `${'你'.repeat(21_845)}xx`],
    ['65,537 control characters, although they would be removed', '\u0001'.repeat(65_537)],
  ])('may not be as long as %s; what was there stays', async (_, content) => {
    const [laptop] = await site.enrol('Laptop');
    await put(laptop, 'what was there');
    const before = await picture(site.redis, `${site.prefix}:{${laptop.user}}`);
    const answer = await put(laptop, content);
    expectProblem(answer, 'clipboard_too_large');
    expect(answer.body).toMatchObject({ detail: expect.stringContaining('65536') });
    expect(await picture(site.redis, `${site.prefix}:{${laptop.user}}`, before)).toEqual(before);
  });

  test('loses its C0 control characters but tab, line feed and carriage return, and nothing else', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    const controls = Array.from({ length: 32 }, (_, i) => String.fromCharCode(i)).join('');
    const kept = ' ~\u007f\u0080\u009f\u00a0\u2028\ufeff\u202e😀';
    const answer = await put(laptop, `a${controls}b${kept}`);
    expect((answer.body as { content: string }).content).toBe(`a\t\n\rb${kept}`);
    expect((await get(phone)).content).toBe(`a\t\n\rb${kept}`);
    expect((await stream.next('clipboard')).data.bytes).toBe(Buffer.byteLength(`a\t\n\rb${kept}`));
  });

  test('of 65,536 control characters is nothing', async () => {
    const [laptop] = await site.enrol('Laptop');
    expect((await put(laptop, '\u0000'.repeat(65_536))).status).toBe(200);
    expect((await get(laptop)).content).toBe('');
  });

  test.each([
    '{"content":"evil","source_device_id":null}',
    '1\n2\n{"content":"evil"}',
    '"',
    '\\',
    '\ud800',
    '<b>bold</b>',
    '\r\n\r\n',
  ])('comes back as it went: %j', async (content) => {
    const [laptop] = await site.enrol('Laptop');
    await put(laptop, content);
    expect(await get(laptop)).toMatchObject({ content, source_device_id: laptop.id });
  });

  test.each(['text/html', 'text/plain; charset=utf-8', 'TEXT/PLAIN', 'image/png', '', 'plain'])(
    'is plain text, not "%s"',
    async (type) => {
      const [laptop] = await site.enrol('Laptop');
      await put(laptop, 'what was there');
      expectProblem(await put(laptop, '<b>x</b>', {}, site.one, type), 'unsupported_media_type');
      expect((await get(laptop)).content).toBe('what was there');
    },
  );
});

describe('X-Device-Name', () => {
  test('replaces the name that is shown, and neither the device nor its row', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const stream = site.listen(phone, site.two);
    await stream.next('ready');
    expect((await put(laptop, 'x', { 'X-Device-Name': ' Shared screen ' })).body).toMatchObject({
      source_device_id: laptop.id,
      source_device_name: 'Shared screen',
    });
    expect(await get(phone)).toMatchObject({ source_device_id: laptop.id, source_device_name: 'Shared screen' });
    expect((await stream.next('clipboard')).data).toMatchObject({
      source_device_id: laptop.id,
      source_device_name: 'Shared screen',
    });
    expect((await laptop.on(site.one).call('getMe')).body.device?.name).toBe('Laptop');
  });

  test('may be the name of another device: it is only shown', async () => {
    const [laptop] = await site.enrol('Laptop', 'Phone');
    expect((await put(laptop, 'x', { 'X-Device-Name': 'Phone' })).body).toMatchObject({
      source_device_id: laptop.id,
      source_device_name: 'Phone',
    });
  });

  test.each([
    ['empty', ''],
    ['blank', '   '],
    ['*', '*'],
    ['33 characters', 'x'.repeat(33)],
    ['not ASCII', utf8Header('Zoë')],
    ['with a tab', 'a\tb'],
    ['there twice', ['Phone', 'Phone']],
  ])('is refused when it is %s; what was there stays', async (_, name) => {
    const [laptop] = await site.enrol('Laptop');
    await put(laptop, 'what was there');
    expectProblem(await put(laptop, 'x', { 'X-Device-Name': name }), 'invalid_device_name');
    expect((await get(laptop)).content).toBe('what was there');
  });

  test('names a caller without a device, who is otherwise known by the name of the user', async () => {
    const [laptop] = await site.enrol('Laptop');
    const nobody = { ...laptop, headers: { 'X-Dev-User': laptop.user } };
    expect((await put(nobody, 'x')).body).toMatchObject({ source_device_id: null, source_device_name: laptop.user });
    expect((await put(nobody, 'y', { 'X-Device-Name': 'Kiosk' })).body).toMatchObject({
      source_device_id: null,
      source_device_name: 'Kiosk',
    });
    expect(await get(laptop)).toMatchObject({ content: 'y', source_device_id: null, source_device_name: 'Kiosk' });
  });
});

describe('clearing', () => {
  test('empties the clipboard for everybody and tells it once', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const text = `to-be-cleared-${laptop.user}`;
    const streams = [site.listen(laptop, site.one), site.listen(phone, site.two)];
    await Promise.all(streams.map((stream) => stream.next('ready')));
    await put(laptop, text);
    for (const replica of [site.two, site.one, site.two])
      expect(await clear(phone, replica)).toEqual({ status: 204, body: null });
    await put(laptop, 'marker');
    for (const stream of streams) {
      await stream.next('clipboard');
      const { id, data } = await stream.next('clipboard:cleared');
      expect({ id, data }).toEqual({ id: expect.stringMatching(/^\d+-\d+$/), data: {} });
      await stream.next('clipboard');
      expect(stream.events.filter(({ name }) => name === 'clipboard:cleared')).toHaveLength(1);
    }
    expect(await keysHolding(site.redis, site.prefix, text)).toEqual([]);
  });

  test('leaves nothing to be read', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    await put(laptop, 'x');
    await clear(phone);
    for (const replica of [site.one, site.two]) expect(await get(laptop, replica)).toEqual(NOTHING);
    expect((await site.listen(phone, site.one).next('ready')).data.clipboard).toBeNull();
  });

  test('an empty clipboard is fine and told to nobody', async () => {
    const [laptop] = await site.enrol('Laptop');
    const stream = site.listen(laptop, site.two);
    await stream.next('ready');
    expect((await clear(laptop)).status).toBe(204);
    await put(laptop, 'marker');
    await stream.next('clipboard');
    expect(stream.events.some(({ name }) => name === 'clipboard:cleared')).toBe(false);
  });

  test('of a clipboard that was never set answers with nothing', async () => {
    const [laptop] = await site.enrol('Laptop');
    expect(await get(laptop)).toEqual(NOTHING);
  });
});
