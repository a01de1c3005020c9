import type { Connection, DeviceHistory, History } from '../history.ts';
import type { Violation } from './violation.ts';

/** After quiet a message arrives within this time. */
const PROBE_WITHIN_MS = 10_000;

const openAt = ({ connections }: DeviceHistory, at: number): Connection | undefined =>
  connections.find((one) => one.openAt !== null && one.openAt <= at && (one.closedAt ?? Infinity) > at);

/**
 * No stream is open but silent: after quiet each stream brings a probe itself, and does not leave it to a successor.
 */
export function checkProbes({ devices, operations, checkpoints }: History): Violation[] {
  const byDevice = new Map(devices.map((one) => [one.device, one]));
  const byNumber = new Map(operations.map((one) => [one.number, one]));
  const violations: Violation[] = [];
  for (const { number: checkpoint, probes } of checkpoints) {
    for (const number of probes) {
      const probe = byNumber.get(number);
      if (probe?.kind !== 'message') continue;
      const { account, sentAt: at, answeredAt, outcome, code, receivers, device: sender } = probe;
      const say = (device: string, says: string) =>
        violations.push({ check: 'silent stream', at, account, device, says: `checkpoint ${checkpoint}: ${says}` });
      if (outcome !== 'acknowledged') say(sender, `the probe ${number} was not accepted (${code})`);
      for (const device of receivers) {
        const receiver = byDevice.get(device);
        const stream = receiver && openAt(receiver, at);
        if (receiver === undefined || stream === undefined) continue;
        const dueAt = answeredAt + PROBE_WITHIN_MS;
        const arrived = receiver.frames.filter((frame) => frame.name === 'message' && frame.operation === number);
        // A stream that ends meanwhile (rotation) leaves the probe to its successor.
        const outlived = (stream.closedAt ?? Infinity) > dueAt;
        if (arrived.some((frame) => frame.at <= dueAt && (!outlived || frame.connection === stream.number))) continue;
        say(device, `the probe ${number} did not arrive on the open connection ${stream.number} (${stream.replica})`);
      }
    }
  }
  return violations;
}

/**
 * `superseded` ends a stream for good. Only four newer streams of the device may cause it, and a device here never has
 * more than one.
 */
export function checkSuperseded({ devices }: History): Violation[] {
  return devices.flatMap(({ account, device, frames }) =>
    frames
      .filter((frame) => frame.name === 'reconnect' && frame.reason === 'superseded')
      .map(({ at, connection }) => ({
        check: 'superseded' as const,
        ...{ at, account, device },
        says: `its only stream (connection ${connection}) was ended for a newer one`,
      })),
  );
}

/** Returns what went wrong with the faults themselves. */
export const checkFaults = ({ faults }: History): Violation[] =>
  faults
    .filter(({ broken }) => broken !== null)
    .map(({ kind, target, startedAt, broken }) => ({
      check: 'fault',
      ...{ at: startedAt, account: '', device: null },
      says: `${kind} of ${target}: ${broken}`,
    }));
