import { peerToPeer } from '../../../../shared/client/peer-to-peer.ts';
import type { Caller } from '../../../../shared/client/http/caller.ts';
import type { PeerModule, PeerSendingParts, Signal } from '../../../../shared/client/transfers/peer-module.ts';
import { sealSignal } from '../../../../shared/client/sealed/content/signals.ts';
import { randomBytes } from '../../../../shared/client/sealed/primitives/bytes.ts';
import { sealedPeerToPeer } from '../../../../shared/client/sealing/sealed-signals.ts';
import { FakePeer, peers, reset } from '../peer-to-peer/fake-peers.ts';
import { deliverUntil, makeReceiver, makeSender } from '../peer-to-peer/two-sides.ts';

/* The signals of a sealed transfer go by a service that reads, changes and renames them. */

const ID = '018f3c4e-7b1a-7cde-8f00-0123456789ab';
const KEY = randomBytes(32);
const transfer = { sender: { device_id: 'laptop-1' }, receiver: { device_id: 'phone-1' } };

/** The time on the clock of each end. */
let nowMs = 1_000;
const closers: (() => void)[] = [];
afterEach(() => {
  nowMs = 1_000;
  for (const close of closers.splice(0)) close();
  reset();
  Reflect.deleteProperty(globalThis, 'RTCPeerConnection');
});

type Sent = Signal & { to_device_id: string; transfer_id: string };

/** Makes one end, with the signals that it sends by the service and those that it takes. */
function endOf(side: 'sending' | 'receiving', key: typeof KEY | null = KEY) {
  const sent: Sent[] = [];
  const others: string[] = [];
  const taken: Signal[] = [];
  const caller = {
    call(name: string, { body }: { body: Sent }) {
      if (name === 'sendSignal') sent.push(body);
      else others.push(name);
      return Promise.resolve({ status: 202, body: { delivered: true } });
    },
  } as unknown as Caller;
  let given: Caller | null = null;
  let recordBytes: number | undefined;
  const make = (parts: { caller: Caller; recordBytes?: number }) => {
    given = parts.caller;
    recordBytes = parts.recordBytes;
    return { isOpen: false, begin() {}, there() {}, nudge() {}, take: (signal: Signal) => void taken.push(signal) };
  };
  const plain = { kind: 'peer-to-peer', sending: make, receiving: make } as unknown as PeerModule;
  const parts = { run: { id: ID, transfer }, caller, clock: { now: () => nowMs } } as unknown as PeerSendingParts;
  const module = sealedPeerToPeer(plain, () => key) as PeerModule;
  const made = side === 'sending' ? module.sending(parts) : module.receiving(parts as never);
  return {
    ...{ sent, others, taken, side: made, recordBytes },
    call: (name: 'sendSignal' | 'getIceServers', kind: string, payload: unknown) =>
      (given as Caller).call(name as never, { body: { to_device_id: 'x', transfer_id: ID, kind, payload } } as never),
  };
}

/** Resolves, with what this end has taken, when everything that it was given before has been opened. */
async function settled({ side, taken }: ReturnType<typeof endOf>): Promise<Signal[]> {
  await new Promise<void>((resolve) => {
    side.take({ kind: 'candidate', payload: Object.defineProperty({}, 'sealed', { get: resolve }) });
  });
  return taken;
}

test('the other device gets them in their order, and the service reads none of them', async () => {
  const [laptop, phone] = [endOf('sending'), endOf('receiving')];
  const offer = { type: 'offer', sdp: 'a=fingerprint:sha-256 AB:CD', attempt: '1-x' };
  await laptop.call('sendSignal', 'offer', offer);
  await laptop.call('sendSignal', 'candidate', { candidate: '192.0.2.7' });
  await laptop.call('sendSignal', 'bye', { reason: 'over' });
  await laptop.call('getIceServers', '', null);
  expect(laptop.others).toEqual(['getIceServers']);
  expect(JSON.stringify(laptop.sent)).not.toMatch(/fingerprint|192\.0\.2|over|attempt/);
  expect(laptop.sent.map(({ to_device_id, transfer_id, kind }) => [to_device_id, transfer_id, kind])).toEqual(
    ['offer', 'candidate', 'bye'].map((kind) => ['x', ID, kind]),
  );
  for (const signal of laptop.sent) phone.side.take(signal);
  expect(await settled(phone)).toEqual([
    { kind: 'offer', payload: offer },
    { kind: 'candidate', payload: { candidate: '192.0.2.7' } },
    { kind: 'bye', payload: { reason: 'over' } },
  ]);
  await phone.call('sendSignal', 'answer', { type: 'answer', sdp: 'yes' });
  for (const signal of phone.sent) laptop.side.take(signal);
  expect(await settled(laptop)).toEqual([{ kind: 'answer', payload: { type: 'answer', sdp: 'yes' } }]);
});

