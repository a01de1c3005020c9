import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { BatonError } from '../../../shared/contract/errors.ts';
import { recordStream, type Recorder } from '../../support/stream-recorder.ts';
import { id, message, ready } from './event-data.ts';
import { makeManualClock } from './manual-clock.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;
let recorder: Recorder;

const record = (options: Partial<Parameters<typeof recordStream>[0]> = {}) => {
  recorder = recordStream({ baseUrl: server.baseUrl, random: () => 0, ...options });
  return recorder;
};

beforeEach(async () => {
  server = await startScriptedServer();
});

afterEach(async () => {
  await recorder.stop();
  await server.stop();
});

async function accepted() {
  const exchange = await server.next();
  exchange.accept();
  return exchange;
}

test.each(['draining', 'rotate', 'slow', 'busy', 'store'] as const)(
  'told to reconnect (%s), a stream waits exactly as long as it was told',
  async (reason) => {
    const clock = makeManualClock();
    record({ clock, random: () => 1 });
    const first = await accepted();
    first.send('ready', ready({ resumed: false, reason: 'new' }), id(1));
    await recorder.next('ready');
    clock.advance(1_000);
    first.send('reconnect', { reason, retry_ms: 4_321 });
    expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'reconnect', delayMs: 4_321 });
    await first.gone; // without waiting for the server to close

    clock.advance(4_320);
    expect(server.exchanges).toHaveLength(1);
    clock.advance(1);
    expect((await server.next()).headers['last-event-id']).toBe(id(1));
  },
);

test('a stream that is told to reconnect as soon as it is open backs off nevertheless', async () => {
  record({ random: () => 1, onState: () => recorder?.stream.retryNow() });
  const delays: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const exchange = await accepted();
    exchange.send('reconnect', { reason: 'busy', retry_ms: 100 });
    delays.push((await recorder.nextState('waiting')).delayMs);
  }
  expect(delays).toEqual([600, 1_100, 2_100, 4_100]);
});

test('a stream that dies as soon as it is ready backs off further each time', async () => {
  const clock = makeManualClock();
  record({ clock, random: () => 1 });
  for (const delayMs of [500, 1_000, 2_000]) {
    const exchange = await accepted();
    exchange.send('ready', ready({ resumed: false, reason: 'new' }), id(1));
    await recorder.nextState('open');
    exchange.destroy();
    expect(await recorder.nextState('waiting')).toMatchObject({ delayMs });
    clock.advance(delayMs);
  }
});

test('a stream whose ready is not understood is none, unless it has had one that was', async () => {
  const clock = makeManualClock();
  record({ clock });
  (await accepted()).send('ready', { presence: 'nonsense' }, id(1));
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'not_a_stream' });
  clock.advance(0);

  const second = await accepted();
  second.send('ready', ready({ resumed: false, reason: 'new' }), id(2));
  second.send('ready', { presence: 'nonsense' }, id(3));
  second.send('message', message(4), id(4));
  await recorder.next('message');
  expect(server.exchanges).toHaveLength(2);
});

test('events behind a reconnect in the same chunk are left to the next connection', async () => {
  record();
  const exchange = await accepted();
  const frames = [
    `event: message\nid: ${id(1)}\ndata: ${JSON.stringify(message(1))}\n\n`,
    'event: reconnect\ndata: {"reason":"slow","retry_ms":0}\n\n',
    `event: message\nid: ${id(2)}\ndata: ${JSON.stringify(message(2))}\n\n`,
  ];
  await exchange.write(frames.join(''));
  expect((await server.next()).headers['last-event-id']).toBe(id(1));
  expect(recorder.events.map((event) => event.name)).toEqual(['message', 'reconnect']);
});

test('a superseded stream stays away until somebody asks for it', async () => {
  const clock = makeManualClock();
  record({ clock });
  const first = await accepted();
  first.send('ready', ready({ resumed: false, reason: 'new' }), id(1));
  first.send('reconnect', { reason: 'superseded', retry_ms: 60_000 });
  await recorder.nextState('superseded');
  await first.gone;
  expect(clock.pending()).toBe(0);
  clock.advance(600_000);
  expect(server.exchanges).toHaveLength(1);

  recorder.stream.retryNow();
  const second = await accepted();
  expect(second.headers['last-event-id']).toBe(id(1));
  second.send('reconnect', { reason: 'superseded', retry_ms: 60_000 });
  await recorder.nextState('superseded');
  recorder.stream.start();
  await server.next();
});

test('the retry field of the stream is waited for before coming back', async () => {
  const clock = makeManualClock();
  record({ clock, random: () => 0.5 });
  const exchange = await accepted();
  await exchange.write('retry: 3000\n\n');
  exchange.send('ready', ready());
  await recorder.next('ready');
  exchange.end();
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'ended', delayMs: 3_250 });
});

test.each([
  ['endless', '999999999999999'],
  ['no number', 'soon'],
])('a retry field that is %s does not keep a stream away', async (_, retry) => {
  const clock = makeManualClock();
  record({ clock });
  const exchange = await accepted();
  await exchange.write(`retry: ${retry}\n\n`);
  exchange.send('ready', ready());
  await recorder.next('ready');
  exchange.end();
  expect((await recorder.nextState('waiting')).delayMs).toBeLessThanOrEqual(120_000);
});

