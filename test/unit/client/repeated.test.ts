import { setImmediate as turn } from 'node:timers/promises';
import { makeBatonClient } from '../../../shared/client/baton-client.ts';
import { BatonClientError } from '../../../shared/client/errors/baton-client-error.ts';
import { makeRepeated } from '../../../shared/client/time/repeated.ts';
import { makeInbox } from '../../support/stream-recorder.ts';
import { uuid } from './answers.ts';
import { type Asked, fakeService } from './fake-service.ts';
import { makeManualClock } from './manual-clock.ts';

const away = (retryAfterMs: number | null = null) =>
  new BatonClientError('store_unavailable', 'away', { action: 'retry', retryAfterMs });

/** Makes work whose runs the test ends one by one. */
function scene() {
  const clock = makeManualClock();
  const life = new AbortController();
  const problems: unknown[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const again = makeRepeated(
    { clock, life: () => life.signal, onProblem: (error) => void problems.push(error) },
    () =>
      new Promise<void>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)));
      }),
  );
  return {
    ...{ clock, life, problems, again },
    runs: () => ends.length,
    async end(error?: Error) {
      ends.at(-1)?.(error);
      for (let i = 0; i < 5; i += 1) await turn();
    },
  };
}

describe('work that follows a change', () => {
  test('runs once more for all the changes that came while it ran', async () => {
    const { again, end, runs } = scene();
    again();
    again();
    again();
    expect(runs()).toBe(1);
    await end();
    expect(runs()).toBe(2);
    await end();
    expect(runs()).toBe(2);
    again();
    expect(runs()).toBe(3);
    await end();
  });

  test('that fails for a moment is repeated after a pause, and each failure is told', async () => {
    const { again, clock, end, problems, runs } = scene();
    again();
    await end(away());
    expect(runs()).toBe(1);
    clock.advance(1_000);
    await turn();
    expect(runs()).toBe(2);
    await end(away(60_000));
    // The work waits as long as the service asks, even if something changes meanwhile. Then it waits as after every
    // failure.
    again();
    clock.advance(59_000);
    await turn();
    expect(runs()).toBe(2);
    clock.advance(3_000);
    await turn();
    expect(runs()).toBe(3);
    await end();
    expect([runs(), problems.length, clock.pending()]).toEqual([3, 2, 0]);
  });

  test('that waits for its repetition is run with the next change at once', async () => {
    const { again, clock, end, runs } = scene();
    again();
    await end(away());
    again();
    for (let i = 0; i < 5; i += 1) await turn();
    expect([runs(), clock.pending()]).toEqual([2, 0]);
    await end();
    expect(runs()).toBe(2);
  });

  test('waits no longer than a minute, whatever the service asks for', async () => {
    const { again, clock, end, runs } = scene();
    again();
    await end(away(30 * 86_400_000));
    clock.advance(59_999);
    await turn();
    expect(runs()).toBe(1);
    clock.advance(2_001);
    await turn();
    expect(runs()).toBe(2);
    await end();
  });

  test('begins with the shortest pause again after it has succeeded', async () => {
    const { again, clock, end, runs } = scene();
    again();
    for (let failures = 0; failures < 5; failures += 1) {
      await end(away());
      clock.advance(10_000);
      await turn();
    }
    // A change comes while the work runs, so another run follows.
    again();
    await end();
    await end(away());
    clock.advance(1_000);
    await turn();
    expect(runs()).toBe(8);
    await end();
  });

  test('that fails for good is run with the next change', async () => {
    const { again, clock, end, problems, runs } = scene();
    again();
    await end(new BatonClientError('invalid_request', 'no', { action: 'tell-user' }));
    expect([runs(), problems.length, clock.pending()]).toEqual([1, 1, 0]);
    again();
    expect(runs()).toBe(2);
    await end();
  });

  test('that a change asked for during a pause of the service is not wanted once the client is closed', async () => {
    const { again, clock, end, life, runs } = scene();
    again();
    await end(away(5_000));
    again();
    life.abort();
    for (let i = 0; i < 5; i += 1) await turn();
    expect([runs(), clock.pending()]).toEqual([1, 0]);
  });

  test('is not repeated when the client is closed, and leaves no timer', async () => {
    const { again, clock, end, life, runs } = scene();
    again();
    await end(away());
    expect(clock.pending()).toBe(1);
    life.abort();
    for (let i = 0; i < 5; i += 1) await turn();
    expect([runs(), clock.pending()]).toEqual([1, 0]);
    again();
    await end(away());
    expect([runs(), clock.pending()]).toEqual([2, 0]);
  });
});

