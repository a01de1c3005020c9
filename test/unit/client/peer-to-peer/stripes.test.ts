import { NoAnswerError } from '../../../../shared/client/errors/no-answer.ts';
import type { Signal } from '../../../../shared/client/transfers/peer-module.ts';
import { FakePeer, peers, reset } from './fake-peers.ts';
import { deliverUntil, makeReceiver, makeSender } from './two-sides.ts';

/*
 * A file goes over several connections between a sender and a receiver. The tests also show what becomes of lost and
 * foreign connections.
 */

const FILE_BYTES = 20 * 1024 * 1024;
const OLD_BYTES = 3 * 1024 * 1024;
const closers: (() => void)[] = [];

beforeAll(() => {
  Object.assign(globalThis, { RTCPeerConnection: FakePeer });
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
  reset();
});
afterAll(() => {
  Reflect.deleteProperty(globalThis, 'RTCPeerConnection');
});

/** Signals cross as the service passes them: later, and in order. */
async function connect(bytes: number, change: (signal: Signal) => Signal = (signal) => signal) {
  const sender = makeSender(bytes, (signal) => setImmediate(() => receiver.side.take(change(signal))));
  const receiver = makeReceiver((signal) => setImmediate(() => sender.side.take(change(signal))));
  closers.push(sender.end, receiver.end);
  sender.side.begin({ isThere: true, parks: false });
  await deliverUntil(() => sender.side.isOpen && receiver.side.isOpen);
  return { sender, receiver };
}

/** Fetches the file, and calls `during` once after about `atBytes`. */
async function fetchWhole(
  { sender, receiver }: Awaited<ReturnType<typeof connect>>,
  atBytes = Infinity,
  during = () => {},
) {
  let isOver = false;
  const fetched = receiver.fetch(sender.content.length).finally(() => {
    isOver = true;
  });
  fetched.catch(() => {});
  let wasCalled = false;
  await deliverUntil(
    () => isOver,
    () => {
      if (wasCalled || receiver.count() < atBytes) return;
      wasCalled = true;
      during();
    },
  );
  return fetched;
}

/** Returns the connections of the sender, which makes every second one. */
const ofSender = () => peers.filter(({ localDescription }) => localDescription?.type === 'offer');
const isWhole = ({ sender, receiver }: Awaited<ReturnType<typeof connect>>) =>
  Buffer.compare(receiver.bytes(), sender.content) === 0;

test('a large file goes over four connections, which open while it is under way', async () => {
  const both = await connect(FILE_BYTES);
  expect(peers.length).toBe(2);
  await fetchWhole(both);
  both.receiver.side.stored(0);
  await deliverUntil(() => both.sender.stored.length === 1);

  expect(isWhole(both)).toBe(true);
  expect(ofSender().length).toBe(4);
  for (const { channel } of ofSender()) expect(channel.delivered.length).toBeGreaterThan(5);
  // The service saw the signals of one connection.
  expect(both.sender.signals.map(({ kind }) => kind)).toEqual(['offer']);
  expect([both.sender.relayed, both.sender.failures, both.receiver.failures]).toEqual([[], [], []]);
});

test('a small file needs no second connection', async () => {
  const both = await connect(1024 * 1024);
  await fetchWhole(both);
  expect(isWhole(both)).toBe(true);
  expect(peers.length).toBe(2);
});

test('a small file that takes long gets them too', async () => {
  const both = await connect(3 * 1024 * 1024);
  await fetchWhole(both, 1024 * 1024, () => both.sender.clock.advance(500));
  expect(isWhole(both)).toBe(true);
  expect(ofSender().length).toBe(4);
});

test.each([
  ['the first', [0]],
  ['a further', [2]],
  ['every connection but the last', [0, 1, 2]],
])('%s is lost in the middle, and the file arrives whole over those that are left', async (_name, lost) => {
  const both = await connect(FILE_BYTES);
  await fetchWhole(both, FILE_BYTES / 2, () => {
    for (const index of lost) ofSender()[index]?.close();
  });
  expect(ofSender().length).toBe(4);
  expect(isWhole(both)).toBe(true);
  expect(both.sender.side.isOpen && both.receiver.side.isOpen).toBe(true);
  expect([both.sender.relayed, both.sender.failures]).toEqual([[], []]);
});

