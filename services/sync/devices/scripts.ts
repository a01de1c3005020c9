import { pushJobs, pushSchedule } from '../push/push-queue.ts';
import { defineScript } from '../redis/script.ts';
import {
  digits,
  flag,
  oneOf,
  randomBits,
  record,
  resentAfter,
  text,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

export const deviceAdd = defineScript({
  file: new URL('./lua/device-add.lua', import.meta.url),
  keys: ['devices', 'routes', 'log', 'presence', 'due', 'push'],
  args: {
    device: text,
    /** Requested name. */
    wanted: text,
    /** Requested type. */
    wantedKind: text,
    random: randomBits,
    /** As `NewDevice.mode`. */
    mode: oneOf('new', 'lost', 'kept', 'minted'),
    /** Session id, '' when it is unknown. */
    session: text,
    /** Session end in ms, 0 when it is unknown. */
    sessionEnd: digits,
    /** Pushes to the other devices. */
    pushes: pushSchedule,
  },
  reply: record({ row: text, added: flag, jobs: pushJobs }),
  announces: true,
});

export const deviceRemove = defineScript({
  file: new URL('./lua/device-remove.lua', import.meta.url),
  keys: ['devices', 'routes', 'log', 'presence', 'mail', 'inbox', 'due', 'push'],
  args: {
    device: text,
    random: randomBits,
    /** The row as it was read: only this row is removed. '' to remove any row. */
    expected: text,
    /** A word of `REMOVED_REASONS`. */
    reason: text,
  },
  reply: record({ removed: flag }),
  announces: true,
  runsWhenFull: true,
});

export const deviceRename = defineScript({
  file: new URL('./lua/device-rename.lua', import.meta.url),
  keys: ['devices', 'routes', 'log', 'presence', 'operation', 'rate'],
  args: {
    /** Device of the caller. */
    caller: text,
    /** Device to rename. */
    device: text,
    /** New name. */
    name: text,
    random: randomBits,
    resentAfterMs: resentAfter,
  },
  settings: ['RATE_LIMIT'],
  reply: record({ row: text, state: text }),
  announces: true,
  rate: 'rename',
});
