import { once, EventEmitter } from 'node:events';
import { Bus, type BusEvent } from '../../../services/sync/redis/bus/bus.ts';
import type { Loss } from '../../../services/sync/redis/bus/subscriber.ts';

interface Opened {
  channel: string;
  isClosed: boolean;
  onMessage: (payload: Buffer) => void;
  onLoss: (loss: Loss) => void;
}

/** Makes a bus whose connections are records, with what it reported. `refusing` makes the next subscriptions fail. */
async function setUp() {
  const opened: Opened[] = [];
  const told: string[] = [];
  const events: BusEvent[] = [];
  const gaps = new EventEmitter();
  const state = { refusing: 0 };
  const bus = new Bus({
    open(parts) {
      const connection = { ...parts, isClosed: false };
      opened.push(connection);
      return {
        listen: () => (state.refusing-- > 0 ? Promise.reject(new Error('no')) : Promise.resolve()),
        close: () => {
          connection.isClosed = true;
        },
      };
    },
    onFailure: (task) => told.push(`failed ${task}`),
  });
  bus.listenTo({
    event: (event) => events.push(event),
    unlogged: (account, name, to, data) => told.push(`unlogged ${account} ${name} ${to} ${data}`),
    presence: (account, version) => told.push(`presence ${account} ${version}`),
    revoked: (account, deviceId, reason) => told.push(`revoked ${account} ${deviceId} ${reason}`),
    replaced: (account, deviceId, endsStreams) => told.push(`replaced ${account} ${deviceId} ${endsStreams}`),
    login: (pollId, word) => told.push(`login ${pollId} ${word}`),
    superseded: (account, streamId) => told.push(`superseded ${account} ${streamId}`),
    relay: (file) => told.push(`relay ${file}`),
    gap(cause) {
      told.push(`gap ${cause}`);
      gaps.emit(cause);
    },
  });
  await bus.listen('first');
  return { bus, opened, told, events, gaps, state, latest: () => opened.at(-1) as Opened };
}

test('announcements reach the listener by their kind, and the data of an event may hold anything', async () => {
  const { bus, latest, told, events } = await setUp();
  latest().onMessage(Buffer.from('e\nu\n2-2\n1-1\nmessage\nphone\n1234\n{"a":"b\\nc"}\n{}'));
  latest().onMessage(Buffer.from('p\nu\n17'));
  latest().onMessage(Buffer.from('x\nu\nstream-1'));

  expect(events).toEqual([
    {
      account: 'u',
      id: '2-2',
      prev: '1-1',
      name: 'message',
      to: 'phone',
      appendedAt: '1234',
      data: Buffer.from('{"a":"b\\nc"}\n{}'),
    },
  ]);
  expect(told).toEqual(['presence u 17', 'superseded u stream-1']);
  bus.stop();
});

test('an event for many devices, with names beyond ASCII, is told whole', async () => {
  const { bus, latest, events } = await setUp();
  const to = [...Array.from({ length: 60 }, (_, i) => `device-${i}-of-the-account`), '~Zoë 😀'].join('\t');
  latest().onMessage(Buffer.from(`e\nu\n2-2\n1-1\nmessage\n${to}\n1234\n`));

  expect(events).toEqual([expect.objectContaining({ account: 'u', id: '2-2', to, appendedAt: '1234' })]);
  expect(events[0]?.data).toHaveLength(0);
  bus.stop();
});

test('the end of a log comes as an event for nobody, behind a position that no stream has', async () => {
  const { bus, latest, events } = await setUp();
  latest().onMessage(Buffer.from('t\nu\n5-5'));

  expect(events).toEqual([expect.objectContaining({ account: 'u', id: '5-5', prev: '-', to: '' })]);
  bus.stop();
});

test('a nonce that was left out is a gap, and the first one after a subscription is not', async () => {
  const { bus, latest, told } = await setUp();
  for (const number of [7, 8, 10, 11]) latest().onMessage(Buffer.from(`n\n${number}`));

  expect(told).toEqual(['gap nonce']);
  bus.stop();
});

test('after a change of topology it is asked for what was missed at once, and again when a nonce has proved the way', async () => {
  const { bus, latest, told, gaps } = await setUp();
  latest().onMessage(Buffer.from('n\n1'));
  latest().onLoss('moved');
  latest().onLoss('moved');
  await once(gaps, 'moved');
  latest().onMessage(Buffer.from('n\n2'));
  latest().onMessage(Buffer.from('n\n3'));

  expect(told).toEqual(['gap moved', 'gap moved']);
  bus.stop();
});

test('another channel gets another connection, and what comes on the old one is not heard', async () => {
  const { bus, opened, told } = await setUp();
  await bus.listen('second');
  opened[0]?.onMessage(Buffer.from('p\nu\n1'));

  expect(opened.map(({ channel, isClosed }) => `${channel} ${isClosed}`)).toEqual(['first true', 'second false']);
  expect(told).toEqual([]);
  bus.stop();
});

test('a channel that cannot be had leaves the bus where it was', async () => {
  const { bus, opened, told, state } = await setUp();
  state.refusing = 1;
  await expect(bus.listen('second')).rejects.toThrow('no');
  opened[0]?.onMessage(Buffer.from('p\nu\n1'));

  expect(opened[1]?.isClosed).toBe(true);
  expect(told).toEqual(['presence u 1']);
  bus.stop();
});

test('a rebuilt subscriber that cannot subscribe is rebuilt until it can', async () => {
  const { bus, opened, told, gaps, state } = await setUp();
  state.refusing = 1;
  bus.rebuild();
  await once(gaps, 'rebuilt');

  expect(opened.map(({ channel, isClosed }) => `${channel} ${isClosed}`)).toEqual([
    'first true',
    'first true',
    'first false',
  ]);
  expect(told).toEqual(['failed rebuild subscriber', 'gap rebuilt']);
  bus.stop();
});

test('a subscription that is confirmed only after the end is closed', async () => {
  const { bus, opened } = await setUp();
  const late = bus.listen('another');
  bus.stop();

  await expect(late).rejects.toThrow('stopped');
  expect(opened.every(({ isClosed }) => isClosed)).toBe(true);
});
