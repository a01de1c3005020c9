import { check } from '../chaos/checker/check.ts';
import type { DeviceHistory, Frame, History, Operation } from '../chaos/history.ts';
import { makeRandom, type Random } from '../chaos/random.ts';
import { generate } from '../unit/chaos/generated.ts';

/** How many frames are removed. One judgement takes a tenth of a second or more. */
const REMOVED = 40;

const countOf = (history: History): number => Object.values(check(history)).flat().length;

/** Returns the frames of what was acknowledged while no fault was active. */
function framesOutside({ devices, operations, faults }: History): { device: DeviceHistory; frame: Frame }[] {
  const isOutside = ({ sentAt, answeredAt }: Operation) =>
    !faults.some(({ startedAt, endedAt }) => startedAt <= answeredAt && endedAt >= sentAt);
  const calm = operations.filter((one) => one.outcome === 'acknowledged' && isOutside(one));
  const numbers = new Set(calm.map(({ number }) => number));
  const acked = new Set(calm.flatMap((one) => (one.kind === 'ack' ? one.messageIds : [])));
  const isCalm = (frame: Frame): boolean =>
    frame.name === 'message:delivered'
      ? frame.messageIds.some((id) => acked.has(id))
      : 'operation' in frame && frame.operation !== null && numbers.has(frame.operation);
  return devices.flatMap((device) => device.frames.filter(isCalm).map((frame) => ({ device, frame })));
}

/** Returns the share of removed frames whose absence the checker notices. Each frame is removed alone. */
function catchRate(history: History, random: Random): number {
  let caught = 0;
  for (const { device, frame } of random.shuffled(framesOutside(history)).slice(0, REMOVED)) {
    const all = device.frames;
    device.frames = all.filter((one) => one !== frame);
    if (countOf(history) > 0) caught += 1;
    device.frames = all;
  }
  return caught / REMOVED;
}

test.each(['one', 'two'])('of run %s nothing is wrong, and a frame that is taken out of it is missed', (seed) => {
  const random = makeRandom(seed);
  const history = generate(random);
  expect(Object.values(check(history)).flat()).toEqual([]);
  expect(framesOutside(history).length).toBeGreaterThan(1_000);

  expect(catchRate(history, random)).toBeGreaterThanOrEqual(0.9);
});
