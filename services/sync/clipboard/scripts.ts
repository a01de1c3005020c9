import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

export const clipboardSet = defineScript('clipboard-set', {
  keys: ['devices', 'routes', 'log', 'clipboard', 'due', 'operation', 'rate', 'accountRate'],
  args: {
    /** Device of the writer, '' if it has none. */
    device: t.text,
    /** Name to show, '' for the name of the device's row. */
    name: t.text,
    /** Content as a JSON string. The sealed text that replaces it follows as a field. */
    content: t.text,
    /** Size of the content in bytes. */
    bytes: t.digits,
    random: t.randomBits,
    resentAfterMs: t.resentAfter,
  },
  settings: ['TTL_MS'],
  reply: t.record({ name: t.text, updatedAtMs: t.number, expiresAtMs: t.number }),
  announces: true,
  rate: 'clipboard',
});

export const clipboardClear = defineScript('clipboard-clear', {
  keys: ['routes', 'log', 'clipboard', 'due'],
  args: {
    random: t.randomBits,
    /** Clears only an entry whose lifetime is over. */
    onlyWhenOver: t.flag,
  },
  reply: t.record({ cleared: t.flag }),
  announces: true,
  runsWhenFull: true,
});
