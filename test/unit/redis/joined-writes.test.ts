import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { joinWrites } from '../../../services/server/redis/joined-writes.ts';

const { jest } = import.meta;

/** A connection that writes each command to its socket; `writes`: what the socket took at once. */
function makeConnection() {
  const writes: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => done(void writes.push(chunk)),
    writev: (chunks, done) => done(void writes.push(chunks.map(({ chunk }) => String(chunk)).join(' '))),
  });
  const server = { stream, sendCommand: (command: string) => stream.write(command) };
  joinWrites(server as unknown as Redis);
  return { writes, stream, server };
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
  await nextTurn();
  server.sendCommand('second');
  expect(writes).toEqual(['first']);
  await nextTurn();
  await nextTurn();
  expect(writes).toEqual(['first', 'second']);
});

test('it waits for a millisecond at most, also where commands come without end', async () => {
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
