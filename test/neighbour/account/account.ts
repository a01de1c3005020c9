import { randomBytes } from 'node:crypto';
import { allowedPerSecond } from '../load/limits.ts';
import { type Ask, makeAsk } from '../load/http.ts';
import { startLoop } from '../load/pace.ts';
import { type Frame, openStream } from '../load/sse.ts';
import { waitsOf } from '../measure/processor.ts';
import { relayOnce } from './relayed-file.ts';

/*
 * The account beside the attacker's: two devices that listen, each on its replica, and some that only send, so that a
 * message can be sent every 70 ms while each stays below its limit. It writes down how long everything took and
 * everything that it saw.
 */

const ADDRESS = '127.0.0.3';
const SENDERS = 8;
/** A share of what the limits allow. */
const SHARE = 0.9;
const MOST_MESSAGES_PER_SECOND = 14.4;
const LOST_AFTER_MS = 10_000;
const ACK_MS = 1_500;
const MOST_ACKED = 100;
const RELAY_MS = 8_000;

export type SampleKind = 'message' | 'clipboard' | 'devices' | 'relay';

export interface Sample {
  kind: SampleKind;
  /** The Unix ms of its beginning. */
  at: number;
  /** Null: it did not happen within 10 s. */
  ms: number | null;
  /**
   * The longest wait for a processor, meanwhile, of the processes on its way (the replicas, the store, this one). The
   * machine is to blame for that wait.
   */
  waitedMs: number;
}

/** Something that an account within its limits should never see. */
export interface Fault {
  at: number;
  what: string;
}

export interface Seen {
  samples: Sample[];
  faults: Fault[];
  /** The events of both streams, by name. */
  events: Record<string, number>;
  statuses: Record<string, number>;
}

interface Device {
  id: string;
  url: string;
  headers: Record<string, string>;
}

interface Start {
  urls: [string, string];
  account: string;
  /** The processes on the way of a message. */
  pids: number[];
}

const seen: Seen = { samples: [], faults: [], events: {}, statuses: {} };
const waiting = new Map<string, (at: number) => void>();
let unacknowledged: { device: Device; id: string }[] = [];
let stopAll: () => Promise<void> = () => Promise.resolve();

let pids: number[] = [];

/**
 * Starts to measure. The returned function tells how long something took since then, and how long it waited for a
 * processor.
 */
function stopwatch(): (endedAt?: number) => { ms: number; waitedMs: number } {
  const [before, startedAt] = [waitsOf(pids), performance.now()];
  return (endedAt = performance.now()) => {
    const waits = waitsOf(pids).map((ms, i) => ms - (before[i] as number));
    return { ms: endedAt - startedAt, waitedMs: Math.max(0, ...waits) };
  };
}

const fault = (what: string, at = Date.now()): void => void seen.faults.push({ at, what });

function makeDevice(account: string, number: number, url: string): Device {
  const id = randomBytes(9).toString('base64url');
  const name = `n${number}`;
  return {
    id,
    url,
    headers: { 'X-Dev-User': account, 'X-Dev-Device': id, 'X-Dev-Name': name, 'X-Dev-Type': 'linux' },
  };
}

const asked = makeAsk({ from: ADDRESS });

/** Acts like `asked`, and records every refusal as a fault. */
const ask: Ask = async (url, call) => {
  const answer = await asked(url, call);
  seen.statuses[answer.status] = (seen.statuses[answer.status] ?? 0) + 1;
  if (answer.status < 200 || answer.status > 299) {
    fault(`${call.method ?? 'GET'} ${call.path.split('?')[0]}: ${answer.status} ${answer.code}`);
  }
  return answer;
};

/** The events that may come on a stream on which nothing goes wrong. */
const QUIET = new Set([
  ...['message', 'message:delivered', 'presence', 'clipboard', 'clipboard:cleared', 'ping', 'device:added'],
  ...['transfer:incoming', 'transfer:updated'],
]);

function take(device: Device, frame: Frame): void {
  const { event, data, at } = frame;
  seen.events[event] = (seen.events[event] ?? 0) + 1;
  // Each of the two streams has one `ready`. Another one says that something was missed.
  const isFirst = event === 'ready' && (seen.events['ready'] ?? 0) <= 2;
  if (!isFirst && !QUIET.has(event)) fault(`event ${event} ${data.slice(0, 100)}`);
  if (event === 'message') {
    const { message_id: id, content } = JSON.parse(data) as { message_id: string; content: string };
    unacknowledged.push({ device, id });
    waiting.get(`${device.id} ${content}`)?.(at);
  }
  if (event === 'clipboard') waiting.get(`${device.id} ${(JSON.parse(data) as { bytes: number }).bytes}`)?.(at);
}

