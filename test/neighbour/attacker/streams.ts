import type { Socket } from 'node:net';
import { openStream } from '../load/sse.ts';
import { ADDRESS, type AttackDevice, type Scenario } from './scenario.ts';

/** An account may have 64. The rest come and go. */
const NEVER_READ = 56;
const STAY_MS = 300;

export const streams: Scenario = {
  name: 'streams',
  what: '56 streams that never read, others opened and closed in a loop, devices that come and go',
  works: /^stream/,
  begin(attack) {
    const open = new Set<Socket>();
    const openOne = ({ url, headers }: AttackDevice): Socket => {
      const socket = openStream({ url, headers, from: ADDRESS, onClose: () => open.delete(socket) });
      attack.note('stream');
      open.add(socket);
      return socket;
    };
    for (const device of attack.devices.slice(0, NEVER_READ)) openOne(device).pause();
    // The others have no other stream. Each is announced when it comes and, after the grace, when it is gone.
    const others = attack.devices.slice(NEVER_READ);
    attack.loop('openStream', (_, i) => {
      const socket = openOne(others[i % others.length] as AttackDevice);
      setTimeout(() => socket.destroy(), STAY_MS);
      return Promise.resolve();
    });
    // The same device opens streams again and again: the fifth ends the oldest.
    attack.loop('openStream', () => {
      openOne(attack.devices[0] as AttackDevice);
      return Promise.resolve();
    });
    attack.onEnd(() => {
      for (const socket of open) socket.destroy();
    });
  },
};
