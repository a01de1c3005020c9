import { pushJobs, pushSchedule } from '../push/push-queue.ts';
import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

export const deviceAdd = defineScript('device-add', {
  keys: ['devices', 'routes', 'log', 'presence', 'due', 'push'],
  args: {
    device: t.text,
    /** Requested name. */
    wanted: t.text,
    /** Requested type. */
    wantedKind: t.text,
    random: t.randomBits,
    /** As `NewDevice.mode`. */
    mode: t.oneOf('new', 'lost', 'kept', 'minted'),
    /** Session id, '' when it is unknown. */
    session: t.text,
    /** Session end in ms, 0 when it is unknown. */
    sessionEnd: t.digits,
    /** Pushes to the other devices. */
    pushes: pushSchedule,
  },
  reply: t.record({ row: t.text, added: t.flag, jobs: pushJobs }),
  announces: true,
});

/** Puts back a device of an account that was just erased. Its row takes less space than the erasure has freed. */
export const deviceKeep = { ...deviceAdd, runsWhenFull: true };

export const deviceRemove = defineScript('device-remove', {
  keys: ['devices', 'routes', 'log', 'presence', 'mail', 'inbox', 'due', 'push'],
  args: {
    device: t.text,
    random: t.randomBits,
    /** The row as it was read: only this row is removed. '' to remove any row. */
    expected: t.text,
    /** A word of `REMOVED_REASONS`. */
    reason: t.text,
  },
  reply: t.record({ removed: t.flag }),
  announces: true,
  runsWhenFull: true,
});

export const deviceRename = defineScript('device-rename', {
  keys: ['devices', 'routes', 'log', 'presence', 'operation', 'rate'],
  args: {
    /** Device of the caller. */
    caller: t.text,
    /** Device to rename. */
    device: t.text,
    /** New name. */
    name: t.text,
    random: t.randomBits,
    resentAfterMs: t.resentAfter,
  },
  reply: t.record({ row: t.text, state: t.text }),
  announces: true,
  rate: 'rename',
});
