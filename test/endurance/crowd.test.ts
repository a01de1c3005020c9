import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { LIMITS } from '../../shared/contract/limits.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type Site, startSite } from '../support/site.ts';

/*
 * Many clients that open a stream and never read. The kernel takes some megabytes for each before Baton notices, so a larger
 * crowd would test the machine. With small buffers, as a network namespace can have them (`net.ipv4.tcp_rmem`, `tcp_wmem`),
 * APP_TEST_CROWD_ACCOUNTS asks for more accounts, with 60 streams each.
 */

const ACCOUNTS = Number(process.env.APP_TEST_CROWD_ACCOUNTS ?? 4);
/** The devices that do not read. One more does. */
const DEVICES = LIMITS.streamsPerAccount / LIMITS.streamsPerDevice - 1;
const UNREAD = ACCOUNTS * DEVICES * LIMITS.streamsPerDevice;

/** The messages between two looks, which one request acknowledges. */
const ROUND = LIMITS.ackIds;

let site: Site;
const unread: Socket[] = [];
beforeAll(async () => {
  // Garbage is collected soon, so that the figure shows what is held. Otherwise Node 24 leaves 60 MiB of garbage, Node 20 up to
  // 44.
  site = await startSite({ NODE_OPTIONS: '--max-semi-space-size=1' }, { alone: true });
});
afterAll(async () => {
  for (const socket of unread) socket.destroy();
  await site.stop();
});

/**
 * Opens a stream and reads no further than its `ready`. A busy machine may refuse a stream for the moment. Such a stream opens
 * again, because a client that does not read would never notice.
 */
function openAndNeverRead(device: TestDevice): void {
  const { hostname, port } = new URL(site.one.url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries(device.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET /api/hub/events HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}\r\n`);
  socket.on('error', () => undefined);
  let head = '';
  let isOpen = false;
  socket.on('data', (chunk) => {
    head += String(chunk);
    isOpen ||= head.includes('event: ready');
    if (isOpen) socket.pause();
  });
  socket.on('end', () => isOpen || openAndNeverRead(device));
  unread.push(socket);
}

async function look() {
  const text = await (await fetch(`${site.one.adminUrl}/metrics`)).text();
  const of = (metric: string) => Number(new RegExp(`^${metric} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const status = readFileSync(`/proc/${site.one.process.pid}/status`, 'utf8');
  return {
    streams: of('baton_streams'),
    slow: of('baton_streams_closed_total\\{reason="slow"\\}'),
    buffered: of('baton_stream_buffer_bytes'),
    rssMib: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024,
  };
}

async function startAccount() {
  const user = randomUser();
  const all = Array.from({ length: DEVICES + 2 }, (_, i) => makeDevice({ user, name: `Device ${i}` }));
  for (const device of all) await device.on(site.one).call('getMe');
  const [reader, sender, ...others] = all as [TestDevice, TestDevice, ...TestDevice[]];
  const onReader = site.listen(reader, site.one);
  await onReader.next('ready');
  for (const device of others) for (let i = 0; i < LIMITS.streamsPerDevice; i++) openAndNeverRead(device);
  const content = 'x'.repeat(LIMITS.messageBytes);

  /** Sends to all, and checks that the reader gets everything in order. It leaves the mailboxes empty. */
  async function round(): Promise<void> {
    const sent: string[] = [];
    const got: string[] = [];
    for (let i = 0; i < ROUND; i++) {
      sent.push((await sender.on(site.one).call('sendMessage', { body: { to: '*', content } })).body.message_id);
      got.push((await onReader.next('message')).data.message_id);
    }
    for (const device of all) await device.on(site.one).call('ackMessages', { body: { message_ids: sent } });
    expect(got).toEqual(sent);
  }
  return { round };
}

test('a crowd that never reads is ended, costs little memory until then, and keeps nothing from those who read', async () => {
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, startAccount));
  const before = await until(look, ({ streams }) => streams === UNREAD + ACCOUNTS, 'all streams to be open');
  // A replica needs this much for the traffic whether anybody reads or not.
  let warmMib = before.rssMib;
  let now = before;
  let [buffered, rssMib] = [0, 0];
  while (now.streams > ACCOUNTS) {
    await Promise.all(accounts.map(({ round }) => round()));
    now = await look();
    if (buffered === 0) warmMib = Math.max(warmMib, now.rssMib);
    buffered = Math.max(buffered, now.buffered);
    rssMib = Math.max(rssMib, now.rssMib);
  }

  expect(now.slow).toBe(UNREAD);
  expect(buffered).toBeGreaterThan(0);
  // The limit covers the most that a connection takes before it says stop, and one frame. Measured: 17 KiB each, on Node 20 and
  // on 24.
  expect(buffered / UNREAD).toBeLessThan(32 * 1024);
  // Measured: 15 to 33 MiB for 240 streams, on Node 20 and on 24.
  expect(rssMib).toBeLessThan(warmMib + 60 + UNREAD / 16);
}, 300_000);
