import { accountOf, identityLines, PATHS, requestText } from './wire.mjs';
import { Listener } from './listener.mjs';
import { pause } from './overlapped.mjs';

/** A message that takes longer than this counts as lost, and fails the run. */
const LOST_AFTER_MS = 30_000;
/** The most messages that one acknowledgement may name. */
const MOST_ACKED = 100;
const REOPEN_AFTER_MS = 100;
const CONTENT = '"content":"';
const MESSAGE_ID = '"message_id":"';
const ID_LENGTH = 36;

const fieldAt = (text, field) => text.indexOf(field) + field.length;

/** Opens the stream again, as often as it takes. Messages tell whether anything was lost. */
async function reopen(stream) {
  await pause(REOPEN_AFTER_MS);
  if (stream.isWanted) await stream.open().catch(() => reopen(stream));
}

/**
 * Opens the devices of one account. The first sends, and the others listen on the two servers in turn (the receiver of a pair
 * on another server than its sender). With `senderListens` the first has its stream open too, as in real use.
 */
export async function openCircle({ group, number, listeners, lanes, urls, bytes, senderListens }) {
  const { user, devices } = accountOf(group, number, listeners + 1);
  const receivers = devices.slice(1);
  const laneOf = (i) => lanes[(number + i) % lanes.length];
  const expected = new Map();
  const unacknowledged = [];
  const counts = {};
  let ackEvery = 0;
  let sent = 0;
  const running = new Set();

  const send = (i, method, path, json) => {
    const identity = identityLines(user, devices[i]);
    const lane = laneOf(i);
    return lane.ask(requestText({ method, path, host: lane.host, identity, json }));
  };

  function acknowledge(i, ids) {
    const call = send(i, 'POST', PATHS.ack, { message_ids: ids }).finally(() => running.delete(call));
    // The caller that waits for it learns how it ended. Until then a failure must not count as unhandled.
    call.catch(() => undefined);
    running.add(call);
  }

  function onMessage(i, text) {
    const idAt = fieldAt(text, MESSAGE_ID);
    const ids = (unacknowledged[i] ??= []);
    const id = text.slice(idAt, idAt + ID_LENGTH);
    if (text.includes('"redelivered":true') && ids.includes(id)) return;
    ids.push(id);
    expected.get(Number.parseInt(text.slice(fieldAt(text, CONTENT), fieldAt(text, CONTENT) + 12), 10))?.();
    if (ackEvery > 0 && ids.length >= ackEvery) acknowledge(i, ids.splice(0, MOST_ACKED));
  }

  const streams = (senderListens ? devices : receivers).map((device) => {
    const i = devices.indexOf(device);
    const onFrame = (name, text) => {
      if (name === 'message') return onMessage(i, text);
      if (i > 0) counts[name] = (counts[name] ?? 0) + 1;
    };
    const stream = new Listener({ user, device, url: urls[(number + i) % urls.length], onFrame });
    // A server may send a stream away (`reconnect`). Missed events come with the position.
    stream.onLost = () => void reopen(stream);
    return stream;
  });
  await Promise.all(streams.map((stream) => stream.open()));

  const delivered = (key) =>
    new Promise((resolve, reject) => {
      let left = listeners;
      const timer = setTimeout(
        () => reject(new Error(`A message was not delivered: the ${key}th of ${user}`)),
        LOST_AFTER_MS,
      );
      expected.set(key, () => {
        left -= 1;
        if (left > 0) return;
        clearTimeout(timer);
        expected.delete(key);
        resolve(performance.now());
      });
    });

  return {
    /** Returns how many events of a kind came to all receivers together. */
    countOf: (name) => counts[name] ?? 0,
    setAckEvery(every) {
      ackEvery = every;
    },
    /**
     * Sends a message to all receivers. Once it is accepted and delivered to all, this resolves to the milliseconds until then.
     */
    async exchange() {
      const key = (sent += 1);
      const to = listeners === 1 ? { to_device_id: receivers[0].id } : { to: '*' };
      const startedMs = performance.now();
      const arrived = delivered(key);
      const accepted = send(0, 'POST', PATHS.message, { ...to, content: `${key} `.padEnd(bytes, 'x') });
      const [arrivedMs] = await Promise.all([arrived, accepted]);
      return arrivedMs - startedMs;
    },
    /** The first receiver acknowledges its oldest unacknowledged message. There must be one. */
    acknowledgeOne: () => send(1, 'POST', PATHS.ack, { message_ids: unacknowledged[1].splice(0, 1) }),
    signal: () =>
      send(0, 'POST', PATHS.signal, { to_device_id: receivers[0].id, kind: 'candidate', payload: 'x'.repeat(bytes) }),
    copy: () => send(0, 'PUT', PATHS.clipboard, { content: 'x'.repeat(bytes), content_type: 'text/plain' }),
    list: () => send(0, 'GET', PATHS.devices),
    /** The receivers acknowledge everything that arrived. */
    async finish() {
      for (const [i, ids] of unacknowledged.entries()) {
        while (ids?.length > 0) acknowledge(i, ids.splice(0, MOST_ACKED));
      }
      await Promise.all(running);
    },
    close() {
      for (const stream of streams) stream.cut();
    },
  };
}
