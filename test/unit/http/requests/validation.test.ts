import request from 'supertest';
import type { Call } from '../../../../services/sync/http/handler.ts';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import type { ROUTES } from '../../../../shared/contract/routes.ts';
import { ALICE, publicApp } from '../public-app.ts';

const post = (body: string, type = 'application/json', headers: Record<string, string> = {}) =>
  request(publicApp().app).post('/api/message').set(ALICE).set('Content-Type', type).set(headers).send(body);
const message = (body: object) => post(JSON.stringify(body));

const pathsOf = (answer: { body: unknown }): string[] =>
  ((answer.body as { errors?: { path: string }[] }).errors ?? []).map(({ path }) => path);

/** Pairs of which exactly one is required. */
const CHOICES = ['/body/to', '/body/to_device_id', '/body/content', '/body/sealed'];

describe('a body', () => {
  test.each([
    ['no target', { content: 'x' }, ['/body/to', '/body/to_device_id']],
    ['two targets', { to: 'a', to_device_id: 'phone-001', content: 'x' }, ['/body/to', '/body/to_device_id']],
    ['no content', { to: 'a' }, ['/body/content', '/body/sealed']],
    ['two contents', { to: 'a', content: 'x', sealed: 'AAAA' }, ['/body/content', '/body/sealed']],
    ['content of another type', { to: 'a', content: 5 }, ['/body/content']],
    ['several faults', { to: '', content: null }, ['/body/to', '/body/content']],
    ['no object', [], ['/body', ...CHOICES]],
    ['nothing but null', null, ['/body', ...CHOICES]],
  ])('with %s is refused, naming each field', async (_, body, paths) => {
    const answer = await message(body as object).expect(400);
    expect(answer.body).toMatchObject({ code: 'invalid_request' });
    expect(pathsOf(answer).sort()).toEqual([...paths].sort());
  });

  test.each([
    ['/api/message', { content: 'x' }, 'Exactly one of to, to_device_id is required'],
    ['/api/message', { to: 7, content: 'x' }, 'to is not a text'],
    ['/api/message', [], 'the body is not an object'],
    ['/api/message/ack', { message_ids: Array.from('x'.repeat(101)) }, 'message_ids has more than 100 entries'],
    ['/api/message/ack', { message_ids: ['x'] }, 'message_ids.0 does not have the form that the contract gives'],
    ['/api/auth/qr/start', { device_name: 'a', device_type: 'car' }, 'device_type is not one of browser, macos,'],
    ['/api/transfer/init', { to: 'a', files: [{ name: 'a', size: -1 }] }, 'files.0.size is less than 0'],
    ['/api/auth/qr/start', { device_type: 'ios' }, 'device_name is required'],
  ])('to %s is refused in plain words', async (path, body, words) => {
    const answer = await request(publicApp().app).post(path).set(ALICE).send(body).expect(400);
    expect((answer.body as { detail: string }).detail).toContain(words);
  });

  test('is not turned from text into numbers, nor the other way round', async () => {
    expect(pathsOf(await message({ to: 7, content: 'x' }).expect(400))).toEqual(['/body/to']);
  });

  test('may carry fields that nobody knows', async () => {
    await message({ to: 'a', content: 'x', colour: 'red', __proto__: { a: 1 } }).expect(201);
    await post('{"to":"a","content":"x","__proto__":{"b":1},"constructor":2}').expect(201);
  });

  test.each([
    ['is missing', '', 'application/json'],
    ['is no JSON', '{"to":', 'application/json'],
    ['has two values', '{} {}', 'application/json'],
  ])('that %s is refused', async (_, body, type) => {
    expect((await post(body, type).expect(400)).body).toMatchObject({ code: 'invalid_request' });
  });

  test('that is not UTF-8 is refused', async () => {
    const stray = Buffer.concat([Buffer.from('{"to":"a","content":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const answer = request(publicApp().app).post('/api/message').set(ALICE).type('application/json');
    await answer
      .serialize((body) => body as unknown as string)
      .send(stray)
      .expect(400);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'application/jsonx',
  ])('of type %s is not supported', async (type) => {
    expect((await post('{}', type).expect(415)).body).toMatchObject({ code: 'unsupported_media_type' });
  });

  test('without type is not supported', async () => {
    const answer = await post('{}', '').expect(415);
    expect(answer.body).toMatchObject({ code: 'unsupported_media_type' });
  });

  test('that is compressed is not supported', async () => {
    await post('{}', 'application/json', { 'Content-Encoding': 'gzip' }).expect(415);
  });

  test.each(['application/json;charset=UTF-8', 'Application/JSON', 'application/json; charset="utf-8"'])(
    'of type %s is JSON',
    async (type) => {
      await post('{"to":"a","content":"x"}', type).expect(201);
    },
  );

  test('over the limit of its route is too large, and the answer tells the limit', async () => {
    const padding = (bytes: number): string => `{"to":"a","content":"${'x'.repeat(bytes - 23)}"}`;
    await post(padding(LIMITS.jsonBodyBytes)).expect(201);
    const answer = await post(padding(LIMITS.jsonBodyBytes + 1)).expect(413);
    expect(answer.body).toMatchObject({ code: 'body_too_large', detail: expect.stringContaining('131072') });
  });

  test('names at most twenty of its faults', async () => {
    const ids = Array.from({ length: 5_000 }, () => 'x');
    const ack = request(publicApp().app).post('/api/message/ack').set(ALICE).send({ message_ids: ids });
    expect(pathsOf(await ack.expect(400))).toHaveLength(20);
  });
});

describe('a query', () => {
  const opened = async (query: string) => {
    const queries: unknown[] = [];
    const { app } = publicApp({
      handlers: {
        openStream: (call: Call<(typeof ROUTES)['openStream']>) => {
          queries.push(call.query);
          call.res.end();
          return null;
        },
      },
    });
    return { answer: await request(app).get(`/api/hub/events?${query}`).set(ALICE), queries };
  };

  test('is handed on with its known fields only', async () => {
    const { queries } = await opened('last_event_id=1-2&dev_user=alice&other=1&other=2');
    expect(queries).toEqual([{ last_event_id: '1-2' }]);
  });

  test('with a known field twice is refused', async () => {
    const { answer } = await opened('name=a&name=b');
    expect(answer.body).toMatchObject({ code: 'invalid_request', errors: [{ path: '/query/name' }] });
  });

  test('with a field over its length is refused', async () => {
    const { answer } = await opened(`name=${'a'.repeat(1_025)}`);
    expect(pathsOf(answer)).toEqual(['/query/name']);
  });
});

describe('a path', () => {
  const rename = (device: string) =>
    request(publicApp().app).patch(`/api/devices/${device}`).set(ALICE).send({ name: 'New' });

  test('with a malformed parameter is that of nothing', async () => {
    for (const device of ['short', 'with%20space', '..%2F..%2Fetc', 'x'.repeat(65)]) {
      expect((await rename(device).expect(404)).body).toMatchObject({ code: 'not_found' });
    }
  });

  test('with bad percent-encoding is refused', async () => {
    expect((await rename('%E0%A4%A').expect(400)).body).toMatchObject({ code: 'invalid_request' });
  });
});
