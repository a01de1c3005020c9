import { BatonClientError } from '../errors/baton-client-error.ts';
import type { KeyedAccount } from '../sealed/keys/key-store.ts';
import type { KeysAnswer } from '../sealed/ring/chain.ts';
import type { Deletion } from './deletion.ts';
import type { Session } from '../session/session.ts';
import { sealingError } from './problem.ts';
import type { SealingCalls } from './sealing-calls.ts';

export const isCode = (error: unknown, code: string): boolean =>
  error instanceof BatonClientError && error.code === code;

/** The calls of the service about rings. */
export function makeRingCalls({ caller }: Pick<SealingCalls, 'caller'>) {
  let announced: readonly Deletion[] = [];

  /** Fetches the rings; null if the account has none. */
  async function fetchKeys(after: number): Promise<KeysAnswer | null> {
    try {
      const { rings, n, guests, deletions } = (await caller.call('getKeys', { query: { after } })).body;
      announced = deletions;
      return { rings, n, guests };
    } catch (error) {
      if (!isCode(error, 'not_found')) throw error;
      announced = [];
      return null;
    }
  }

  return {
    fetchKeys,
    /** Returns what the last answer about the rings announced. */
    announced: (): readonly Deletion[] => announced,

    /** Fetches the newest ring as the service has it, with its guests; null without one. */
    async fetchNewest(): Promise<KeysAnswer | null> {
      const first = await fetchKeys(0);
      return first === null ? null : fetchKeys(Math.max(0, first.n - 1));
    },

    async put(text: string, n: number): Promise<void> {
      await caller.call('putKeys', { body: { ring: text }, headers: { 'If-Match': `"${n - 1}"` } });
    },

    /** Puts a list of guests in the place of the one with this hash; `''`: of none. */
    async putGuests(text: string, replaces: string): Promise<void> {
      await caller.call('putGuests', { body: { guests: text }, headers: { 'If-Match': `"${replaces}"` } });
    },

    /** Returns the account of the session as a ring names it. */
    async accountOf({ device, user }: Session): Promise<KeyedAccount> {
      if (device === null) throw sealingError('not_lasting');
      const { body } = await caller.call('getMe');
      if (body.features.sealed !== true || body.service === undefined) throw sealingError('keys_not_supported');
      return { service: body.service, user_id: user.user_id, device_id: device.device_id };
    },
  };
}
