import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Stream } from '../../../services/sync/streams/stream.ts';
import type { Caller } from '../../../services/sync/identity/caller.ts';

const CHUNK = Buffer.from('event: ping\n\n');

/** A response whose client takes nothing until `drain`. */
class Unread extends EventEmitter {
  writableLength = 0;
  writes = 0;
  write(chunk: Buffer): boolean {
    this.writes += 1;
    this.writableLength += chunk.length;
    return false;
  }
}

function setUp() {
  const res = new Unread();
  const stream = new Stream(res as unknown as ServerResponse, { account: 'ann' } as Caller, 'phone');
  return { res, stream };
}

test('a client that takes nothing for thirty seconds is too slow, one that took all of it in time is not', () => {
  const { res, stream } = setUp();
  expect(stream.write(CHUNK, 1_000)).toBe(false);
  expect(stream.writable).toBe(false);
  expect(stream.isTooSlow(31_000)).toBe(false);
  expect(stream.isTooSlow(31_001)).toBe(true);

  res.emit('drain');
  expect(stream.isTooSlow(31_001)).toBe(false);
});

test('the time counts from the first write that was not taken', () => {
  const { stream } = setUp();
  for (let at = 1_000; at <= 31_000; at += 10_000) stream.write(CHUNK, at);
  expect(stream.isTooSlow(31_001)).toBe(true);
});

test('a client with more than 512 KiB unsent is too slow at once', () => {
  const { stream } = setUp();
  stream.write(Buffer.alloc(512 * 1024), 1_000);
  expect(stream.isTooSlow(1_001)).toBe(false);
  stream.write(CHUNK, 1_001);
  expect(stream.isTooSlow(1_002)).toBe(true);
});

test('a client that hears much, but not how far it has come, is quiet', () => {
  const { res, stream } = setUp();
  res.write = () => true;
  stream.advance('1-1');
  stream.writePosition(CHUNK, 1_000);
  stream.write(CHUNK, 15_000);
  expect(stream.isQuiet(16_000, 15_000)).toBe(false);
  // Of others: it passed without a word.
  stream.advance('2-1');
  expect(stream.isQuiet(16_000, 15_000)).toBe(true);
  stream.writePosition(CHUNK, 16_000);
  expect(stream.isQuiet(30_999, 15_000)).toBe(false);
  expect(stream.isQuiet(31_000, 15_000)).toBe(true);
});
