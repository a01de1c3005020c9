import { randomBytes } from 'node:crypto';
import { makeClient } from '../../../dist/shared/client/http/client.js';
import { makeStream } from '../../../dist/shared/client/stream/stream.js';
import { leanFetch } from './client-transport.mjs';

/** A message that takes longer than this counts as lost, and fails the run. */
const LOST_AFTER_MS = 10_000;
/** The most messages that one acknowledgement may name. */
const MOST_ACKED = 100;

const random = () => randomBytes(9).toString('base64url');

/** Makes a development device: a client, and a stream on one server. */
export function makeDevice({ url, user, name }) {
  const id = random();
  const headers = { 'X-Dev-User': user, 'X-Dev-Device': id, 'X-Dev-Name': name, 'X-Dev-Type': 'linux' };
  const where = { baseUrl: url, headers, fetch: leanFetch };
  return {
    id,
    client: makeClient({ ...where, retries: 0 }),
    /** Resolves to the stream once it said `ready`. */
    listen(onEvent) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('A stream did not become ready')), 6 * LOST_AFTER_MS);
        const stream = makeStream({
          ...where,
          onEvent(event) {
            if (event.name === 'ready') {
              clearTimeout(timer);
              resolve(stream);
            }
            onEvent(event);
          },
        });
        stream.start();
      });
    },
  };
}

/** Makes the receiver's duty: it tells the service what has arrived, `every` messages in one request. 0: never. */
function makeAcknowledger(client, every) {
  const arrived = [];
  const running = new Set();
  const send = () => {
    const ids = arrived.splice(0, MOST_ACKED);
    const call = client.call('ackMessages', { body: { message_ids: ids } }).finally(() => running.delete(call));
    running.add(call);
  };
  return {
    add(messageId) {
      if (every === 0) return;
      arrived.push(messageId);
      if (arrived.length >= every) send();
    },
    async finish() {
      while (arrived.length > 0) send();
      await Promise.all(running);
    },
  };
}

/**
 * Opens two devices of one account. The sender talks to and listens on one server, the receiver on the other, so that
 * every message crosses. Both streams are open, as in real use.
 */
export async function openPair({ sendOn, listenOn, bytes, ackEvery }) {
  const user = `bench-${random()}`;
  const sender = makeDevice({ url: sendOn, user, name: 'Sender' });
  const receiver = makeDevice({ url: listenOn, user, name: 'Receiver' });
  const acknowledger = makeAcknowledger(receiver.client, ackEvery);
  const expected = new Map();
  let sent = 0;
  const onEvent = ({ name, data }) => {
    if (name !== 'message') return;
    expected.get(Number.parseInt(data.content, 10))?.(performance.now());
    acknowledger.add(data.message_id);
  };
  const streams = [await receiver.listen(onEvent), await sender.listen(() => {})];

  const arrival = (number) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('A message was not delivered')), LOST_AFTER_MS);
      expected.set(number, (atMs) => {
        clearTimeout(timer);
        expected.delete(number);
        resolve(atMs);
      });
    });

  return {
    /** Sends one message. Once it was both accepted and delivered, this resolves to the milliseconds until delivery. */
    async exchange() {
      const number = (sent += 1);
      const body = { to_device_id: receiver.id, content: `${number} `.padEnd(bytes, 'x') };
      const startedMs = performance.now();
      const accepted = sender.client.call('sendMessage', { body });
      const [arrivedMs] = await Promise.all([arrival(number), accepted]);
      return arrivedMs - startedMs;
    },
    finish: () => acknowledger.finish(),
    async close() {
      await acknowledger.finish();
      await Promise.all(streams.map((stream) => stream.stop()));
    },
  };
}
