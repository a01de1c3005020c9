import { LIMITS } from '../../../shared/contract/limits.ts';
import type { AttackDevice, Scenario } from './scenario.ts';

const CONTENT = 'm'.repeat(LIMITS.messageBytes);
const FILL = 520;

export const mailbox: Scenario = {
  name: 'mailbox',
  what: 'a mailbox of 500 unread messages of 4 KB, read in a loop, more messages to it and acknowledgements of unknown ones',
  works: /^200/,
  async prepare(attack) {
    const receiver = attack.devices.at(-1) as AttackDevice;
    const body = { to_device_id: receiver.id, content: CONTENT };
    for (let i = 0; i < FILL; i += 1) {
      const sender = attack.devices[i % (attack.devices.length - 1)] as AttackDevice;
      await attack.ask(sender, { method: 'POST', path: '/api/message', body });
    }
  },
  begin(attack) {
    const receiver = attack.devices.at(-1) as AttackDevice;
    const body = Buffer.from(JSON.stringify({ to_device_id: receiver.id, content: CONTENT }));
    attack.loop('listMessages', () => attack.ask(receiver, { path: '/api/message' }));
    attack.loop('sendMessage', (device) => attack.ask(device, { method: 'POST', path: '/api/message', body }));
    attack.loop('ackMessages', (device) => {
      const message_ids = Array.from({ length: LIMITS.ackIds }, () => crypto.randomUUID());
      return attack.ask(device, { method: 'POST', path: '/api/message/ack', body: { message_ids } });
    });
  },
};