test('a stream without a byte for two and a half heartbeats is taken as dead and replaced', async () => {
  const clock = makeManualClock();
  record({ clock });
  const first = await accepted();
  first.send('ready', ready({ resumed: false, reason: 'new', heartbeat_ms: 1_000 }), id(1));
  await recorder.next('ready');
  clock.advance(2_000);
  first.send('ping', {}, id(2));
  await recorder.next('ping');
  clock.advance(2_499);
  first.send('ping', {}, id(3));
  await recorder.next('ping');
  expect(recorder.states.at(-1)).toEqual({ state: 'open' });

  clock.advance(2_500);
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'silent', delayMs: 0 });
  await first.gone;
  clock.advance(0);
  expect((await server.next()).headers['last-event-id']).toBe(id(3));
});

test('a comment is a sign of life', async () => {
  const clock = makeManualClock();
  record({ clock });
  const exchange = await accepted();
  exchange.send('ready', ready({ heartbeat_ms: 1_000 }));
  await recorder.next('ready');
  clock.advance(2_400);
  await exchange.write(':\n\nevent: restored\n');
  await exchange.write('data: {"reason":"store"}\n\n');
  await recorder.next('restored');
  clock.advance(2_400);
  expect(recorder.states.at(-1)).toEqual({ state: 'open' });
});

test('a clock that is set back does not keep a dead stream', async () => {
  const clock = makeManualClock();
  let setBackMs = 0;
  record({ clock: { ...clock, now: () => clock.now() - setBackMs } });
  const exchange = await accepted();
  exchange.send('ready', ready({ heartbeat_ms: 1_000 }));
  await recorder.next('ready');
  setBackMs = 3_600_000;
  clock.advance(5_000);
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'silent' });
});

test('a server that takes the request and never answers is given up', async () => {
  const clock = makeManualClock();
  record({ clock });
  const exchange = await server.next();
  clock.advance(37_500);
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'silent' });
  await exchange.gone;
});

test('a server that accepts connections and closes them is tried again and again', async () => {
  const closing = createServer((socket: Socket) => socket.destroy());
  closing.listen(0, '127.0.0.1');
  await once(closing, 'listening');
  const addresses = Array.from({ length: 5 }, () => `http://127.0.0.1:${(closing.address() as AddressInfo).port}`);
  record({ baseUrl: () => addresses.shift() ?? server.baseUrl, onState: () => recorder?.stream.retryNow() });
  const exchange = await accepted();
  exchange.send('ready', ready());
  await recorder.next('ready');
  const waits = recorder.states.filter(({ state }) => state === 'waiting');
  expect(waits).toHaveLength(5);
  expect(waits[0]).toMatchObject({ cause: 'network', error: { name: 'NoAnswerError', reason: 'network' } });
  closing.close();
  await once(closing, 'close');
});

test('a page in place of the stream is not taken for it', async () => {
  record();
  const exchange = await server.next();
  exchange.answer(200, '<html>', { 'Content-Type': 'text/html' });
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'not_a_stream' });
  await accepted();
});

test('a redirect is a refusal, and nobody is told who asked', async () => {
  const other = await startScriptedServer();
  record();
  const exchange = await server.next();
  exchange.answer(302, undefined, { Location: other.baseUrl });
  expect((await recorder.nextState('refused')).error?.message).toBe('Unexpected answer (HTTP 302)');
  expect(other.exchanges).toHaveLength(0);
  await other.stop();
});

test('a refusal is reported with its reason, and the stream keeps trying', async () => {
  const clock = makeManualClock();
  record({ clock });
  const first = await server.next();
  first.answer(401, { code: 'session_revoked', detail: 'This device was signed out', status: 401, request_id: 'r1' });
  const { error, delayMs } = await recorder.nextState('refused');
  expect(error).toBeInstanceOf(BatonError);
  expect(error).toMatchObject({ code: 'session_revoked', extras: { members: { request_id: 'r1' } } });
  expect(delayMs).toBe(0);
  clock.advance(0);
  const second = await accepted();
  second.send('ready', ready());
  await recorder.nextState('open');
});

test('an overloaded server is given the time that it asks for', async () => {
  const clock = makeManualClock();
  record({ clock });
  const exchange = await server.next();
  exchange.answer(503, { code: 'store_unavailable' }, { 'Retry-After': '7' });
  expect(await recorder.nextState('refused')).toMatchObject({ delayMs: 7_000, error: { code: 'store_unavailable' } });
  clock.advance(6_999);
  expect(server.exchanges).toHaveLength(1);
  clock.advance(1);
  await accepted();
});

test('a refusal whose text never ends is given up like any silent stream', async () => {
  const clock = makeManualClock();
  record({ clock });
  const exchange = await server.next();
  exchange.accept(503);
  await exchange.write('{"code":');
  clock.advance(37_500);
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'silent' });
  await exchange.gone;
});
