import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { joinWrites } from '../../../services/server/redis/joined-writes.ts';

const { jest } = import.meta;

/** `writes`: what the socket took at once. */
function makeSocket() {
  const writes: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => done(void writes.push(chunk)),
    writev: (chunks, done) => done(void writes.push(chunks.map(({ chunk }) => String(chunk)).join(' '))),
  });
  return { writes, stream };
}

/** A client that writes each command to the socket that it has. */
function makeClient(stream: Writable | undefined) {
  const client = { stream, sendCommand: (command: string) => client.stream?.write(command) };
  joinWrites(client as unknown as Redis);
  return client;
}

function makeConnection() {
  const { writes, stream } = makeSocket();
  return { writes, stream, server: makeClient(stream) };
}

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => jest.restoreAllMocks());

test('commands go out together, in their order, as long as each turn of the event loop brings more', async () => {
  const { writes, server } = makeConnection();
  for (const command of ['first', 'second', 'third']) server.sendCommand(command);
  await Promise.resolve().then(() => server.sendCommand('fourth'));
  await nextTurn();
  server.sendCommand('fifth');
  expect(writes).toEqual([]);
  await nextTurn();
  expect(writes).toEqual([]);
  await nextTurn();
  expect(writes).toEqual(['first second third fourth fifth']);
});

test('one after which nothing comes waits for a single turn', async () => {
  const { writes, server } = makeConnection();
  server.sendCommand('first');
  await nextTurn();
  expect(writes).toEqual([]);
  await nextTurn();
  server.sendCommand('second');
  expect(writes).toEqual(['first']);
  await nextTurn();
  await nextTurn();
  expect(writes).toEqual(['first', 'second']);
});

test('after a millisecond it waits for no further turn, also where commands come without end', async () => {
  const { writes, server } = makeConnection();
  for (; nowMs < 1; nowMs += 0.25) {
    server.sendCommand(String(nowMs));
    await nextTurn();
    expect(writes).toEqual([]);
  }
  server.sendCommand('last');
  await nextTurn();
  expect(writes).toEqual(['0 0.25 0.5 0.75 last']);
});

test('a connection that ends in the same turn takes nobody with it', async () => {
  const { writes, stream, server } = makeConnection();
  server.sendCommand('first');
  stream.destroy();
  await nextTurn();
  await nextTurn();
  expect(writes).toEqual([]);
});

test('each connection of a client writes what it was given', async () => {
  const [first, second] = [makeSocket(), makeSocket()];
  const client = makeClient(undefined);
  client.sendCommand('before there is a connection');
  client.stream = first.stream;
  client.sendCommand('one');
  client.stream = second.stream;
  client.sendCommand('two');
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect([first.writes, second.writes]).toEqual([['one'], ['two']]);
  expect(first.stream.writableCorked + second.stream.writableCorked).toBe(0);
});
