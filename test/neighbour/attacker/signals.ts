import { LIMITS } from '../../../shared/contract/limits.ts';
import { listening } from './listening.ts';
import type { AttackDevice, Scenario } from './scenario.ts';

const PAYLOAD = 's'.repeat(LIMITS.signalBytes - 100);
const RECEIVERS = 8;

export const signals: Scenario = {
  name: 'signals',
  what: 'signals of 16 KB at the limit, to devices with a stream',
  works: /^202/,
  begin(attack) {
    const receivers = attack.devices.slice(0, RECEIVERS);
    listening(attack, receivers);
    const bodies = receivers.map(({ id }) =>
      Buffer.from(JSON.stringify({ to_device_id: id, kind: 'offer', payload: PAYLOAD })),
    );
    attack.loop('sendSignal', (_, i) => {
      const sender = attack.devices[RECEIVERS + (i % (attack.devices.length - RECEIVERS))] as AttackDevice;
      return attack.ask(sender, { method: 'POST', path: '/api/hub/signal', body: bodies[i % RECEIVERS] });
    });
  },
};
