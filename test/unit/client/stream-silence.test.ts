import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Connection, openConnection } from '../../../shared/client/stream/connection.ts';
import { makeManualClock } from './manual-clock.ts';

const clock = makeManualClock();

/** Opens a stream that says nothing and expects a heartbeat every second. */
function silentStream(): Connection {
  const send = (signal: AbortSignal) =>
    new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  return openConnection({ send, heartbeatMs: 1_000, clock, onFrame: () => undefined });
}

/** Checks how long the stream may be silent: it is still open one millisecond earlier. Returns the cause of its end. */
async function silenceOf(stream: Connection, ms: number): Promise<string> {
  clock.advance(ms - 1);
  // This waits for a turn, because a stream ends within several microtasks.
  const early = await Promise.race([stream.over, nextTurn(null)]);
  clock.advance(1);
  const { cause } = await stream.over;
  return early === null ? cause : 'too early';
}

test('a stream is silent after two and a half heartbeats without a byte', async () => {
  expect(await silenceOf(silentStream(), 2_500)).toBe('silent');
});

test.each([10, 600_000])('a heartbeat of %d ms is taken', async (heartbeatMs) => {
  const stream = silentStream();
  stream.setHeartbeat(heartbeatMs);
  expect(await silenceOf(stream, heartbeatMs * 2.5)).toBe('silent');
});

test.each([9, 600_001, 0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a heartbeat of %d ms is an error of the server, and the one before stays',
  async (heartbeatMs) => {
    const stream = silentStream();
    stream.setHeartbeat(heartbeatMs);
    expect(await silenceOf(stream, 2_500)).toBe('silent');
  },
);