test('when all are lost the relay gets the file, from the bytes that were taken on', async () => {
  const both = await connect(FILE_BYTES);
  const fetched = fetchWhole(both, FILE_BYTES / 2, () => {
    for (const one of ofSender()) one.close();
  });
  await expect(fetched).rejects.toBeInstanceOf(NoAnswerError);
  await deliverUntil(() => both.sender.relayed.length > 0);
  expect(both.sender.relayed).toEqual([[0]]);
  expect([both.sender.side.isOpen, both.receiver.side.isOpen]).toEqual([false, false]);
  const came = both.receiver.bytes();
  expect(Buffer.compare(came, both.sender.content.subarray(0, came.length))).toBe(0);
  // Nothing stays open.
  for (const peer of peers)
    expect(peer.connectionState === 'closed' || peer.channel.readyState === 'closed').toBe(true);
});

test('a further connection that never opens changes nothing', async () => {
  const both = await connect(FILE_BYTES);
  const setRemote = FakePeer.prototype.setRemoteDescription;
  FakePeer.prototype.setRemoteDescription = async () => {
    throw new Error('No path');
  };
  await fetchWhole(both).finally(() => {
    FakePeer.prototype.setRemoteDescription = setRemote;
  });
  expect(isWhole(both)).toBe(true);
  expect(both.sender.relayed).toEqual([]);
});

describe('a peer that knows one connection alone', () => {
  const payloadOf = ({ payload }: Signal) => payload as { sdp: string; attempt: string; links?: number };

  test('receives words and bytes as it knows them', async () => {
    const came: (string | Uint8Array)[] = [];
    const old = new FakePeer();
    const sender = makeSender(OLD_BYTES, (signal) => {
      if (signal.kind !== 'offer') return;
      const { sdp, attempt } = payloadOf(signal);
      void (async () => {
        await old.setRemoteDescription({ type: 'offer', sdp });
        await old.setLocalDescription();
        sender.side.take({ kind: 'answer', payload: { ...old.localDescription, attempt } });
      })();
    });
    closers.push(sender.end);
    old.channel.addEventListener('open', () => old.channel.send('{"say":"want","file":0,"at":0}'));
    old.channel.addEventListener('message', (event) => {
      const { data } = event as MessageEvent<string | ArrayBuffer>;
      came.push(typeof data === 'string' ? data : new Uint8Array(data));
    });
    sender.side.begin({ isThere: true, parks: false });
    const bytes = () => Buffer.concat(came.slice(1) as Uint8Array[]);
    await deliverUntil(() => came.length > 0 && bytes().length === OLD_BYTES);
    expect(came[0]).toBe('{"say":"file","file":0,"at":0}');
    expect(Buffer.compare(bytes(), sender.content)).toBe(0);
    expect(peers.length).toBe(2);
  });

  test('sends words and bytes as it knows them', async () => {
    const content = new Uint8Array(OLD_BYTES).map((_, at) => at * 31);
    const answers: Signal[] = [];
    const words: unknown[] = [];
    const old = new FakePeer();
    const receiver = makeReceiver((signal) => void answers.push(signal));
    closers.push(receiver.end);
    old.channel.addEventListener('message', (event) => void words.push((event as MessageEvent<unknown>).data));
    await old.setLocalDescription();
    receiver.side.take({ kind: 'offer', payload: { ...old.localDescription, attempt: '1-old' } });
    await deliverUntil(() => answers.length > 0);
    expect(answers.map(payloadOf)[0]).not.toHaveProperty('links');
    await old.setRemoteDescription({ type: 'answer', sdp: payloadOf(answers[0] as Signal).sdp });
    const fetched = receiver.fetch(OLD_BYTES);
    await deliverUntil(() => words.length > 0);
    expect(words).toEqual(['{"say":"want","file":0,"at":0}']);
    old.channel.send('{"say":"file","file":0,"at":0}');
    for (let at = 0; at < OLD_BYTES; at += 65_536) old.channel.send(content.subarray(at, at + 65_536));
    let isOver = false;
    void fetched.then(() => {
      isOver = true;
    });
    await deliverUntil(() => isOver);
    expect(Buffer.compare(receiver.bytes(), content)).toBe(0);
  });
});

