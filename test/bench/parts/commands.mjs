import { inRounds, withSides } from '../rounds/rounds.mjs';
import { leastDisturbed } from '../rounds/side.mjs';
import { makeCircles } from './messages.mjs';

/** The order matters: what is acknowledged was sent before. */
const COMMANDS = [
  ['message', 'POST /api/message, and its delivery'],
  ['ack', 'POST /api/message/ack, one message, and its event'],
  ['signal', 'POST /api/hub/signal, and its delivery'],
  ['clipboard', 'PUT /api/clipboard, and its event'],
  ['devices', 'GET /api/devices, two devices'],
];

/** Measures what each route's hot path costs servers and Redis: the same number of requests for every kind. */
export async function measureCommands({ options, say, ...parts }) {
  const { rounds, tries, operations: count, commandsInFlight: inFlight, pairs: accounts, bytes } = options;
  const steps = COMMANDS.map(([command, title]) => ({
    name: command,
    title,
    async run(side) {
      const once = async () => {
        const spent = await side.watch();
        await side.load.ask('command', { command, count, inFlight });
        const { servers_us, redis_us, others } = await spent();
        return { servers_us: servers_us / count, redis_us: redis_us / count, others };
      };
      if (command !== 'ack') return leastDisturbed(tries, once);
      // Acknowledged messages are gone, so this runs once. It then removes what the tries of the messages left.
      const figures = await once();
      await side.load.ask('acknowledgeAll');
      return figures;
    },
  }));
  const circles = { ...parts, group: 'commands', listeners: 1, senderListens: true, accounts, bytes };
  return withSides(
    (kind) => makeCircles({ ...circles, kind }),
    async (sides) => {
      for (const side of Object.values(sides)) {
        say(`warming up ${side.kind}`);
        for (const [command] of COMMANDS) await side.load.ask('command', { command, count, inFlight });
      }
      return inRounds({ rounds, steps, sides, say });
    },
  );
}
