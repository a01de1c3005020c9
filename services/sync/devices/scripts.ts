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
    /** Wanted name. */
    wanted: text,
    /** Type. */
    wantedKind: text,
    random: randomBits,
    /** As `NewDevice.mode`. */
    mode: oneOf('new', 'lost', 'kept', 'minted'),
    /** Session id, '' when it is not known. */
    session: text,
    /** Session end in ms, 0 when it is not known. */
    sessionEnd: digits,
    /** To the others. */
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
    /** The row as it was read, to remove only that; '' to remove whatever is there. */
    expected: text,
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