test('what the service writes, changes, renames or sends back is dropped, and a bye of an older device is not', async () => {
  const [laptop, phone] = [endOf('sending'), endOf('receiving')];
  await laptop.call('sendSignal', 'offer', { sdp: 'genuine' });
  const [genuine] = laptop.sent as [Sent];
  const { sealed } = genuine.payload as { sealed: string };
  phone.side.take({ kind: 'offer', payload: { type: 'offer', sdp: 'forged' } });
  phone.side.take({ kind: 'candidate', payload: null });
  phone.side.take({ kind: 'answer', payload: genuine.payload });
  phone.side.take({ kind: 'offer', payload: { sealed: `${sealed.slice(0, -4)}AAAA` } });
  phone.side.take({ kind: 'offer', payload: { sealed: 'no' } });
  laptop.side.take(genuine);
  phone.side.take({ kind: 'bye', payload: {} });
  phone.side.take(genuine);
  expect(await settled(phone)).toEqual([
    { kind: 'bye', payload: {} },
    { kind: 'offer', payload: { sdp: 'genuine' } },
  ]);
  expect(await settled(laptop)).toEqual([]);
});

describe('the service', () => {
  const offer = (sdp: string) => ({ kind: 'offer', payload: { sdp } });

  async function threeOffers() {
    const [laptop, phone] = [endOf('sending'), endOf('receiving')];
    for (const sdp of ['one', 'two', 'three']) await laptop.call('sendSignal', 'offer', { sdp });
    return { phone, sent: laptop.sent as [Sent, Sent, Sent] };
  }

  test('can repeat no signal, and cannot hand one over after a later one', async () => {
    const { phone, sent } = await threeOffers();
    const [one, two, three] = sent;
    for (const signal of [one, one, three, two, one, three]) phone.side.take(signal);
    expect(await settled(phone)).toEqual([offer('one'), offer('three')]);
  });

  test('keeps no signal from a device under the name of another kind', async () => {
    const { phone, sent } = await threeOffers();
    phone.side.take({ ...sent[0], kind: 'answer' });
    phone.side.take(sent[0]);
    expect(await settled(phone)).toEqual([offer('one')]);
  });

  test('cannot repeat the signals of a page that was loaded again since', async () => {
    const { phone, sent } = await threeOffers();
    phone.side.take(sent[0]);
    nowMs += 1;
    const again = endOf('sending');
    await again.call('sendSignal', 'offer', { sdp: 'anew' });
    for (const signal of [...again.sent, ...sent]) phone.side.take(signal);
    expect(await settled(phone)).toEqual([offer('one'), offer('anew')]);
  });

  test('makes no bye of a device that has sealed a signal', async () => {
    const { phone, sent } = await threeOffers();
    phone.side.take(sent[0]);
    phone.side.take({ kind: 'bye', payload: { reason: 'again' } });
    expect(await settled(phone)).toEqual([offer('one')]);
  });
});

test('a device of an earlier version, which numbers none, is understood', async () => {
  const phone = endOf('receiving');
  const signals = ['offer', 'candidate'].map((kind) => ({ kind, payload: { of: kind } }));
  for (const signal of signals) {
    const sealed = await sealSignal(KEY, { transferId: ID, from: 'laptop-1' }, JSON.stringify(signal));
    phone.side.take({ ...signal, payload: { sealed } });
  }
  expect(await settled(phone)).toEqual(signals);
});

test('a path that is open stays open, whatever signals the service repeats', async () => {
  Object.assign(globalThis, { RTCPeerConnection: FakePeer });
  const paths = sealedPeerToPeer(peerToPeer(), () => KEY) as PeerModule;
  const sender = makeSender(100_000, (signal) => receiver.side.take(signal), paths);
  const receiver = makeReceiver((signal) => sender.side.take(signal), paths);
  closers.push(sender.end, receiver.end);
  sender.side.begin({ isThere: true, parks: false });
  await deliverUntil(() => sender.side.isOpen && receiver.side.isOpen);

  for (const signal of [...sender.signals, { kind: 'bye', payload: {} }]) receiver.side.take(signal);
  for (const signal of [...receiver.signals, { kind: 'bye', payload: {} }]) sender.side.take(signal);
  // By the time that these bytes have come, all of them were opened.
  let isOver = false;
  const fetched = receiver.fetch(100_000).finally(() => {
    isOver = true;
  });
  fetched.catch(() => {});
  await deliverUntil(() => isOver);
  await fetched;
  expect(Buffer.compare(receiver.bytes(), sender.content)).toBe(0);
  expect([sender.relayed, peers.length]).toEqual([[], 2]);
});

test('a transfer that is not sealed has its signals as before', async () => {
  const laptop = endOf('sending', null);
  await laptop.call('sendSignal', 'offer', { sdp: 'plain' });
  expect(laptop.sent).toMatchObject([{ kind: 'offer', payload: { sdp: 'plain' } }]);
  laptop.side.take({ kind: 'answer', payload: { sdp: 'plain' } });
  expect(laptop.taken).toEqual([{ kind: 'answer', payload: { sdp: 'plain' } }]);
});

test('only a sealed transfer may leave its direct path, at the border of a record', () => {
  expect(endOf('sending').recordBytes).toBe(262_172);
  expect(endOf('sending', null).recordBytes).toBeUndefined();
});
