import { LIMITS } from '../../../shared/contract/limits.ts';
import { listening } from './listening.ts';
import type { Scenario } from './scenario.ts';

export const clipboard: Scenario = {
  name: 'clipboard',
  what: 'a clipboard of 64 KB written at the limit, read and cleared in a loop, 60 streams open',
  works: /^200/,
  begin(attack) {
    listening(attack, attack.devices);
    // A control character is six times as long when it is escaped, and must be unescaped again.
    const content = '\u0001'.repeat(LIMITS.clipboardBytes / 2) + 'c'.repeat(LIMITS.clipboardBytes / 2);
    const body = Buffer.from(JSON.stringify({ content, content_type: 'text/plain' }));
    attack.loop('setClipboard', (device) => attack.ask(device, { method: 'PUT', path: '/api/clipboard', body }));
    attack.loop('getClipboard', (device) => attack.ask(device, { path: '/api/clipboard' }));
    attack.loop('clearClipboard', (device) => attack.ask(device, { method: 'DELETE', path: '/api/clipboard' }));
  },
};
