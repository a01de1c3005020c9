import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

/** The lifetime of a tombstone: longer than that of any token, and no device id is issued again before its end. */
export const TOMBSTONE_MS = 86_400_000;

export const revokedAdd = defineScript('revoked-add', {
  keys: ['revoked', 'version'],
  args: {
    random: t.randomBits,
    /** Member, ms (0: now), ... */
    tombstones: t.restOfWords,
  },
  constants: { TOMBSTONE_MS },
  reply: t.record({ version: t.text, nowMs: t.number }),
  runsWhenFull: true,
});

export const jobPutOff = defineScript('job-put-off', {
  keys: ['due'],
  args: { job: t.text, delayMs: t.number },
  runsWhenFull: true,
});

export const accountErase = defineScript('account-erase', {
  keys: ['routes', 'log', 'presence', 'devices', 'mail', 'inbox', 'clipboard', 'due'],
  args: { random: t.randomBits },
  reply: t.record({ transfers: t.number }),
  announces: true,
  runsWhenFull: true,
});
