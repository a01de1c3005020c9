import { type ClientOptions, makeClient } from '../../../shared/client/http/client.ts';
import { NoAnswerError } from '../../../shared/client/errors/no-answer.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { makeInbox } from '../../support/stream-recorder.ts';
import { meOf } from './answers.ts';
import { makeManualClock } from './manual-clock.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;

beforeEach(async () => {
  server = await startScriptedServer();
});

afterEach(() => server.stop());

const client = (options: Partial<ClientOptions> = {}) =>
  makeClient({ baseUrl: server.baseUrl, random: () => 0, ...options });

const accepted = { message_id: '019a0000-0000-7000-8000-000000000001', to: [], created_at: 1 };
const hello = { body: { to: 'Phone', content: 'hello' } };

/** Resolves to the rejection of `work`. A success fails the test. */
async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('This was meant to fail');
}

test('a call is made as the route table says', async () => {
  const answer = client({ headers: { 'X-Dev-User': 'ada' } }).call('renameDevice', {
    params: { device_id: 'a/b c' },
    body: { name: 'Desk' },
    headers: { 'X-Request-Id': 'r1' },
  });
  const exchange = await server.next();
  expect([exchange.method, exchange.url]).toEqual(['PATCH', '/api/devices/a%2Fb%20c']);
  expect(exchange.headers).toMatchObject({
    'content-type': 'application/json',
    'x-dev-user': 'ada',
    'x-request-id': 'r1',
  });
  expect(JSON.parse(exchange.body)).toEqual({ name: 'Desk' });
  exchange.answer(200, {
    device: {
      device_id: 'desk-0001',
      name: 'Desk',
      type: 'linux',
      online: true,
      current: true,
      created_at: 1,
      last_seen_at: null,
    },
  });
  const { status, body } = await answer;
  expect([status, body.device.name]).toEqual([200, 'Desk']);
});

test('an answer without body is null, a page is its text', async () => {
  const cleared = client().call('clearClipboard');
  (await server.next()).answer(204);
  expect(await cleared).toEqual({ status: 204, body: null });
  const page = client().call('getDocs');
  (await server.next()).answer(200, '<html>', { 'Content-Type': 'text/html' });
  expect(await page).toEqual({ status: 200, body: '<html>' });
});

test('a problem is thrown as the error that the service threw', async () => {
  const failing = errorOf(client().call('ackMessages', { body: { message_ids: [] } }));
  const errors = [{ path: '/message_ids', message: 'must NOT have fewer than 1 items' }];
  const problem = { type: 'about:blank', title: 'x', status: 400, detail: 'No', code: 'invalid_request' };
  (await server.next()).answer(400, { ...problem, request_id: 'r9', errors, state: 'DONE' });
  const error = (await failing) as BatonError;
  expect(error).toBeInstanceOf(BatonError);
  expect([error.code, error.status, error.message, error.extras.errors]).toEqual([
    'invalid_request',
    400,
    'No',
    errors,
  ]);
  expect(error.extras.members).toMatchObject({ request_id: 'r9', state: 'DONE' });
});

test('a code of a newer server becomes internal and is kept', async () => {
  const failing = errorOf(client().call('getMe'));
  (await server.next()).answer(418, { code: 'teapot', status: 418, detail: 'Short and stout' });
  expect(await failing).toMatchObject({
    code: 'internal',
    message: 'Short and stout',
    extras: { members: { code: 'teapot', status: 418 } },
  });
});

test.each([
  [401, 'unauthenticated'],
  [413, 'body_too_large'],
  [404, 'internal'],
  [500, 'internal'],
])('a page that a proxy answers with %i becomes %s', async (status, code) => {
  const failing = errorOf(client().call('getMe'));
  (await server.next()).answer(status, '<html>', { 'Content-Type': 'text/html' });
  expect(await failing).toMatchObject({ code, extras: { members: { status } } });
});

test('a success that is no JSON is an error and not repeated', async () => {
  const failing = errorOf(client().call('getMe'));
  (await server.next()).answer(200, '<html>', { 'Content-Type': 'text/html' });
  expect(await failing).toMatchObject({ code: 'internal', extras: { members: { status: 200 } } });
  expect(server.exchanges).toHaveLength(1);
});

