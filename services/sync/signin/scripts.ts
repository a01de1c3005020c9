import { defineScript } from '../redis/script.ts';
import {
  fields,
  flag,
  nothing,
  number,
  oneOf,
  record,
  rest,
  restOfWords,
  text,
  textList,
  variants,
} from '../../../shared/service-kit/redis/scripts/script-values.ts';

const waits = { expiresAtMs: number, replaced: text };
/** The reply to an account with too many wrong codes: ms until the request ends, and the request's lifetime in ms. */
const limited = { leftMs: number, lifeMs: number };

export const loginStart = defineScript({
  file: new URL('./lua/login-start.lua', import.meta.url),
  keys: ['login'],
  args: {
    /** Lifetime in ms. */
    ttlMs: number,
    /**
     * Field, value, ...: poll and code (SHA-256 of the secrets), name, type, address, agent, device, id; keys as JSON; owner
     * (the account, for a device that is already signed in).
     */
    fields: restOfWords,
  },
  reply: record({ createdAtMs: number, expiresAtMs: number }),
});

export const loginPoll = defineScript({
  file: new URL('./lua/login-poll.lua', import.meta.url),
  keys: ['login'],
  args: {
    /** SHA-256 of the poll secret. */
    pollDigest: text,
    /** `<channel>\n<poll id>` of the poll. */
    waiter: text,
    /** '1' when the poll reads for the first time. */
    isFirst: flag,
  },
  constants: {
    /** The length of the lease: longer than a mint (at most 3 s) and the write of the row after it. */
    LEASE_MS: 6_000,
  },
  reply: variants('state', {
    pending: waits,
    superseded: waits,
    minting: waits,
    leased: { ...waits, fence: text, login: rest(fields) },
  }),
});

export const loginRead = defineScript({
  file: new URL('./lua/login-read.lua', import.meta.url),
  keys: ['login', 'tries'],
  args: {
    /** SHA-256 of the approval code. */
    codeDigest: text,
    /** Account of the caller. */
    account: text,
  },
  reply: variants('outcome', { read: { nowMs: number, login: rest(fields) }, limited }),
});

export const loginDecide = defineScript({
  file: new URL('./lua/login-decide.lua', import.meta.url),
  keys: ['login', 'tries'],
  args: {
    /** SHA-256 of the approval code; '' to deny without it. */
    codeDigest: text,
    /** Wrong codes after which the account is refused; 0 means neither counted nor limited. */
    tries: number,
    /** Operation id. The same call again, after a lost answer, gets the first answer. */
    operation: text,
    /** Account of the caller. */
    account: text,
    decision: oneOf('approved', 'denied'),
    /** Field, value, ...: user, account, device and session of the approver, scope, persist, sealed. */
    fields: restOfWords,
  },
  reply: variants('outcome', { decided: { waiter: text }, limited }),
});

export const loginFinish = defineScript({
  file: new URL('./lua/login-finish.lua', import.meta.url),
  keys: ['login'],
  args: {
    /** Fencing number of the lease. */
    fence: text,
    outcome: oneOf('consumed', 'denied', 'approved'),
  },
  reply: record({ done: flag }),
});

export const inviteAdd = defineScript({
  file: new URL('./lua/invite-add.lua', import.meta.url),
  keys: ['devices', 'invites', 'rate'],
  args: {
    invite: text,
    /** The device that invites. */
    device: text,
    /** Lifetime of the invite in ms. */
    ttlMs: number,
    /** Lifetime of a login request in ms. */
    requestMs: number,
  },
  settings: ['RATE_LIMIT'],
  reply: record({ expiresAtMs: number }),
  rate: 'qr_invite',
});

export const inviteTake = defineScript({
  file: new URL('./lua/invite-take.lua', import.meta.url),
  keys: ['devices', 'invites', 'routes'],
  args: {
    invite: text,
    /** Id of the login request, and its end. */
    request: text,
    requestExpires: number,
    /** The event that the inviting device gets, as JSON. */
    data: text,
  },
  reply: nothing,
  announces: true,
});

export const invitePending = defineScript({
  file: new URL('./lua/invite-pending.lua', import.meta.url),
  keys: ['invites'],
  args: {
    /** The device that invited. */
    device: text,
  },
  reply: record({ events: textList }),
});
