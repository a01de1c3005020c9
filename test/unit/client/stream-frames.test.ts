import { recordStream, type Recorder } from '../../support/stream-recorder.ts';
import { id, message, ready } from './event-data.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

let server: ScriptedServer;
let recorder: Recorder;

beforeEach(async () => {
  server = await startScriptedServer();
  recorder = recordStream({ baseUrl: server.baseUrl, random: () => 0 });
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

test.each(['é', '漢', '👋'])(
  'the character %s arrives whole when it is torn apart between two chunks',
  async (character) => {
    const exchange = await accepted();
    const [head = '', tail = ''] = JSON.stringify(message(1, { content: `a${character}z` })).split(character);
    const start = `event: ping\ndata: {}\n\nevent: message\r\nid: ${id(1)}\r\ndata: ${head}`;
    const bytes = new TextEncoder().encode(`${start}${character}${tail}\r\n\r\n`);
    const torn = new TextEncoder().encode(start).length + 1;
    await exchange.write(bytes.subarray(0, torn));
    // The ping shows that the first half of the character was read before the second is sent.
    await recorder.next('ping');
    await exchange.write(bytes.subarray(torn));
    expect((await recorder.next('message')).data.content).toBe(`a${character}z`);
  },
);

test.each([
  ['an event of a newer server', 'event: hologram\ndata: {"depth":3}\n\n'],
  ['data that is no JSON', 'event: message\ndata: {"message_id":\n\n'],
  ['data that is no object', 'event: message\ndata: [1]\n\n'],
  ['a frame without a name', 'data: {}\n\n'],
  ['bytes that are no text', Uint8Array.of(0xff, 0xfe, 0x00, 0x80, 0x0a, 0x0a)],
  ['a field that nobody knows', 'colour: red\nevent: ping\n\n'],
  ['the name of an inherited property', 'event: toString\ndata: {}\n\n'],
])('%s does not disturb the events behind it', async (_, garbage) => {
  const exchange = await accepted();
  await exchange.write(garbage);
  exchange.send('message', message(1), id(1));
  await recorder.next('message');
  expect(recorder.events).toHaveLength(1);
});

test('an event that is not understood moves the position all the same', async () => {
  const exchange = await accepted();
  exchange.send('hologram', {}, id(8));
  exchange.send('restored', { reason: 'store' });
  await recorder.next('restored');
  expect(recorder.stream.lastEventId).toBe(id(8));
});

test.each([
  ['no header can carry', 'ü\u0001'],
  ['is longer than the server takes', 'x'.repeat(129)],
])('an id that %s does not become the position', async (_, odd) => {
  const exchange = await accepted();
  exchange.send('ping', {}, id(1));
  exchange.send('ping', {}, odd);
  await recorder.next('ping', (event) => event.id === odd);
  exchange.destroy();
  expect((await server.next()).headers['last-event-id']).toBe(id(1));
});

test('an empty id forgets the position', async () => {
  const exchange = await accepted();
  exchange.send('ping', {}, id(1));
  exchange.send('ping', {}, '');
  await recorder.next('ping', (event) => event.id === null);
  exchange.destroy();
  expect((await server.next()).headers['last-event-id']).toBeUndefined();
});

test('a frame beyond a megabyte ends the connection, and the next one goes on', async () => {
  const exchange = await accepted();
  exchange.send('ready', ready({ resumed: false, reason: 'new' }), id(1));
  await exchange.write('event: message\ndata: ');
  const flood = 'x'.repeat(64 * 1024);
  for (let sent = 0; sent < 20; sent += 1) void exchange.write(flood);
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'oversized' });
  await exchange.gone;
  const second = await accepted();
  expect(second.headers['last-event-id']).toBe(id(1));
  second.send('message', message(1), id(2));
  await recorder.next('message');
});

test('a megabyte in many lines of one frame is too much as well', async () => {
  const exchange = await accepted();
  const line = `data: ${'x'.repeat(1_000)}\n`.repeat(64);
  for (let sent = 0; sent < 20; sent += 1) void exchange.write(line);
  expect(await recorder.nextState('waiting')).toMatchObject({ cause: 'oversized' });
});

test('a frame that was cut off is not handed out', async () => {
  const exchange = await accepted();
  await exchange.write(`event: message\nid: ${id(1)}\ndata: ${JSON.stringify(message(1))}\n`);
  exchange.end();
  const second = await accepted();
  expect(second.headers['last-event-id']).toBeUndefined();
  second.send('message', message(2), id(2));
  await recorder.next('message');
  expect(recorder.events.map((event) => event.id)).toEqual([id(2)]);
});
