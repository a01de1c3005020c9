import { LIMITS } from '../../../shared/contract/limits.ts';
import { listening } from './listening.ts';
import type { Scenario } from './scenario.ts';

const CONTENT = 'm'.repeat(LIMITS.messageBytes);

export const messages: Scenario = {
  name: 'messages',
  what: 'messages of 4 KB to all devices at the limit, 60 of them with a stream, each acknowledged at once',
  works: /^201/,
  begin(attack) {
    listening(attack, attack.devices);
    const body = Buffer.from(JSON.stringify({ to: '*', content: CONTENT }));
    attack.loop('sendMessage', async (device) => {
      // An answer under a key is remembered for ten minutes; this one has 60 rows.
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const answer = await attack.ask(device, { method: 'POST', path: '/api/message', body, headers });
      const { message_id: id } = (answer.body ?? {}) as { message_id?: string };
      if (answer.status !== 201 || id === undefined) return;
      // Two devices fetch theirs. The others keep their messages, which fills the account's mailbox.
      for (const receiver of attack.devices.slice(0, 2)) {
        await attack.ask(receiver, { method: 'POST', path: '/api/message/ack', body: { message_ids: [id] } });
      }
    });
  },
};
