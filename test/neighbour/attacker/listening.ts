import { openStream } from '../load/sse.ts';
import { ADDRESS, type Attack, type AttackDevice } from './scenario.ts';

/** Opens a stream of each device and reads it to the end of the scenario. */
export function listening(attack: Attack, devices: readonly AttackDevice[]): void {
  const sockets = devices.map(({ url, headers }) => openStream({ url, headers, from: ADDRESS }));
  attack.onEnd(() => {
    for (const socket of sockets) socket.destroy();
  });
}
