import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';
import type { Transitions } from './transitions.ts';

const defineScript = scriptsIn(import.meta.url);

const NONE: Transitions = { online: 0, offline: 0 };

/** Number of devices that came online and that went offline, such as `2 1`; '' when there are none. */
export const transitions: t.Answer<Transitions> = {
  read: (raw) => {
    if (typeof raw !== 'string' || raw === '') return NONE;
    const [online = 0, offline = 0] = raw.split(' ').map(Number);
    return { online, offline };
  },
};

export const presenceRead = defineScript('presence-read', {
  keys: ['devices', 'presence'],
  reply: t.record({ devices: t.textList, states: t.textList }),
});

export const presenceReconcile = defineScript('presence-reconcile', {
  keys: ['routes', 'presence', 'devices'],
  args: {
    /** Channels whose routes count as gone. */
    dead: t.wordSet,
    /** Ms that rows may be older than usual. */
    lateMs: t.number,
  },
  settings: ['GRACE_MS'],
  reply: t.record({ againInMs: t.number, transitions }),
  announces: true,
  runsWhenFull: true,
});
