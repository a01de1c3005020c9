import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

const waits = { expiresAtMs: t.number, replaced: t.text };
/** The reply to an account with too many wrong codes: ms until the request ends, and the request's lifetime in ms. */
const limited = { leftMs: t.number, lifeMs: t.number };

export const loginStart = defineScript('login-start', {
  keys: ['login'],
  args: {
    /** Lifetime in ms. */
    ttlMs: t.number,
    /**
     * Field, value, ...: poll and code (SHA-256 of the secrets), name, type, address, agent, device, id; keys as JSON; owner
     * (the account, for a device that is already signed in); inviter (the account whose invite was used).
     */
    fields: t.restOfWords,
  },
  reply: t.record({ createdAtMs: t.number, expiresAtMs: t.number }),
});

export const loginPoll = defineScript('login-poll', {
  keys: ['login'],
  args: {
    /** SHA-256 of the poll secret. */
    pollDigest: t.text,
    /** `<channel>\n<poll id>` of the poll. */
    waiter: t.text,
    /** '1' when the poll reads for the first time. */
    isFirst: t.flag,
  },
  constants: {
    /** The length of the lease: longer than a mint (at most 3 s) and the write of the row after it. */
    LEASE_MS: 6_000,
  },
  reply: t.variants('state', {
    pending: waits,
    superseded: waits,
    minting: waits,
    leased: { ...waits, fence: t.text, login: t.rest(t.fields) },
  }),
});

export const loginRead = defineScript('login-read', {
  keys: ['login', 'tries'],
  args: {
    /** SHA-256 of the approval code. */
    codeDigest: t.text,
    /** Account of the caller. */
    account: t.text,
  },
  reply: t.variants('outcome', { read: { nowMs: t.number, login: t.rest(t.fields) }, limited }),
});

export const loginDecide = defineScript('login-decide', {
  keys: ['login', 'tries'],
  args: {
    /** SHA-256 of the approval code; '' to deny without it. */
    codeDigest: t.text,
    /** Wrong codes after which the account is refused; 0 means neither counted nor limited. */
    tries: t.number,
    /** Operation id. The same call again, after a lost answer, gets the first answer. */
    operation: t.text,
    /** Account of the caller. */
    account: t.text,
    decision: t.oneOf('approved', 'denied'),
    /** Field, value, ...: user, account, device and session of the approver, scope, persist, sealed. */
    fields: t.restOfWords,
  },
  reply: t.variants('outcome', { decided: { waiter: t.text, inviter: t.text }, limited }),
});

export const loginFinish = defineScript('login-finish', {
  keys: ['login'],
  args: {
    /** Fencing number of the lease. */
    fence: t.text,
    outcome: t.oneOf('consumed', 'denied', 'approved'),
  },
  reply: t.record({ done: t.flag }),
});

export const inviteAdd = defineScript('invite-add', {
  keys: ['devices', 'invites', 'rate'],
  args: {
    invite: t.text,
    /** The device that invites. */
    device: t.text,
    /** Lifetime of the invite in ms. */
    ttlMs: t.number,
    /** Lifetime of a login request in ms. */
    requestMs: t.number,
  },
  reply: t.record({ expiresAtMs: t.number }),
  rate: 'qr_invite',
});

export const inviteTake = defineScript('invite-take', {
  keys: ['devices', 'invites', 'routes'],
  args: {
    invite: t.text,
    /** Id of the login request, and its end. */
    request: t.text,
    requestExpires: t.number,
    /** The event that the inviting device gets, as JSON. */
    data: t.text,
  },
  announces: true,
});

export const invitePending = defineScript('invite-pending', {
  keys: ['invites'],
  args: {
    /** The device that invited. */
    device: t.text,
  },
  reply: t.record({ events: t.textList }),
});
