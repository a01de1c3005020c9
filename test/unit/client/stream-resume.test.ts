import { recordStream, type Recorder } from '../../support/stream-recorder.ts';
import { id, message, presence, ready } from './event-data.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;
let recorder: Recorder;

/** Records a stream that reconnects without waiting. */
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

test('a cut stream resumes behind the last event that it received', async () => {
  record({ headers: { 'X-Dev-User': 'ada' }, query: { name: 'Phone' } });
  const first = await accepted();
  expect(first.url).toBe('/api/hub/events?name=Phone');
  expect(first.headers['x-dev-user']).toBe('ada');
  expect(first.headers['accept']).toBe('text/event-stream');
  expect(first.headers['last-event-id']).toBeUndefined();
  first.send('ready', ready({ resumed: false, reason: 'new' }), id(1));
  first.send('message', message(1), id(2));
  await recorder.next('message');
  first.destroy();

  const second = await accepted();
  expect(second.headers['last-event-id']).toBe(id(2));
  second.send('ready', ready());
  second.send('message', message(2), id(3));
  const next = await recorder.next('message');
  expect([next.id, next.data.content]).toEqual([id(3), 'message 2']);
});

test('a ping moves the position of a quiet stream', async () => {
  record();
  const first = await accepted();
  first.send('ready', ready({ resumed: false, reason: 'new' }), id(1));
  first.send('ping', {}, id(7));
  await recorder.next('ping');
  first.end();
  expect((await server.next()).headers['last-event-id']).toBe(id(7));
});

test('a position that the server has lost is replaced by the one of its ready', async () => {
  record({ lastEventId: id(50) });
  const first = await accepted();
  expect(first.headers['last-event-id']).toBe(id(50));
  first.send('ready', ready({ resumed: false, reason: 'store_lost' }), id(3));
  await recorder.next('ready');
  first.destroy();
  expect((await server.next()).headers['last-event-id']).toBe(id(3));
});

test('a ready without id leaves the position where it was', async () => {
  record({ lastEventId: id(5) });
  const first = await accepted();
  first.send('ready', ready());
  await recorder.next('ready');
  first.destroy();
  expect((await server.next()).headers['last-event-id']).toBe(id(5));
});

test('the position survives stop and start', async () => {
  record();
  const first = await accepted();
  first.send('message', message(1), id(4));
  await recorder.next('message');
  await recorder.stop();
  expect(recorder.stream.lastEventId).toBe(id(4));
  recorder.stream.start();
  expect((await server.next()).headers['last-event-id']).toBe(id(4));
});

test('every attempt asks for the address and the headers anew', async () => {
  const other = await startScriptedServer();
  const addresses = [server.baseUrl, other.baseUrl];
  let token = 0;
  record({
    baseUrl: () => addresses.shift() ?? other.baseUrl,
    headers: async () => ({ Authorization: `Bearer ${(token += 1)}` }),
  });
  const first = await accepted();
  first.send('ready', ready({ resumed: false, reason: 'new' }), id(1));
  await recorder.next('ready');
  first.destroy();
  const second = await other.next();
  expect([first.headers.authorization, second.headers.authorization]).toEqual(['Bearer 1', 'Bearer 2']);
  expect(second.headers['last-event-id']).toBe(id(1));
  await recorder.stop();
  await other.stop();
});

test('an event that comes again under the same id is handed out once', async () => {
  record();
  const first = await accepted();
  first.send('clipboard:cleared', {}, id(1));
  first.send('clipboard:cleared', {}, id(2));
  await recorder.next('clipboard:cleared', (event) => event.id === id(2));
  first.destroy();
  const second = await accepted();
  second.send('clipboard:cleared', {}, id(1));
  second.send('clipboard:cleared', {}, id(2));
  second.send('clipboard:cleared', {}, id(3));
  await recorder.next('clipboard:cleared', (event) => event.id === id(3));
  expect(recorder.events.map((event) => event.id)).toEqual([id(1), id(2), id(3)]);
});

test('a message that is redelivered without id is handed out once', async () => {
  record();
  const exchange = await accepted();
  exchange.send('message', message(1), id(1));
  exchange.send('message', message(1, { redelivered: true }));
  exchange.send('message', message(2, { redelivered: true }));
  exchange.send('message', message(2), id(2));
  exchange.send('message', message(3), id(3));
  await recorder.next('message', (event) => event.id === id(3));
  expect(recorder.events.map((event) => event.id)).toEqual([id(1), null, id(3)]);
});

test('a caller who wants duplicates gets them, marked', async () => {
  record({ dropDuplicates: false });
  const exchange = await accepted();
  exchange.send('message', message(1), id(1));
  exchange.send('message', message(1, { redelivered: true }));
  exchange.send('message', message(1), id(1));
  exchange.send('message', message(2), id(2));
  await recorder.next('message', (event) => event.id === id(2));
  expect(recorder.events.map((event) => event.duplicate)).toEqual([false, true, true, false]);
});

test('a ping with the id of an event is no duplicate of it, nor the event of the ping', async () => {
  record();
  const exchange = await accepted();
  exchange.send('ping', {}, id(1));
  exchange.send('message', message(1), id(1));
  exchange.send('ping', {}, id(1));
  exchange.send('ping', {}, id(2));
  await recorder.next('ping', (event) => event.id === id(2));
  expect(recorder.events.map((event) => event.name)).toEqual(['ping', 'message', 'ping', 'ping']);
});

test('presence older than what was seen is dropped, and a ready begins anew', async () => {
  record();
  const exchange = await accepted();
  exchange.send('ready', ready({ presence: presence(10) }));
  for (const version of [9, 10, 12, 11]) exchange.send('presence', presence(version));
  exchange.send('ready', ready({ presence: presence(3) }));
  for (const version of [2, 4]) exchange.send('presence', presence(version));
  await recorder.next('presence', (event) => event.data.version === 4);
  const versions = recorder.events.map((event) => (event.name === 'presence' ? event.data.version : event.name));
  expect(versions).toEqual(['ready', 10, 12, 'ready', 4]);
});
