import { DELETIONS } from '../../../shared/contract/modules/keys.ts';
import { scriptsIn } from '../redis/script.ts';
import * as t from '../../../shared/service-kit/redis/scripts/script-values.ts';

const defineScript = scriptsIn(import.meta.url);

/** The reply if the ring in force is not the one that the caller checked a signature with. */
const moved = { n: t.number };

export const keyringPage = defineScript('keyring-page', {
  keys: ['keyring'],
  args: {
    /** The newest ring that the caller has. */
    after: t.number,
  },
  reply: t.record({
    n: t.number,
    guests: t.maybeText,
    keysAtMs: t.maybeNumber,
    accountAtMs: t.maybeNumber,
    rings: t.textList,
  }),
});

export const keyringHead = defineScript('keyring-head', {
  keys: ['keyring', 'rate', 'accountRate'],
  reply: t.record({
    n: t.number,
    /** SHA-256 of its bytes. */
    hash: t.text,
    /** The ring as it was sent. */
    text: t.text,
  }),
  rate: 'keys',
  // A removal and an objection to it read the ring first.
  runsWhenFull: true,
});

export const keyringPut = defineScript('keyring-put', {
  keys: ['keyring', 'routes', 'log', 'due', 'operation'],
  args: {
    /** The number of the ring, the SHA-256 of its bytes, and the ring as it was sent. */
    n: t.number,
    hash: t.text,
    ring: t.text,
    /** SHA-256 of the ring whose member signed this one; '' for the first. */
    replaces: t.text,
    random: t.randomBits,
    /** How long the answer is kept, to ask replicas of the store whether they have it; 0 means not at all. */
    rememberSeconds: t.digits,
  },
  reply: t.variants('outcome', { put: {}, moved }),
  announces: true,
});

export const keyringGuests = defineScript('keyring-guests', {
  keys: ['keyring', 'routes', 'log', 'due', 'operation'],
  args: {
    /** SHA-256 of the ring whose member signed the list. */
    hash: t.text,
    /** The list as it was sent, and the SHA-256 of its bytes. */
    guests: t.text,
    guestsHash: t.text,
    /** Whether only one list may be replaced, and the SHA-256 of that list; '' for none. */
    compares: t.flag,
    replaces: t.text,
    random: t.randomBits,
    rememberSeconds: t.digits,
  },
  reply: t.variants('outcome', { put: {}, moved }),
  announces: true,
});

export const keyringAnnounce = defineScript('keyring-announce', {
  keys: ['keyring', 'routes', 'log', 'due'],
  args: { what: t.oneOf(...DELETIONS), random: t.randomBits },
  reply: t.record({ atMs: t.maybeNumber }),
  announces: true,
  runsWhenFull: true,
});

export const keyringDrop = defineScript('keyring-drop', {
  keys: ['keyring', 'routes', 'log', 'due'],
  args: {
    why: t.oneOf('signed', 'due', 'erased'),
    /** SHA-256 of the ring whose member signed the removal; '' otherwise. */
    hash: t.text,
    random: t.randomBits,
  },
  reply: t.variants('outcome', { dropped: {}, moved, early: {} }),
  announces: true,
  runsWhenFull: true,
});

export const keyringKeep = defineScript('keyring-keep', {
  keys: ['keyring', 'routes', 'log', 'due'],
  args: {
    /** SHA-256 of the ring whose member objects. */
    hash: t.text,
    random: t.randomBits,
  },
  reply: t.variants('outcome', { kept: {}, moved }),
  announces: true,
  runsWhenFull: true,
});
