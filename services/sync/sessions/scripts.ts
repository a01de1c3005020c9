import { defineScript } from '../redis/script.ts';
import {
  nothing,
  number,
  randomBits,
  record,
  restOfWords,
  text,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

/** The lifetime of a tombstone: longer than that of any token, and no device id is issued again before its end. */
export const TOMBSTONE_MS = 86_400_000;

export const revokedAdd = defineScript({
  file: new URL('./lua/revoked-add.lua', import.meta.url),
  keys: ['revoked', 'version'],
  args: {
    random: randomBits,
    /** Member, ms (0: now), ... */
    tombstones: restOfWords,
  },
  constants: { TOMBSTONE_MS },
  reply: record({ version: text, nowMs: number }),
  runsWhenFull: true,
});

export const jobPutOff = defineScript({
  file: new URL('./lua/job-put-off.lua', import.meta.url),
  keys: ['due'],
  args: { job: text, delayMs: number },
  reply: nothing,
  runsWhenFull: true,
});

export const accountErase = defineScript({
  file: new URL('./lua/account-erase.lua', import.meta.url),
  keys: ['routes', 'log', 'presence', 'devices', 'mail', 'inbox', 'clipboard', 'due'],
  args: { random: randomBits },
  reply: record({ transfers: number }),
  announces: true,
  runsWhenFull: true,
});
