import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { joinWrites } from '../../../services/server/redis/joined-writes.ts';

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

test('commands of one turn of the event loop are one write, in their order', async () => {
  const { writes, server } = makeConnection();
  for (const command of ['first', 'second', 'third']) server.sendCommand(command);
  await Promise.resolve().then(() => server.sendCommand('fourth'));
  expect(writes).toEqual([]);
  await nextTurn();
  server.sendCommand('fifth');
  await nextTurn();
  expect(writes).toEqual(['first second third fourth', 'fifth']);
});

test('a connection that ends in the same turn takes nobody with it', async () => {
  const { writes, stream, server } = makeConnection();
  server.sendCommand('first');
  stream.destroy();
  await nextTurn();
  expect(writes).toEqual([]);
});
