import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import type { BatonClientError } from '../../../shared/client/index.ts';
import { meOf, uuid } from './answers.ts';
import { message, presence, ready } from './event-data.ts';
import { type Exchange, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

/* Clients make paths of requests and of files from what the service sends, so they check it when it comes in. */

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.stop());

const transfer = (given: object = {}) => ({
  ...{ transfer_id: uuid(1), state: 'PENDING', mode: 'relay', phase: 'initializing' },
  ...{ sender: { device_id: 'phone-0001', name: 'Phone' }, receiver: { device_id: 'laptop-0001', name: 'Laptop' } },
  files: [{ index: 0, name: 'a.txt', size: 1, type: null, sha256: null }],
  ...{ file_count: 1, total_bytes: 1, sealed: null, progress: { sent_bytes: 0, received_bytes: 0 }, error: null },
  ...{ created_at: 1, updated_at: 1, expires_at: 2 },
  ...given,
});
const file = (given: object) => ({ files: [{ index: 0, name: 'a.txt', size: 1, type: null, sha256: null, ...given }] });
const relayUrl = `/api/relay/${uuid(1)}/0/1`;

/** Makes a client whose stream is open, and collects what it is told. */
async function opened() {
  const client = makeBatonClient({ baseUrl: server.baseUrl });
  const problems: BatonClientError[] = [];
  const events: string[] = [];
  client.on('problem', (problem) => problems.push(problem));
  client.on('event', ({ name }) => events.push(name));
  client.start();
  const stream = await server.next();
  stream.accept();
  stream.send('ready', { ...ready(), device: null });
  await client.untilOnline();
  await answerRefetch();
  return { client, problems, events, stream };
}

/** Answers the reading of devices or of the clipboard that comes with a new stream. */
async function answerRefetch(): Promise<void> {
  const exchange = await server.next();
  exchange.answer(200, { devices: [] });
}

