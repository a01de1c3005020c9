import { accountOf } from './wire.mjs';
import { Listener } from './listener.mjs';
import { overlapped, pause } from './overlapped.mjs';

const WITHIN_MS = 120_000;
/** The pause before a refused connection (a full backlog, a server that is going) is tried again. */
const RETRY_MS = 100;

const streams = [];
/**
 * The number of streams that lost their server, the number that will lose it, and the streams that wait for their turn
 * to come back.
 */
let lost = 0;
let losses = 0;
const waiting = [];
let opening = 0;
let refused = 0;
/** Where a stream that loses its server goes; null: to the same server. */
let refuge = null;

async function openUntilLive(stream) {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    try {
      if (stream.isLive) return;
      await stream.open();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      refused += 1;
      await pause(RETRY_MS);
    }
  }
}

function openNext(width) {
  while (opening < width && waiting.length > 0) {
    opening += 1;
    void openUntilLive(waiting.pop()).finally(() => {
      opening -= 1;
      openNext(width);
    });
  }
}

/** Comes back as soon as it notices its loss; at most `width` at once. */
function comeBack(stream, width) {
  lost += 1;
  if (refuge !== null) stream.moveTo(refuge);
  waiting.push(stream);
  openNext(width);
}

/** Tasks for thousands of quiet streams. Each process has a part of them. */
export const FLEET_TASKS = {
  /** Opens streams `from` to `to`. The devices of an account are next to each other, and the servers take turns. */
  async openStreams({ group, from, to, perAccount, urls, width }) {
    const added = Array.from({ length: to - from }, (_, i) => {
      const number = from + i;
      const { user, devices } = accountOf(group, Math.floor(number / perAccount), perAccount);
      const stream = new Listener({ user, device: devices[number % perAccount], url: urls[number % urls.length] });
      stream.onLost = () => comeBack(stream, width);
      return stream;
    });
    streams.push(...added);
    refused = 0;
    await overlapped(added.length, width, (i) => openUntilLive(added[i]));
    return { refused };
  },

  /** Cuts all streams in one moment. They come back at once, each with its position. */
  async storm({ width }) {
    refused = 0;
    for (const stream of streams) stream.cut();
    await overlapped(streams.length, width, (i) => openUntilLive(streams[i]));
    return { refused };
  },

  /** From now on a stream that loses its server comes to `to`. Those on `from` will lose it. */
  async expectLoss({ from, to }) {
    refuge = to;
    losses = streams.filter(({ url }) => url === from).length;
    lost = 0;
    refused = 0;
  },

  /** Resolves when these streams have lost it and all are live. */
  async untilLive() {
    const deadline = performance.now() + WITHIN_MS;
    while (lost < losses || streams.some(({ isLive }) => !isLive)) {
      if (performance.now() > deadline) throw new Error('Some streams did not come back');
      await pause(5);
    }
    refuge = null;
    return { refused, lost };
  },
};
