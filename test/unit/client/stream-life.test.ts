import { getEventListeners } from 'node:events';
import { makeStream } from '../../../shared/client/stream/stream.ts';
import { recordStream, type Recorder } from '../../support/stream-recorder.ts';
import { id, message, ready } from './event-data.ts';
import { makeManualClock } from './manual-clock.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;

beforeEach(async () => {
  server = await startScriptedServer();
});

afterEach(() => server.stop());

const record = (options: Partial<Parameters<typeof recordStream>[0]> = {}) =>
  recordStream({ baseUrl: server.baseUrl, random: () => 0, ...options });

async function opened(recorder: Recorder) {
  const exchange = await server.next();
  exchange.accept();
  exchange.send('ready', ready({ resumed: false, reason: 'new', heartbeat_ms: 20_000 }), id(1));
  await recorder.next('ready');
  return exchange;
}

test('stop on an open stream closes its connection and leaves no timer', async () => {
  const clock = makeManualClock();
  const recorder = record({ clock });
  const exchange = await opened(recorder);
  await recorder.stop();
  await exchange.gone;
  expect(clock.pending()).toBe(0);
  expect(recorder.stream.state).toEqual({ state: 'stopped' });
  expect(recorder.states.map(({ state }) => state)).toEqual(['connecting', 'open', 'stopped']);
});

test('stop while the server has not answered yet closes the connection', async () => {
  const clock = makeManualClock();
  const recorder = record({ clock });
  const exchange = await server.next();
  await recorder.stop();
  await exchange.gone;
  expect(clock.pending()).toBe(0);
});

test('stop while waiting for the next attempt ends the wait', async () => {
  const clock = makeManualClock();
  const recorder = record({ clock });
  (await opened(recorder)).destroy();
  await recorder.nextState('waiting');
  expect(clock.pending()).toBe(1);
  await recorder.stop();
  expect(clock.pending()).toBe(0);
  expect(server.exchanges).toHaveLength(1);
});

test('stop does not wait for headers that never come', async () => {
  const recorder = record({ headers: () => new Promise(() => {}) });
  await recorder.nextState('connecting');
  await recorder.stop();
  expect(server.exchanges).toHaveLength(0);
});

test('stop of a superseded stream ends it', async () => {
  const recorder = record();
  const exchange = await opened(recorder);
  exchange.send('reconnect', { reason: 'superseded', retry_ms: 60_000 });
  await recorder.nextState('superseded');
  await recorder.stop();
  expect(recorder.stream.state).toEqual({ state: 'stopped' });
});

test('stop twice, before the start, and after the stop does no harm', async () => {
  const stream = makeStream({ baseUrl: server.baseUrl, onEvent: () => {} });
  await stream.stop();
  stream.start();
  await Promise.all([stream.stop(), stream.stop()]);
  await stream.stop();
  expect(stream.state).toEqual({ state: 'stopped' });
});

test('start twice opens one connection', async () => {
  const recorder = record();
  recorder.stream.start();
  await opened(recorder);
  recorder.stream.start();
  await recorder.stop();
  expect(server.exchanges).toHaveLength(1);
});

test('a start right behind a stop waits for the old connection to end', async () => {
  const recorder = record();
  const first = await opened(recorder);
  const stopped = recorder.stop();
  recorder.stream.start();
  await stopped;
  await first.gone;
  const second = await server.next();
  expect(second.headers['last-event-id']).toBe(id(1));
  expect(recorder.states.map(({ state }) => state)).toEqual(['connecting', 'open', 'stopped', 'connecting']);
  await recorder.stop();
});

test('no event is handed out after stop, not even one of the same chunk', async () => {
  const names: string[] = [];
  const stream = makeStream({
    baseUrl: server.baseUrl,
    onEvent({ name }) {
      names.push(name);
      void stream.stop();
    },
  });
  stream.start();
  const exchange = await server.next();
  exchange.accept();
  const frame = (number: number) => `event: message\ndata: ${JSON.stringify(message(number))}\n\n`;
  await exchange.write(frame(1) + frame(2));
  await exchange.gone;
  await stream.stop();
  expect(names).toEqual(['message']);
});

