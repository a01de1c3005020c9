import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { makeDevice, randomUser, type TestDevice } from '../../support/device.ts';
import { randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../../support/replicas.ts';

/* Requests that are sent over one connection before the answer to the previous one has come. */

let replica: ReplicaProcess;
/** Has the same store, and shows the result. */
let other: ReplicaProcess;
let sender: TestDevice;
let receiver: TestDevice;
beforeEach(async () => {
  const options = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
  [replica, other] = await Promise.all([startReplica(options), startReplica(options)]);
  const user = randomUser();
  sender = makeDevice({ user });
  receiver = makeDevice({ user, name: 'Phone' });
  for (const device of [sender, receiver]) await device.on(other).call('getMe');
});
afterEach(stopReplicas);

const lines = (first: string, ...more: string[]): string => {
  const identity = Object.entries(sender.headers).map(([name, value]) => `${name}: ${value}`);
  return [first, 'Host: localhost', ...identity, ...more].join('\r\n');
};
const openStream = (): string => `${lines('GET /api/hub/events HTTP/1.1')}\r\n\r\n`;
function message(content: string): string {
  const body = JSON.stringify({ to: 'Phone', content });
  const head = lines(
    'POST /api/message HTTP/1.1',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  );
  return `${head}\r\n\r\n${body}`;
}
const received = async (): Promise<unknown[]> =>
  (await receiver.on(other).call('listMessages')).body.messages.map(({ content }) => content);

function connection(): { socket: Socket; text: () => string; until: (pattern: RegExp) => Promise<void> } {
  const { hostname, port } = new URL(replica.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  return {
    socket,
    text: () => text,
    until: async (pattern) => {
      while (!pattern.test(text)) await once(socket, 'data', { signal: AbortSignal.timeout(40_000) });
    },
  };
}

test.each([
  ['with it', (socket: Socket) => socket.write(openStream() + message('smuggled')), () => undefined],
  ['after it', (socket: Socket) => socket.write(openStream()), (socket: Socket) => socket.write(message('smuggled'))],
] as const)(
  'a request that is sent behind an event stream, %s, has no effect, also when the stream has ended',
  async (_when, first, then) => {
    const { socket, text, until } = connection();
    first(socket);
    await until(/event: ready/);
    then(socket);
    await sender.on(replica).call('sendMessage', { body: { to: 'Phone', content: 'honest' } });
    expect(await received()).toEqual(['honest']);
    const closed = once(socket, 'close');
    await replica.stop();
    await closed;
    expect(text()).toMatch(/\r\nConnection: close\r\n[^]*event: reconnect/);
    expect(text().match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(await received()).toEqual(['honest']);
  },
);

test('it has no effect either when the client of the stream hangs up', async () => {
  const { socket, until } = connection();
  socket.write(openStream() + message('smuggled'));
  await until(/event: ready/);
  const closed = once(socket, 'close');
  socket.end();
  await closed;
  await sender.on(replica).call('sendMessage', { body: { to: 'Phone', content: 'honest' } });
  expect(await received()).toEqual(['honest']);
});

test('requests that are sent together are carried out in their order, and all are answered', async () => {
  const { socket, text, until } = connection();
  socket.write(message('one') + message('two') + message('three'));
  await until(/(HTTP\/1\.1 201 [^]*){3}/);
  expect(text().match(/HTTP\/1\.1 201 /g)).toHaveLength(3);
  expect(await received()).toEqual(['one', 'two', 'three']);
  socket.destroy();
});