/** Changes what the answer says about further connections. */
const allowing =
  (links: unknown) =>
  ({ kind, payload }: Signal): Signal =>
    kind === 'answer' ? { kind, payload: { ...(payload as object), links } } : { kind, payload };

test.each([['x'], [-1], [0], [1.5], [null], [{}]])(
  'an answer that allows %p connections is one of a peer that knows one',
  async (links) => {
    const both = await connect(FILE_BYTES, allowing(links));
    const [first] = ofSender() as [FakePeer];
    first.channel.other?.send('{"say":"want","file":0,"at":0}');
    await deliverUntil(() => first.channel.delivered.length > 0);
    expect(first.channel.delivered[0]).toBe('{"say":"file","file":0,"at":0}');
    expect(both.sender.failures).toEqual([]);
  },
);

test('an answer that allows a thousand connections makes four', async () => {
  const both = await connect(FILE_BYTES, allowing(1_000));
  await fetchWhole(both);
  expect(isWhole(both)).toBe(true);
  expect(ofSender().length).toBe(4);
});

/** Sends a frame with a signal to the receiver, as another program might. It is the first frame of its side. */
function signalFrame(about: unknown): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(about));
  const made = new Uint8Array(9 + text.length);
  made[0] = 2;
  made.set(text, 9);
  return made;
}

test.each([
  ['a fifth connection', { link: 4, kind: 'offer', payload: { sdp: '0' } }],
  ['the first connection', { link: 0, kind: 'offer', payload: { sdp: '0' } }],
  ['no connection', null],
  ['half a connection', { link: 1.5, kind: 'offer', payload: {} }],
  ['an answer that nobody asked for', { link: 1, kind: 'answer', payload: { sdp: '0' } }],
  ['a signal without a kind', { link: 1, payload: {} }],
])('signals about %s end the path, and the transfer uses the relay from then on', async (_name, about) => {
  const both = await connect(FILE_BYTES);
  const [first] = ofSender() as [FakePeer];
  first.channel.send(signalFrame(about));
  first.channel.deliver();
  expect(both.receiver.side.isOpen).toBe(false);
  await deliverUntil(() => both.sender.relayed.length > 0);
  expect(both.receiver.signals.at(-1)).toMatchObject({ kind: 'bye', payload: { reason: 'misbehaved' } });
});

test('a receiver does not offer further connections', async () => {
  const both = await connect(FILE_BYTES);
  const [first] = peers.filter(({ localDescription }) => localDescription?.type === 'answer') as [FakePeer];
  first.channel.send(signalFrame({ link: 1, kind: 'offer', payload: { sdp: '0' } }));
  first.channel.deliver();
  expect(both.sender.side.isOpen).toBe(false);
  await deliverUntil(() => both.sender.relayed.length > 0);
  expect(both.sender.signals.at(-1)).toMatchObject({ kind: 'bye', payload: { reason: 'misbehaved' } });
});

test('an offer of another attempt opens no connection', async () => {
  const both = await connect(FILE_BYTES);
  const foreign = new FakePeer();
  await foreign.setLocalDescription();
  const [first] = ofSender() as [FakePeer];
  const payload = { ...foreign.localDescription, attempt: '9-foreign/1' };
  first.channel.send(signalFrame({ link: 1, kind: 'offer', payload }));
  first.channel.deliver();
  await deliverUntil(() => peers.length > 3);
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(both.receiver.side.isOpen).toBe(true);
  expect(peers[3]?.localDescription).toBe(null);
});