test('what a receiver of events throws is its own uncaught error, and the stream goes on', async () => {
  const original = globalThis.queueMicrotask;
  const uncaught: (() => void)[] = [];
  globalThis.queueMicrotask = (run) => void uncaught.push(run);
  const stream = makeStream({
    baseUrl: server.baseUrl,
    onEvent({ name }) {
      if (name === 'message') throw new Error('the application is wrong');
      globalThis.queueMicrotask = original;
      void stream.stop();
    },
  });
  stream.start();
  const exchange = await server.next();
  exchange.accept();
  exchange.send('message', message(1), id(1));
  exchange.send('ping', {}, id(2));
  await exchange.gone;
  await stream.stop();
  expect(stream.lastEventId).toBe(id(2));
  expect(uncaught).toHaveLength(1);
  expect(uncaught[0]).toThrow('the application is wrong');
});

describe('in a page', () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const frame = new EventTarget();

  beforeEach(() => {
    Object.assign(globalThis, { document: page, window: frame });
  });

  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'document');
    Reflect.deleteProperty(globalThis, 'window');
  });

  const shown = (visibilityState: 'visible' | 'hidden') => {
    page.visibilityState = visibilityState;
    page.dispatchEvent(new Event('visibilitychange'));
  };
  const restored = (persisted: boolean) => frame.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));

  test.each([
    ['shown again', () => shown('visible')],
    ['restored from the cache', () => restored(true)],
  ])('a stream that has heard nothing for a heartbeat is replaced when the page is %s', async (_, wake) => {
    const clock = makeManualClock();
    const recorder = record({ clock, random: () => 1 });
    const first = await opened(recorder);
    clock.advance(20_001);
    shown('hidden');
    restored(false);
    expect(recorder.stream.state).toEqual({ state: 'open' });
    wake();
    expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'woken', delayMs: 0 });
    await first.gone;
    clock.advance(0);
    expect((await server.next()).headers['last-event-id']).toBe(id(1));
    await recorder.stop();
  });

  test('a silent stream stays when its page is hidden, or shown for the first time', async () => {
    const clock = makeManualClock();
    const recorder = record({ clock });
    const exchange = await opened(recorder);
    clock.advance(20_001);
    shown('hidden');
    restored(false);
    // A replaced stream no longer hands out anything.
    exchange.send('message', message(2), id(2));
    await recorder.next('message');
    await recorder.stop();
    expect(server.exchanges).toHaveLength(1);
  });

  test.each(['document', 'window'])('a program that has no %s has no page, and its stream opens', async (name) => {
    Reflect.deleteProperty(globalThis, name);
    const recorder = record();
    await opened(recorder);
    expect(recorder.stream.state).toEqual({ state: 'open' });
    await recorder.stop();
  });

  test('a stream that was heard a moment ago is left alone', async () => {
    const clock = makeManualClock();
    const recorder = record({ clock });
    const exchange = await opened(recorder);
    clock.advance(20_000);
    shown('visible');
    exchange.send('ping', {}, id(2));
    await recorder.next('ping');
    await recorder.stop();
    expect(server.exchanges).toHaveLength(1);
  });

  test('a page that is shown again does not sit out a wait', async () => {
    const clock = makeManualClock();
    const recorder = record({ clock, random: () => 1 });
    (await opened(recorder)).destroy();
    await recorder.nextState('waiting');
    shown('visible');
    expect((await server.next()).headers['last-event-id']).toBe(id(1));
    await recorder.stop();
  });

  test('a superseded stream stays away when its page is shown again', async () => {
    const clock = makeManualClock();
    const recorder = record({ clock });
    (await opened(recorder)).send('reconnect', { reason: 'superseded', retry_ms: 60_000 });
    await recorder.nextState('superseded');
    shown('visible');
    const other = fetch(server.baseUrl);
    (await server.next()).answer(204);
    await other;
    expect(recorder.stream.state).toEqual({ state: 'superseded' });
    await recorder.stop();
  });

  test('a stopped stream no longer listens to its page', async () => {
    const listeners = () =>
      getEventListeners(page, 'visibilitychange').length +
      getEventListeners(frame, 'pageshow').length +
      getEventListeners(frame, 'online').length;
    const recorder = record();
    await opened(recorder);
    expect(listeners()).toBe(3);
    await recorder.stop();
    expect(listeners()).toBe(0);
  });
});