/** Waits for an event that is sent after the others. */
async function untilTaken(stream: Exchange, events: readonly string[], version: number): Promise<void> {
  const before = events.filter((name) => name === 'presence').length;
  stream.send('presence', presence(version));
  while (events.filter((name) => name === 'presence').length === before) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const INCOMING: readonly (readonly [string, object])[] = [
  ['a transfer id that is a path', { transfer_id: '../../X' }],
  ['a transfer id of other letters', { transfer_id: `${uuid(1)}/../x` }],
  ['a sender without an id', { sender: { device_id: '..', name: 'Phone' } }],
  ['a name that moves the cursor', { sender: { device_id: 'phone-0001', name: '\x1b[1A' } }],
  ['a file number that is negative', file({ index: -1 })],
  ['a file number that is a path', file({ index: '../0' })],
  ['a file number beyond the last', file({ index: 1_000 })],
  ['a digest that is a path', file({ sha256: '../../../../tmp/x' })],
  ['a size that is no number', file({ size: '1' })],
  ['a size below nothing', file({ size: -1 })],
  ['a size beyond what is exact', file({ size: 2 ** 60 })],
  ['a file without a name', file({ name: null })],
  ['files that are no list', { files: { 0: {} } }],
  ['an upload to another host', { uploads: [{ index: 0, upload_url: 'https://evil.example/x', offset: 0 }] }],
  ['an upload to a host without a scheme', { uploads: [{ index: 0, upload_url: '//evil.example/x', offset: 0 }] }],
  ['an upload to what becomes a host', { uploads: [{ index: 0, upload_url: '@evil.example/x', offset: 0 }] }],
  ['an upload to another path', { uploads: [{ index: 0, upload_url: '/api/me/data', offset: 0 }] }],
  ['an upload by way of another path', { uploads: [{ index: 0, upload_url: `${relayUrl}/../../../x`, offset: 0 }] }],
  ['an upload with a query', { uploads: [{ index: 0, upload_url: `${relayUrl}?x`, offset: 0 }] }],
  ['an upload with a line end', { uploads: [{ index: 0, upload_url: `${relayUrl}\n`, offset: 0 }] }],
  ['a download from another host', { downloads: [{ index: 0, download_url: 'https://evil.example/x' }] }],
];

test.each(INCOMING)('an offer with %s is left out, and said', async (_, given) => {
  const { client, problems, events, stream } = await opened();
  stream.send('transfer:incoming', { transfer: transfer(given), redelivered: false }, '1700000000001-0');
  await untilTaken(stream, events, 2);
  expect(problems.map(({ code, action }) => [code, action])).toEqual([['unexpected_answer', 'tell-user']]);
  expect(events).not.toContain('transfer:incoming');
  // The events after it are worth more, so the client does not ask for it again.
  expect(client.lastEventId).toBe('1700000000001-0');
  expect(server.exchanges.filter(({ url }) => url.startsWith('/api/transfer'))).toEqual([]);
  await client.close();
});

test.each([
  ['message', { ...message(1), message_id: '../1' }],
  ['message', { ...message(1), content: { toString: 'x' } }],
  ['message:delivered', { message_ids: ['x'], by_device_id: 'phone-0001', by_name: 'Phone', at: 1 }],
  ['presence', { version: 'latest', devices: [] }],
  ['presence', { version: 9, devices: [{ device_id: '../x', name: 'P', type: 'ios', online: true, last_seen_at: 1 }] }],
  ['signal', { from_device_id: 'phone-0001', from_name: 'P', transfer_id: '..', kind: 'offer', payload: {} }],
  ['relay:rewind', { transfer_id: uuid(1), index: 0, upload_url: 'http://evil.example/', offset: 0 }],
  ['relay:rewind', { transfer_id: uuid(1), index: 0, upload_url: relayUrl, offset: -1 }],
  ['device:removed', { device_id: 7 }],
  ['session:revoked', {}],
  ['clipboard', []],
  ['clipboard', null],
])('an event %s of another form is left out, and said: %j', async (name, data) => {
  const { client, problems, events, stream } = await opened();
  stream.send(name, data);
  await untilTaken(stream, events, 2);
  expect(problems.map(({ code }) => code)).toEqual(['unexpected_answer']);
  expect(client.state).toBe('online');
  await client.close();
});

test('words that only a newer service knows, and fields beside the known, are taken', async () => {
  const { client, problems, events, stream } = await opened();
  const newer = { ...transfer({ phase: 'ice_restarting', mode: 'quic' }), colour: 'blue' };
  stream.send('transfer:updated', { transfer: newer, more: 1 });
  const entry = { device_id: 'watch-0001', name: 'Watch', type: 'watch', online: true, last_seen_at: null };
  stream.send('presence', { version: 2, devices: [entry] });
  stream.send('colour', { is: 'new' });
  await untilTaken(stream, events, 3);
  expect(problems).toEqual([]);
  expect(events).toEqual(['ready', 'transfer:updated', 'presence', 'presence']);
  await client.close();
});

test('a stream that begins with nonsense is none', async () => {
  const client = makeBatonClient({ baseUrl: server.baseUrl });
  const problem = new Promise((resolve) => {
    client.on('problem', resolve);
  });
  const states: string[] = [];
  client.on('state', (state) => states.push(state));
  client.start();
  const stream = await server.next();
  stream.accept();
  stream.send('ready', { ...ready(), device: { device_id: '..', name: 'x', type: 'ios' } });
  await stream.gone;
  expect(await problem).toMatchObject({ code: 'unexpected_answer' });
  while (!states.includes('offline')) await new Promise((resolve) => setImmediate(resolve));
  expect(states).not.toContain('online');
  await client.close();
});

test.each([
  ['me', { ...meOf(), device: { device_id: '../x', name: 'x', type: 'linux' } }],
  ['me', { ...meOf(), origins: ['https://service/path'] }],
  ['me', { ...meOf(), origins: [] }],
  ['me', { ...meOf(), limits: { message_bytes: '4096' } }],
  ['me', { ...meOf(), user_id: 'x'.repeat(10_000) }],
  ['me', []],
  ['me', null],
  ['incoming', { transfer: transfer({ transfer_id: '../../X' }) }],
  ['incoming', { transfer: transfer(file({ sha256: '/etc/passwd' })) }],
  [
    'devices',
    {
      devices: [
        { device_id: '..', name: 'x', type: 'ios', online: true, current: false, created_at: 1, last_seen_at: 1 },
      ],
    },
  ],
  ['messages', { messages: [{ ...message(1), message_id: '..' }] }],
])('an answer to %s of another form is an error: %j', async (name, answer) => {
  const client = makeBatonClient({ baseUrl: server.baseUrl });
  const calls: Record<string, () => Promise<unknown>> = {
    me: () => client.me(),
    incoming: () => client.transfers.incoming(uuid(1)),
    devices: () => client.devices.list(),
    messages: () => client.messages.list(),
  };
  const failing = calls[name]?.().catch((error: unknown) => error);
  (await server.next()).answer(200, answer);
  expect(await failing).toMatchObject({ code: 'unexpected_answer', action: 'tell-user' });
});

test.each(['.', '..', ''])('an id "%s" is no part of a path', async (id) => {
  const client = makeBatonClient({ baseUrl: server.baseUrl });
  await expect(client.transfers.get(id)).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(client.devices.remove(id)).rejects.toMatchObject({ code: 'invalid_request' });
  expect(server.exchanges).toEqual([]);
});
