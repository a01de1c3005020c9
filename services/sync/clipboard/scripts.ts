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
    /** Device of the writer, '' where it has none. */
    device: text,
    /** Name to show, '' for the name of the device's row. */
    name: text,
    /** Content as a JSON string. The sealed text that replaces it follows as a field. */
    content: text,
    /** Size of the content in bytes. */
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
    /** Clears only an entry whose lifetime is over. */
    onlyWhenOver: flag,
  },
  reply: record({ cleared: flag }),
  announces: true,
  runsWhenFull: true,
});
