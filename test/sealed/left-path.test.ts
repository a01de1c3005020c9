import { createHash, randomBytes } from 'node:crypto';
import { blobSource } from '../../shared/client/index.ts';
import { peerToPeer } from '../../shared/client/peer-to-peer.ts';
import type { IncomingTransfer } from '../../shared/client/api.ts';
import { type KeyedDevice, makeKeyedDevice } from '../browser/keyed-device.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { FakePeer, peers, reset } from '../unit/client/peer-to-peer/fake-peers.ts';

/*
 * A sealed file leaves its slow direct path for the relay of real replicas, and the direct path is lost before the file has
 * left it. The peer connections are in memory, so that a test decides what is lost with them.
 */

const MIB = 1024 * 1024;
/** The bytes of a whole record of a sealed file, as the service and a direct path have it. */
const RECORD = 262_172;
/** More than ten seconds and two windows of the relay, after the five seconds in which the path is measured. */
const BYTES = 48 * MIB + 1;
const SLOW_BYTES_PER_SECOND = MIB;

let site: SignInSite;
beforeAll(async () => {
  Object.assign(globalThis, { RTCPeerConnection: FakePeer });
  site = await startSignInSite({ APP_RATE_LIMIT_SCALE: '0', APP_RELAY_PREFER: 'true' });
});
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
  reset();
});
afterAll(async () => {
  Reflect.deleteProperty(globalThis, 'RTCPeerConnection');
  await site.stop();
});

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function devices(): Promise<[KeyedDevice, KeyedDevice]> {
  const laptop = makeKeyedDevice(site, site.one.url, 'http://localhost:8080');
  await laptop.signIn('Laptop');
  await laptop.sealing().rings.create({ kind: 'cli' });
  const phone = makeKeyedDevice(site, site.two.url);
  const joining = await phone.askToJoin('Phone');
  await laptop.letIn(joining.link);
  await joining.digits;
  return [laptop, phone];
}

const ofSender = () => peers.filter(({ localDescription }) => localDescription?.type === 'offer');
const ofReceiver = () => peers.filter(({ localDescription }) => localDescription?.type === 'answer');

/** The content of a frame, if it is one of bytes. */
const bytesIn = (data: string | ArrayBuffer): number =>
  typeof data !== 'string' && new Uint8Array(data)[0] === 1 ? data.byteLength - 9 : 0;

/** The network between the devices: as slow as it is here towards the receiver, until it is lost. */
function slowNetwork() {
  let budget = 0;
  let last = performance.now();
  const inFlight = () =>
    ofSender()
      .flatMap(({ channel }) => channel.waiting.map(bytesIn))
      .reduce((before, bytes) => before + bytes, 0);
  let total = 0;
  const counted = new Map<FakePeer, number>();
  const arrived = (): number => {
    for (const peer of ofSender()) {
      const { delivered } = peer.channel;
      for (const data of delivered.slice(counted.get(peer))) total += bytesIn(data);
      counted.set(peer, delivered.length);
    }
    return total;
  };
  return {
    inFlight,
    arrived,
    /** The sender has sent up to the border of a record: nothing else ends there. */
    isLeft: () => arrived() > 0 && (arrived() + inFlight()) % RECORD === 0,
    /** Passes on what may have come by now. */
    pass() {
      const now = performance.now();
      budget = Math.min(MIB, budget + ((now - last) * SLOW_BYTES_PER_SECOND) / 1_000);
      last = now;
      for (const { channel } of ofReceiver()) while (channel.deliver());
      for (const { channel } of ofSender()) {
        for (let next = channel.waiting[0]; next !== undefined && budget >= 0; next = channel.waiting[0]) {
          budget -= bytesIn(next);
          channel.deliver();
        }
      }
    },
    /** Passes on all bytes of the sender except this many at the end. */
    passAllBut(bytes: number) {
      while (inFlight() > bytes) for (const { channel } of ofSender()) if (inFlight() > bytes) channel.deliver();
    },
  };
}

/** A client of this device that is online, and the first transfer that it hears of. */
async function onlineOf(device: KeyedDevice) {
  const direct = device.direct(peerToPeer());
  const offered = new Promise<IncomingTransfer>((resolve) => direct.client.on('incoming', resolve));
  direct.client.start();
  await direct.client.untilOnline();
  closers.push(() => direct.client.close());
  return { ...direct, offered };
}

/** Takes the file of the offer, after the stored bytes. */
async function accept(
  device: KeyedDevice,
  { client, sealing, offered }: Awaited<ReturnType<typeof onlineOf>>,
  stored: Buffer[],
) {
  const opened = await sealing.files.open(client.transfers, await device.ring(), await offered);
  if (opened.kind !== 'opened') throw new Error(opened.kind);
  return opened.offer.accept(() => ({
    offset: Buffer.concat(stored).length,
    read: () => new Blob(stored.map((part) => new Uint8Array(part))).stream(),
    write: (chunk) => void stored.push(Buffer.from(chunk)),
    close() {},
  }));
}

/** Sends a file over the direct path, slowly, until the sender has begun to leave it. */
async function leaving() {
  const [laptop, phone] = await devices();
  const [sender, receiver] = [await onlineOf(laptop), await onlineOf(phone)];
  const content = randomBytes(BYTES);
  const sources = [blobSource(new Blob([content]), 'film.bin')];
  const to = (await sender.client.devices.list()).find(({ name }) => name === 'Phone')?.device_id ?? '';
  const sealed = await sender.sealing.files.seal(await laptop.ring(), { to, files: sources });
  const sending = await sender.sealing.files.send(sender.client.transfers, sealed, sources);
  const stored: Buffer[] = [];
  const receiving = await accept(phone, receiver, stored);
  const network = slowNetwork();
  while (!network.isLeft()) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    network.pass();
  }
  const underWay = network.inFlight();
  expect(underWay).toBeGreaterThan(RECORD);
  expect(network.arrived() + underWay).toBeLessThan(BYTES / 2);
  return { content, stored, sending, receiving, network, underWay, phone, receiver };
}

test.each([
  ['all that is under way is lost, and both notice', 1, [ofSender, ofReceiver]],
  ['half of it is lost, and the sender alone notices', 0.5, [ofSender]],
  ['its reports are lost, and the receiver alone notices', 0, [ofReceiver]],
])(
  'a direct path that dies while it is left for the relay: %s',
  async (_, lost, sides) => {
    const { content, stored, sending, receiving, network, underWay } = await leaving();
    const count = peers.length;
    network.passAllBut(lost * underWay);
    for (const side of sides) for (const { channel } of side()) channel.end();
    await Promise.all([sending.done, receiving.done]);
    expect(sha256(Buffer.concat(stored))).toBe(sha256(content));
    // It stays at the relay.
    expect([receiving.progress.path, sending.progress.path, peers.length]).toEqual(['relay', 'relay', count]);
  },
  180_000,
);

test('a direct path that dies while it is left for the relay: with the receiver, who comes back', async () => {
  const { content, stored, sending, receiving, phone, receiver } = await leaving();
  receiving.done.catch(() => {});
  const count = peers.length;
  // Nobody closes the connections of a page that is gone.
  for (const peer of ofReceiver()) Object.assign(peer, { close() {} });
  for (const { channel } of peers) channel.other = null;
  await receiver.client.close();
  const again = await accept(phone, await onlineOf(phone), stored);
  await Promise.all([sending.done, again.done]);
  expect(sha256(Buffer.concat(stored))).toBe(sha256(content));
  expect([again.progress.path, sending.progress.path, peers.length]).toEqual(['relay', 'relay', count]);
}, 180_000);