/** Makes the client of a service that is away at first. */
function clientScene() {
  const device = {
    ...{ device_id: 'desk-0001', name: 'Desk', type: 'linux', online: true, current: true },
    ...{ created_at: 1, last_seen_at: null },
  };
  const party = { device_id: 'phone-0001', name: 'Phone' };
  const transfer = {
    ...{ transfer_id: uuid(5), state: 'CREATED', mode: 'direct', phase: 'created', error: null, sealed: null },
    ...{ sender: party, receiver: { device_id: 'desk-0001', name: 'Desk' } },
    files: [{ index: 0, name: 'a', size: 1, type: null, sha256: null }],
    ...{ file_count: 1, total_bytes: 1, progress: { sent_bytes: 0, received_bytes: 0 } },
    ...{ created_at: 1, updated_at: 1, expires_at: 9_000_000_000_000 },
  };
  const message = {
    ...{ message_id: uuid(1), from_device_id: null, from_name: 'Phone' },
    ...{ content: 'kept', created_at: 1, redelivered: true },
  };
  const bodies: Record<string, unknown> = {
    '/api/devices': { devices: [device] },
    '/api/transfer': { transfers: [transfer], next_cursor: null },
    '/api/message': { messages: [message] },
    '/api/message/ack': { acked: 1 },
    '/api/clipboard': {
      ...{ content: 'text', content_type: 'text/plain', source_device_id: null, source_device_name: 'Phone' },
      ...{ updated_at: 7, expires_at: 9 },
    },
  };
  const service = { isAway: true, resumed: false };
  const answer = ({ path }: Asked) => {
    if (path === '/api/hub/events') {
      const ready = {
        ...{ resumed: service.resumed, reason: 'new', device, presence: { version: 1, devices: [] } },
        ...{ clipboard: { updated_at: 7, expires_at: 9 }, pending: { messages: 1, transfers: 1 } },
        ...{ heartbeat_ms: 15_000, server_id: 's' },
      };
      const bytes = new TextEncoder().encode(`event: ready\ndata: ${JSON.stringify(ready)}\n\n`);
      const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes) });
      return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
    }
    return service.isAway ? { status: 503, body: { code: 'draining' } } : { body: bodies[path] };
  };
  const client = makeBatonClient({ baseUrl: 'http://service', fetch: fakeService(answer).fetch });
  const problems = makeInbox<string>(String);
  client.on('problem', ({ code }) => problems.push(code));
  const told = makeInbox<string>(String);
  client.on('devices', (devices) => told.push(`devices ${devices.map(({ name }) => name).join()}`));
  client.on('incoming', ({ transfer: { transfer_id } }) => told.push(`offer ${transfer_id === uuid(5)}`));
  client.on('clipboard', (change) => told.push(`clipboard ${change?.bytes}`));
  return { client, problems, service, told };
}

test('devices, waiting files, the clipboard and messages are read again when the first reading failed', async () => {
  const { client, problems, service, told } = clientScene();
  client.on('problem', () => {
    throw new Error('A listener of problems does not stop them');
  });
  client.start();
  await client.untilOnline();
  client.messages.receive(({ content }) => told.push(`message ${content}`));
  for (let i = 0; i < 4; i += 1) expect(await problems.next()).toBe('draining');
  expect(told.all).toEqual([]);
  service.isAway = false;
  for (let i = 0; i < 4; i += 1) await told.next();
  expect([...told.all].sort()).toEqual(['clipboard 4', 'devices Desk', 'message kept', 'offer true']);
  await client.close();
});

test('what failed before the client was closed is read once it starts again, although it missed no event', async () => {
  const { client, problems, service, told } = clientScene();
  client.start();
  for (let i = 0; i < 3; i += 1) expect(await problems.next()).toBe('draining');
  await client.close();
  Object.assign(service, { isAway: false, resumed: true });
  client.start();
  for (let i = 0; i < 3; i += 1) await told.next();
  expect([...told.all].sort()).toEqual(['clipboard 4', 'devices Desk', 'offer true']);
  await client.close();
});
