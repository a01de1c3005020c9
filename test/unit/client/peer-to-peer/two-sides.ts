import { randomBytes } from 'node:crypto';
import { peerToPeer } from '../../../../shared/client/peer-to-peer.ts';
import type {
  PeerModule,
  PeerReceivingParts,
  PeerSendingParts,
  Signal,
} from '../../../../shared/client/transfers/peer-module.ts';
import { makeManualClock } from '../manual-clock.ts';
import { peers } from './fake-peers.ts';

/** Takes the signals of the other side. */
type Take = (signal: Signal) => void;

const PLAIN = peerToPeer() as PeerModule;
const TRANSFER = { state: 'ACCEPTED', sender: { device_id: 'laptop' }, receiver: { device_id: 'phone' } };

function makeParts(toOther: Take) {
  const controller = new AbortController();
  const signals: Signal[] = [];
  const caller = {
    async call(name: string, { body }: { body: Signal }) {
      if (name === 'getIceServers') return { body: { ice_servers: [] } };
      const signal = { kind: body.kind, payload: structuredClone(body.payload) };
      signals.push(signal);
      toOther(signal);
      return { body: { delivered: true } };
    },
  };
  const run = {
    ...{ id: 't', transfer: TRANSFER, signal: controller.signal, meter: { file() {}, path() {} } },
    until: async () => {},
    unpaused: async () => {},
    insist: (work: () => unknown) => work(),
    act: async () => {},
    ...{ update() {}, wake() {} },
    fail: async (error: unknown) => void failures.push(error),
  };
  const failures: unknown[] = [];
  const clock = makeManualClock();
  const parts = { ...{ run, caller, clock, tell() {} }, onProblem: (error: unknown) => void failures.push(error) };
  return { parts, signals, failures, clock, end: () => controller.abort() };
}

/** Makes a sender of one file of random bytes. Its signals go to `toOther`. */
export function makeSender(bytes: number, toOther: Take, paths = PLAIN) {
  const content = new Uint8Array(randomBytes(bytes));
  const made = makeParts(toOther);
  const relayed: number[][] = [];
  const stored: number[] = [];
  const source = {
    ...{ name: 'file', size: bytes, replayable: true },
    open: (offset: number) => new Blob([content.slice(offset)]).stream(),
  };
  const relay = {
    begin: async (ways: number[]) => void relayed.push(ways),
    stored: (index: number) => stored.push(index),
    nudge() {},
  };
  const side = paths.sending({ ...made.parts, sources: [source], relay } as unknown as PeerSendingParts);
  return { ...made, side, content, relayed, stored };
}

export function makeReceiver(toOther: Take, paths = PLAIN) {
  const made = makeParts(toOther);
  const side = paths.receiving({ ...made.parts, onOpen() {} } as unknown as PeerReceivingParts);
  const parts: Uint8Array[] = [];
  let came = 0;
  return {
    ...made,
    side,
    count: () => came,
    bytes: () => Buffer.concat(parts),
    fetch: (size: number, offset = 0) =>
      side.fetch({
        ...{ index: 0, offset, size },
        async take(bytes) {
          came += bytes.length;
          parts.push(bytes.slice());
        },
      }),
  };
}

/** Delivers messages of every channel, one of each in turn, until `isSo`. The steps in between run too. */
export async function deliverUntil(isSo: () => boolean, each: () => void = () => {}): Promise<void> {
  while (!isSo()) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const { channel } of peers) channel.deliver();
    each();
  }
}