/** Measures the time from the call to the event that `key` names. */
async function untilHeard(kind: SampleKind, key: string, call: () => Promise<unknown>): Promise<void> {
  const [at, stop] = [Date.now(), stopwatch()];
  const heard = new Promise<{ ms: number | null; waitedMs: number }>((resolve) => {
    const late = setTimeout(() => resolve({ ms: null, waitedMs: 0 }), LOST_AFTER_MS);
    waiting.set(key, (heardAt) => {
      clearTimeout(late);
      resolve(stop(heardAt));
    });
  });
  await call();
  const took = await heard;
  waiting.delete(key);
  if (took.ms === null) fault(`${kind} was not heard of within ${LOST_AFTER_MS} ms`, at);
  seen.samples.push({ kind, at, ...took });
}

async function acknowledge(): Promise<void> {
  const taken = unacknowledged;
  unacknowledged = [];
  for (const device of new Set(taken.map((one) => one.device))) {
    const ids = taken.filter((one) => one.device === device).map(({ id }) => id);
    for (let from = 0; from < ids.length; from += MOST_ACKED) {
      const body = { message_ids: ids.slice(from, from + MOST_ACKED) };
      await ask(device.url, { method: 'POST', path: '/api/message/ack', headers: device.headers, body });
    }
  }
}

/** Starts the loops, each below the limits of its route. */
function startLoops(listeners: [Device, Device], senders: Device[]): (() => Promise<unknown>)[] {
  const every = (ms: number, act: (i: number) => Promise<unknown>) =>
    startLoop({ perSecond: 1_000 / ms, atOnce: 4, act });
  const to = (i: number) => listeners[i % 2] as Device;
  const messagesPerSecond = Math.min(
    MOST_MESSAGES_PER_SECOND,
    (allowedPerSecond('sendMessage', senders.length) ?? MOST_MESSAGES_PER_SECOND) * SHARE,
  );
  const message = (i: number): Promise<void> => {
    const [sender, receiver] = [senders[Math.floor(i / 2) % senders.length] as Device, to(i)];
    const content = `message ${i}`;
    const body = { to_device_id: receiver.id, content };
    return untilHeard('message', `${receiver.id} ${content}`, () =>
      // The request goes to the other replica than the receiver's.
      ask(to(i + 1).url, { method: 'POST', path: '/api/message', headers: sender.headers, body }),
    );
  };
  const clipboard = (i: number): Promise<void> => {
    const [sender, receiver] = [to(i + 1), to(i)];
    // Events do not carry the content; its length tells the calls apart.
    const bytes = 100 + (i % 1_000);
    const body = { content: 'c'.repeat(bytes), content_type: 'text/plain' };
    return untilHeard('clipboard', `${receiver.id} ${bytes}`, () =>
      ask(sender.url, { method: 'PUT', path: '/api/clipboard', headers: sender.headers, body }),
    );
  };
  const list = async (i: number): Promise<void> => {
    const [at, stop] = [Date.now(), stopwatch()];
    const { status } = await ask(to(i).url, { path: '/api/devices', headers: to(i).headers });
    const took = stop();
    seen.samples.push({ kind: 'devices', at, ...took, ...(status !== 200 && { ms: null }) });
  };
  const relay = async (): Promise<void> => {
    const [at, stop] = [Date.now(), stopwatch()];
    const { ms, problem } = await relayOnce({ ask, sender: listeners[0], receiver: listeners[1] });
    if (problem !== null) fault(`relay: ${problem}`);
    seen.samples.push({ kind: 'relay', at, waitedMs: stop().waitedMs, ms });
  };
  return [
    startLoop({ perSecond: messagesPerSecond, atOnce: 200, act: message }),
    every(1_700, clipboard),
    every(900, list),
    every(ACK_MS, acknowledge),
    every(RELAY_MS, relay),
  ];
}

export const TASKS = {
  /** Resolves when both streams are open and every loop runs. */
  async start({ urls, account, pids: others }: Start): Promise<void> {
    pids = [...others, process.pid];
    const devices = Array.from({ length: SENDERS + 2 }, (_, i) => makeDevice(account, i, urls[i % 2] as string));
    const [first, second, ...senders] = devices as [Device, Device, ...Device[]];
    // Each device has its row before the first figure is taken.
    for (const device of devices) await ask(device.url, { path: '/api/devices', headers: device.headers });
    let isOver = false;
    const sockets = await Promise.all(
      [first, second].map(
        (device) =>
          new Promise<{ destroy(): void }>((resolve) => {
            const socket = openStream({
              ...{ url: device.url, headers: device.headers, from: ADDRESS },
              onClose: () => isOver || fault('a stream ended'),
              onFrame: (frame) => {
                if (frame.event === 'ready') resolve(socket);
                take(device, frame);
              },
            });
          }),
      ),
    );
    const loops = startLoops([first, second], senders);
    stopAll = async () => {
      await Promise.all(loops.map((stop) => stop()));
      isOver = true;
      for (const socket of sockets) socket.destroy();
    };
  },

  /** Resolves to everything that was seen, once nothing is under way. */
  async stop(): Promise<Seen> {
    await stopAll();
    return seen;
  },
};