test('a redirect is not followed', async () => {
  const failing = errorOf(client().call('getMe'));
  (await server.next()).answer(302, undefined, { Location: '/elsewhere' });
  expect(await failing).toMatchObject({ code: 'internal', extras: { members: { status: 302 } } });
  expect(server.exchanges).toHaveLength(1);
});

test('a GET whose connection breaks is made again', async () => {
  const answer = client().call('getPresence');
  (await server.next()).destroy();
  const cut = await server.next();
  cut.accept();
  await cut.write('{"version":');
  cut.destroy();
  (await server.next()).answer(200, { version: 3, devices: [] });
  expect((await answer).body.version).toBe(3);
});

test('a GET is given up after two repetitions, or as many as were asked for', async () => {
  const failing = errorOf(client().call('getMe'));
  for (let attempt = 0; attempt < 3; attempt += 1) (await server.next()).destroy();
  const error = (await failing) as NoAnswerError;
  expect(error).toBeInstanceOf(NoAnswerError);
  expect([error.reason, (error.cause as Error).message]).toEqual(['network', 'fetch failed']);

  const once = errorOf(client({ retries: 0 }).call('getMe'));
  (await server.next()).destroy();
  expect(await once).toBeInstanceOf(NoAnswerError);
  const twice = errorOf(client({ retries: 0 }).call('getMe', { retries: 1 }));
  for (let attempt = 0; attempt < 2; attempt += 1) (await server.next()).destroy();
  expect(await twice).toBeInstanceOf(NoAnswerError);
  expect(server.exchanges).toHaveLength(6);
});

test('nobody at home is an answer that did not come', async () => {
  const { baseUrl } = server;
  await server.stop();
  expect(await errorOf(client({ baseUrl }).call('getMe'))).toMatchObject({ name: 'NoAnswerError', reason: 'network' });
  server = await startScriptedServer();
});

