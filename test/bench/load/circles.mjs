import { openCircle } from './circle.mjs';
import { makeLanes } from './lanes.mjs';
import { overlapped, pause } from './overlapped.mjs';

/** The number of accounts that are opened at the same time. */
const OPENING = 20;
const WITHIN_MS = 10_000;

let circles = [];
let lanes = [];

const circleOf = (number) => circles[number % circles.length];
const finish = async () => {
  await Promise.all(circles.map((circle) => circle.finish()));
};

/** Each command, and the event by which the receivers see its delivery. */
const COMMANDS = {
  message: { act: (circle) => circle.exchange() },
  ack: { act: (circle) => circle.acknowledgeOne() },
  signal: { act: (circle) => circle.signal(), event: 'signal' },
  clipboard: { act: (circle) => circle.copy(), event: 'clipboard' },
  devices: { act: (circle) => circle.list() },
};

const countOf = (event) => circles.reduce((sum, circle) => sum + circle.countOf(event), 0);

async function untilCounted(event, wanted) {
  const deadline = performance.now() + WITHIN_MS;
  while (countOf(event) < wanted) {
    if (performance.now() > deadline) throw new Error(`${wanted - countOf(event)} events were not delivered: ${event}`);
    await pause(2);
  }
}

async function timed(ackEvery, run) {
  for (const circle of circles) circle.setAckEvery(ackEvery);
  const startedMs = performance.now();
  const found = await run();
  const seconds = (performance.now() - startedMs) / 1_000;
  await finish();
  return { ...found, seconds };
}

/**
 * Tasks for accounts that send and receive. All are in one process, so that one clock measures the way of a message.
 */
export const CIRCLE_TASKS = {
  async openCircles({ urls, accounts, ...circle }) {
    lanes = urls.map(makeLanes);
    const opened = [];
    await overlapped(accounts, OPENING, async (number) => {
      opened.push(await openCircle({ ...circle, number, urls, lanes }));
    });
    circles = opened;
  },

  async closeCircles() {
    await finish();
    for (const { close } of [...circles, ...lanes]) close();
    circles = [];
    lanes = [];
  },

  acknowledgeAll: finish,

  /** One message is in flight: the next is sent when the previous one was accepted and delivered. */
  oneByOne: ({ messages, ackEvery }) =>
    timed(ackEvery, async () => {
      const latencies = [];
      for (let i = 0; i < messages; i += 1) latencies.push(await circleOf(i).exchange());
      return { latencies };
    }),

  /** Messages are evenly spaced, whatever the answers do: a slow server does not slow the sending. */
  paced: ({ perSecond, seconds, ackEvery }) =>
    timed(ackEvery, async () => {
      const exchanges = [];
      const lateness = [];
      const startMs = performance.now();
      for (let i = 0; i < perSecond * seconds; i += 1) {
        const dueMs = startMs + (i * 1_000) / perSecond;
        while (performance.now() < dueMs) await pause(dueMs - performance.now());
        lateness.push(performance.now() - dueMs);
        exchanges.push(circleOf(i).exchange());
      }
      return { latencies: await Promise.all(exchanges), lateness };
    }),

  /** `inFlight` messages are in flight at any moment. */
  saturated: ({ inFlight, seconds, ackEvery }) =>
    timed(ackEvery, async () => {
      const latencies = [];
      const untilMs = performance.now() + seconds * 1_000;
      let next = 0;
      await overlapped(inFlight, inFlight, async () => {
        while (performance.now() < untilMs) latencies.push(await circleOf(next++).exchange());
      });
      return { latencies };
    }),

  /** Calls one route's hot path this many times. Messages are not acknowledged, so that `ack` finds them. */
  async command({ command, count, inFlight }) {
    const { act, event } = COMMANDS[command];
    const before = event && countOf(event);
    for (const circle of circles) circle.setAckEvery(0);
    await overlapped(count, inFlight, (i) => act(circleOf(i)));
    if (event) await untilCounted(event, before + count);
  },
};
