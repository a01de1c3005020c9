import request from 'supertest';
import { BatonError, ERRORS, type ErrorCode } from '../../../../shared/contract/errors.ts';
import { Problem } from '../../../../shared/contract/vocabulary/problem.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ALICE, publicApp } from '../public-app.ts';

const failing = (error: unknown) =>
  publicApp({
    handlers: {
      getClipboard() {
        throw error;
      },
    },
  });
const ask = (app: ReturnType<typeof failing>['app']) => request(app).get('/api/clipboard').set(ALICE);

const isProblem = new Ajv2020({ strict: true }).compile(Problem);

test.each(Object.keys(ERRORS) as ErrorCode[])('%s is answered as a problem document', async (code) => {
  const { app, counted } = failing(new BatonError(code));
  const answer = await ask(app).expect(ERRORS[code].status);
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  const body = JSON.parse(answer.text) as Problem;
  expect(isProblem(body)).toBe(true);
  expect(body).toMatchObject({ code, status: answer.status, request_id: answer.headers['x-request-id'] });
  expect(answer.headers['retry-after'] !== undefined).toBe([429, 503].includes(answer.status));
  expect(await counted('baton_problems_total', { code })).toBe(1);
});

test('an error brings its own headers, members, field errors and waiting time', async () => {
  const { app } = failing(
    new BatonError('offset_mismatch', 'Go on at 5', {
      headers: { 'Upload-Offset': '5' },
      members: { type: 'https://iana.org/mismatch', 'expected-offset': 5, code: 'forged' },
      errors: [{ path: '/header/Upload-Offset', message: 'is 7' }],
      retryAfterSeconds: 1.2,
    }),
  );
  const answer = await ask(app).expect(409).expect('Upload-Offset', '5').expect('Retry-After', '2');
  expect(JSON.parse(answer.text)).toMatchObject({
    type: 'https://iana.org/mismatch',
    'expected-offset': 5,
    code: 'offset_mismatch',
    detail: 'Go on at 5',
    errors: [{ path: '/header/Upload-Offset', message: 'is 7' }],
  });
});

test.each([new Error('WRONGTYPE at redis:6379'), 'text', null, Object.assign(new Error('x'), { status: 404 })])(
  'what nobody foresaw is internal and tells nothing (%#)',
  async (thrown) => {
    const { app, lines } = failing(thrown);
    const answer = await ask(app).expect(500);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'internal', detail: ERRORS.internal.title });
    expect(answer.text).not.toMatch(/redis|stack|\.ts/);
    expect(lines.filter(({ level }) => level === 50)).toHaveLength(1);
  },
);

test('the cause of an unforeseen failure is in the log, with the id of the request', async () => {
  const { app, lines } = failing(new Error('the cause'));
  await ask(app).set('X-Request-Id', 'abc').expect(500);
  expect(lines.find(({ level }) => level === 50)).toMatchObject({
    code: 'internal',
    req: { id: 'abc', path: '/api/clipboard' },
    err: { message: 'the cause', stack: expect.stringContaining('problem.test') },
  });
});

test('a store that is away is a warning, a mistake of the client is neither', async () => {
  const away = failing(new BatonError('store_unavailable', undefined, { cause: new Error('connect ECONNREFUSED') }));
  await ask(away.app).expect(503);
  expect(away.lines.map(({ level }) => level)).toEqual([40, 40]);
  const mistaken = failing(new BatonError('not_found'));
  await ask(mistaken.app).expect(404);
  expect(mistaken.lines).toMatchObject([{ level: 30, res: { status: 404, code: 'not_found' } }]);
});

test('a refusal by rate is counted under the group of the route', async () => {
  const { app, counted } = publicApp({
    handlers: {
      sendMessage() {
        throw new BatonError('rate_limited', undefined, { retryAfterSeconds: 7 });
      },
    },
  });
  const send = request(app).post('/api/message').set(ALICE).send({ to: 'a', content: 'x' });
  await send.expect(429).expect('Retry-After', '7');
  expect(await counted('baton_rate_limited_total', { group: 'message' })).toBe(1);
});

test('an answer that has begun is cut off', async () => {
  const { app, lines } = publicApp({
    handlers: {
      openStream({ res }) {
        res.writeHead(200, { 'Content-Type': 'text/event-stream' });
        res.write(': open\n\n');
        throw new Error('too late');
      },
    },
  });
  await expect(request(app).get('/api/hub/events').set(ALICE)).rejects.toThrow(/aborted|socket hang up/);
  expect(lines.filter(({ level }) => level === 50)).toHaveLength(1);
});
