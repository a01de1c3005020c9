import { BatonError } from '../../../shared/contract/errors.ts';
import type { Deletion, DeletionOf } from '../../../shared/contract/modules/keys.ts';
import { orFault } from '../../../shared/service-kit/redis/faults.ts';
import type { Caller } from '../identity/caller.ts';
import type { Confirm } from '../redis/confirmer.ts';
import type { Db } from '../redis/db.ts';
import { ACCOUNT } from '../redis/keys.ts';
import { keyringGuests, keyringHead, keyringPage, keyringPut } from './scripts.ts';

/** How long the answer to a change is kept, to ask replicas of the store whether they have it. */
const CONFIRMED_SECONDS = 60;

/** How many replicas of the store must have a ring, if any are asked. */
const REPLICAS = 1;

/** The ring in force; `n` 0 means that there is none. */
export type Head = ReturnType<typeof keyringHead.read>;

export interface NewRing {
  n: number;
  hash: string;
  text: string;
  /** SHA-256 of the previous ring, whose member signed this one; '' for the first. */
  replaces: string;
}

export interface NewGuests {
  /** SHA-256 of the ring in force, whose member signed the list. */
  ringHash: string;
  hash: string;
  text: string;
  /** SHA-256 of the only list that it may replace, '' for none; null replaces any list. */
  replaces: string | null;
}

/** A change that is in force. */
export interface Changed {
  /** Resolves to whether a replica of the store has it; to true if none is asked. */
  confirming: Promise<boolean>;
}

interface KeyringStoreParts extends Db {
  /** Null if the write to the primary is enough. */
  confirm: Confirm | null;
}

/** Returns the error for a conflict; `n` is the number of the ring in force. */
export const conflict = (n: number): BatonError => new BatonError('keys_conflict', undefined, { members: { n } });

const deletionsOf = (times: Record<DeletionOf, number | null>): Deletion[] =>
  (['keys', 'account'] as const).flatMap((of) => (times[of] === null ? [] : [{ of, at: times[of] }]));

/** Makes the store of keyrings. It throws `keys_conflict` if another ring is in force than the one that was checked. */
export function makeKeyringStore({ redis, scripts, keys, confirm }: KeyringStoreParts) {
  const pageScript = scripts.define(keyringPage);
  const headScript = scripts.define(keyringHead);
  const putScript = scripts.define(keyringPut);
  const guestsScript = scripts.define(keyringGuests);

  /** Runs a change that keeps its answer under an operation, and asks whether a replica of the store has it. */
  async function confirmed(
    { account, deviceId }: Caller,
    change: (
      operation: string,
      rememberSeconds: number,
    ) => Promise<{ outcome: 'put' } | { outcome: 'moved'; n: number }>,
  ): Promise<Changed> {
    const operation = keys.call(account, deviceId);
    const seconds = confirm === null ? 0 : CONFIRMED_SECONDS;
    const done = await change(operation, seconds);
    if (done.outcome === 'moved') throw conflict(done.n);
    return { confirming: confirm?.(operation, seconds, REPLICAS) ?? Promise.resolve(true) };
  }

  return {
    /** Reads the rings after one, the guests and the announced deletions. Throws `not_found`. */
    async page(account: string, after: number) {
      const { n, guests, keysAtMs, accountAtMs, rings } = await pageScript(keys.inAccount(account), { after });
      return { n, guests, rings, deletions: deletionsOf({ keys: keysAtMs, account: accountAtMs }) };
    },

    /** Reads the ring in force, for a change. Throws `rate_limited`. */
    head: ({ account, deviceId }: Caller): Promise<Head> =>
      headScript(
        keys.inAccount(account, {
          rate: keys.rate(account, 'keys', deviceId),
          accountRate: keys.rate(account, 'keys', ACCOUNT),
        }),
        {},
      ),

    has: async (account: string): Promise<boolean> =>
      (await orFault(redis, () => redis.hget(keys.keyring(account), 'n'))) !== null,

    put: (caller: Caller, { n, hash, text, replaces }: NewRing): Promise<Changed> =>
      confirmed(caller, (operation, rememberSeconds) =>
        putScript(keys.inAccount(caller.account, { operation }), { n, hash, ring: text, replaces, rememberSeconds }),
      ),

    putGuests: (caller: Caller, guests: NewGuests): Promise<Changed> =>
      confirmed(caller, (operation, rememberSeconds) =>
        guestsScript(keys.inAccount(caller.account, { operation }), {
          hash: guests.ringHash,
          guests: guests.text,
          guestsHash: guests.hash,
          compares: guests.replaces !== null,
          replaces: guests.replaces ?? '',
          rememberSeconds,
        }),
      ),
  };
}

export type KeyringStore = ReturnType<typeof makeKeyringStore>;
