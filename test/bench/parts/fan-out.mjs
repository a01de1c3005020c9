import { inRounds, KINDS, withSides } from '../rounds/rounds.mjs';
import { leastDisturbed } from '../rounds/side.mjs';
import { makeCircles, runMessages } from './messages.mjs';

/** Returns how many accounts of a size share these streams. There are enough accounts for several messages at once. */
const accountsFor = (listeners, streams) => Math.max(8, Math.round(streams / listeners));

/**
 * Measures a message to all devices of an account, by the number of them that listen. The sending device does not
 * listen.
 */
export async function measureFanOut({ options, say, ...parts }) {
  const { rounds, tries, fanOut, fanOutSeconds: seconds, fanOutStreams, ackEvery, bytes } = options;
  const found = [];
  for (const listeners of fanOut) {
    const accounts = accountsFor(listeners, fanOutStreams);
    const run = async (side) => {
      const figures = await runMessages(side, 'saturated', { inFlight: accounts, seconds, ackEvery });
      const { per_second, servers_us, redis_us, p50, p99, others } = figures;
      const delivered = { delivered_per_second: per_second * listeners, delivered_us: servers_us / listeners };
      return { per_second, ...delivered, servers_us, redis_us, p50, p99, others };
    };
    const title = `accounts of ${listeners} listening`;
    const steps = [{ name: `devices_${listeners}`, title, run: (side) => leastDisturbed(tries, () => run(side)) }];
    const circles = { ...parts, group: `fan-out-${listeners}`, listeners, senderListens: false, accounts, bytes };
    const part = await withSides(
      (kind) => makeCircles({ ...circles, kind }),
      async (sides) => {
        for (const kind of KINDS) await run(sides[kind]);
        return inRounds({ rounds, steps, sides, say });
      },
    );
    found.push(...part);
  }
  return found;
}
