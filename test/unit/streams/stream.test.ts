import { Client, newStream } from './new-stream.ts';

const CHUNK = Buffer.from('event: ping\n\n');

/** Makes a stream whose client takes nothing until `drain`. */
function setUp() {
  const res = new Client();
  res.reads = false;
  const stream = newStream({ client: res });
  return { res, stream, socket: stream.socket };
}

test('a client that takes nothing for thirty seconds is too slow, one that took all of it in time is not', () => {
  const { res, socket } = setUp();
  expect(socket.write(CHUNK, 1_000)).toBe(false);
  expect(socket.writable).toBe(false);
  expect(socket.isTooSlow(31_000)).toBe(false);
  expect(socket.isTooSlow(31_001)).toBe(true);

  res.emit('drain');
  expect(socket.isTooSlow(31_001)).toBe(false);
});

test('the time counts from the first write that was not taken', () => {
  const { socket } = setUp();
  for (let at = 1_000; at <= 31_000; at += 10_000) socket.write(CHUNK, at);
  expect(socket.isTooSlow(31_001)).toBe(true);
});

test('a client with more than 512 KiB unsent is too slow at once', () => {
  const { socket } = setUp();
  socket.write(Buffer.alloc(512 * 1024), 1_000);
  expect(socket.isTooSlow(1_001)).toBe(false);
  socket.write(CHUNK, 1_001);
  expect(socket.isTooSlow(1_002)).toBe(true);
});

test('a client that hears much, but not how far it has come, is quiet', () => {
  const { res, stream, socket } = setUp();
  res.reads = true;
  stream.position.advance('1-1');
  stream.writePosition(CHUNK, 1_000);
  socket.write(CHUNK, 15_000);
  expect(stream.isQuiet(16_000, 15_000)).toBe(false);
  // An event for others passes silently.
  stream.position.advance('2-1');
  expect(stream.isQuiet(16_000, 15_000)).toBe(true);
  stream.writePosition(CHUNK, 16_000);
  expect(stream.isQuiet(30_999, 15_000)).toBe(false);
  expect(stream.isQuiet(31_000, 15_000)).toBe(true);
});
