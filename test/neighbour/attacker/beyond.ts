import { rateOf } from '../load/limits.ts';
import type { AttackDevice, Scenario } from './scenario.ts';

/** How many times the limit of one device is sent. */
const TIMES = 3;
const EACH_PER_SECOND = 20;

export const beyond: Scenario = {
  name: 'beyond',
  what: 'requests three times beyond the limits of single devices: refusals in a loop',
  // A short run does not get as far as the refusals.
  works: /^(429|201)/,
  begin(attack) {
    const [first, second] = attack.devices as [AttackDevice, AttackDevice];
    const body = { to_device_id: second.id, content: 'once more' };
    const { limit = EACH_PER_SECOND, windowSeconds = 1 } = rateOf('sendMessage') ?? {};
    let sent = 0;
    const most = limit * TIMES * Math.max(1, 60 / windowSeconds);
    attack.loop('sendMessage', async () => {
      if (sent++ < most) await attack.ask(first, { method: 'POST', path: '/api/message', body });
    });
    attack.loop('setClipboard', async () => {
      const entry = { content: 'once more', content_type: 'text/plain' };
      if (sent++ < most * 2) await attack.ask(first, { method: 'PUT', path: '/api/clipboard', body: entry });
    });
  },
};
