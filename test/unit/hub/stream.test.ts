import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Stream } from '../../../services/sync/hub/stream.ts';
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

test('a client that owes us more than 512 KiB is too slow at once', () => {
  const { stream } = setUp();
  stream.write(Buffer.alloc(512 * 1024), 1_000);
  expect(stream.isTooSlow(1_001)).toBe(false);
  stream.write(CHUNK, 1_001);
  expect(stream.isTooSlow(1_002)).toBe(true);
});