test('a message is sent again under the same key, on the next address', async () => {
  const other = await startScriptedServer();
  const addresses = [server.baseUrl, other.baseUrl];
  const answer = client({ baseUrl: () => addresses.shift() ?? '' }).call('sendMessage', hello);
  const first = await server.next();
  first.destroy();
  const second = await other.next();
  second.answer(201, accepted);
  expect((await answer).body).toEqual(accepted);
  expect(first.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
  expect(second.headers['idempotency-key']).toBe(first.headers['idempotency-key']);
  expect(second.body).toBe(first.body);
  await other.stop();
});

test('two messages have different keys, and a key of the caller is taken as it is', async () => {
  const keys: unknown[] = [];
  for (const idempotencyKey of [undefined, undefined, 'mine']) {
    const given = idempotencyKey === undefined ? {} : { idempotencyKey };
    const answer = client().call('sendMessage', { ...hello, ...given });
    const exchange = await server.next();
    exchange.answer(201, accepted);
    await answer;
    keys.push(exchange.headers['idempotency-key']);
  }
  expect(new Set(keys).size).toBe(3);
  expect(keys[2]).toBe('mine');
});

test('a write without a key is never repeated', async () => {
  const lost = errorOf(client().call('clearClipboard'));
  (await server.next()).destroy();
  expect(await lost).toBeInstanceOf(NoAnswerError);
  const busy = errorOf(client().call('ackMessages', { body: { message_ids: [] } }));
  (await server.next()).answer(503, { code: 'store_unavailable' });
  expect(await busy).toMatchObject({ code: 'store_unavailable' });
  expect(server.exchanges).toHaveLength(2);
});

test.each([
  [503, { code: 'store_unavailable' }],
  [429, { code: 'rate_limited' }],
  [502, '<html>'],
  [504, '<html>'],
])('an answer of %i %j is followed by another attempt', async (status, body) => {
  const answer = client().call('sendMessage', hello);
  (await server.next()).answer(status, body);
  (await server.next()).answer(201, accepted);
  expect((await answer).status).toBe(201);
});

test.each([
  [502, { code: 'broker_contract' }],
  [500, { code: 'internal' }],
  [409, { code: 'mailbox_full' }],
])('an answer of %i %j is final', async (status, body) => {
  const failing = errorOf(client().call('sendMessage', hello));
  (await server.next()).answer(status, body);
  expect(await failing).toMatchObject({ code: body.code });
  expect(server.exchanges).toHaveLength(1);
});

test('Retry-After is waited for when it is short, and told to the caller when it is long', async () => {
  const pauses: number[] = [];
  const clock = makeManualClock();
  const after = (ms: number, run: () => void) => {
    const cancel = clock.after(ms, run);
    if (ms < 10_000) {
      pauses.push(ms);
      clock.advance(ms);
    }
    return cancel;
  };
  const patient = client({ clock: { ...clock, after }, random: () => 1 });
  const short = patient.call('getMe');
  (await server.next()).answer(429, { code: 'rate_limited' }, { 'Retry-After': '3' });
  (await server.next()).answer(503, { code: 'draining' });
  (await server.next()).answer(200, meOf());
  expect((await short).body.user_id).toBe('ada');
  expect(pauses).toEqual([3_200, 400]);

  const long = errorOf(patient.call('getMe'));
  (await server.next()).answer(429, { code: 'rate_limited' }, { 'Retry-After': '6' });
  expect(await long).toMatchObject({ code: 'rate_limited', extras: { retryAfterSeconds: 6 } });
  // A timer of more than 24 days would end at once.
  const hostile = errorOf(patient.call('getMe'));
  (await server.next()).answer(429, { code: 'rate_limited' }, { 'Retry-After': '999999999' });
  expect(await hostile).toMatchObject({ extras: { retryAfterSeconds: 86_400 } });
  for (const other of ['Wed, 21 Oct 2026 07:28:00 GMT', '-1', 'soon']) {
    const failed = errorOf(client({ clock, retries: 0 }).call('getMe'));
    (await server.next()).answer(429, { code: 'rate_limited' }, { 'Retry-After': other });
    expect(await failed).toMatchObject({ extras: { retryAfterSeconds: undefined } });
  }
});

test('an answer that does not come in time is given up', async () => {
  const clock = makeManualClock();
  const failing = errorOf(client({ clock, retries: 0, timeoutMs: 700 }).call('getMe'));
  const exchange = await server.next();
  exchange.accept();
  await exchange.write('{');
  clock.advance(700);
  expect(await failing).toMatchObject({ name: 'NoAnswerError', reason: 'timeout' });
  await exchange.gone;
  expect(clock.pending()).toBe(0);
});

test('a call that is not wanted any more ends with the reason of its signal', async () => {
  const controller = new AbortController();
  const failing = errorOf(client().call('clearClipboard', { signal: controller.signal }));
  const exchange = await server.next();
  controller.abort(new Error('the page was left'));
  expect(await failing).toEqual(new Error('the page was left'));
  await exchange.gone;
  expect(await errorOf(client().call('clearClipboard', { signal: controller.signal }))).toEqual(
    new Error('the page was left'),
  );
  expect(server.exchanges).toHaveLength(1);
});

test('a signal ends the wait between two attempts', async () => {
  const clock = makeManualClock();
  const controller = new AbortController();
  const pausing = makeInbox<number>(String);
  const after = (ms: number, run: () => void) => {
    pausing.push(ms);
    return clock.after(ms, run);
  };
  const patient = client({ clock: { ...clock, after }, random: () => 1 });
  const failing = errorOf(patient.call('getMe', { signal: controller.signal }));
  (await server.next()).answer(503, { code: 'draining' }, { 'Retry-After': '5' });
  await pausing.next((ms) => ms === 5_200);
  controller.abort(new Error('enough'));
  expect(await failing).toEqual(new Error('enough'));
  expect(clock.pending()).toBe(0);
});

test('what the headers of the caller throw is thrown as it is', async () => {
  const headers = () => Promise.reject(new Error('signed out'));
  expect(await errorOf(client({ headers }).call('getMe'))).toEqual(new Error('signed out'));
});
