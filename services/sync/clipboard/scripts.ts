import { defineScript } from '../redis/script.ts';
import {
  digits,
  flag,
  number,
  randomBits,
  record,
  resentAfter,
  text,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const clipboardSet = defineScript({
  file: new URL('./lua/clipboard-set.lua', import.meta.url),
  keys: ['devices', 'routes', 'log', 'clipboard', 'due', 'operation', 'rate', 'accountRate'],
  args: {
    /** Device of the writer, '' without. */
    device: text,
    /** Name to show, '' for the name of its row. */
    name: text,
    /** Content as a JSON string, and behind it what is sealed in its place, as a field. */
    content: text,
    /** Content in bytes. */
    bytes: digits,
    random: randomBits,
    resentAfterMs: resentAfter,
  },
  settings: ['TTL_MS', 'RATE_LIMIT'],
  reply: record({ name: text, updatedAtMs: number, expiresAtMs: number }),
  announces: true,
  rate: 'clipboard',
});

export const clipboardClear = defineScript({
  file: new URL('./lua/clipboard-clear.lua', import.meta.url),
  keys: ['routes', 'log', 'clipboard', 'due'],
  args: {
    random: randomBits,
    /** Only when its time is over. */
    onlyWhenOver: flag,
  },
  reply: record({ cleared: flag }),
  announces: true,
  runsWhenFull: true,
});
