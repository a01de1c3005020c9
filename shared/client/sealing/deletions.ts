import { BatonClientError } from '../errors/baton-client-error.ts';
import type { CallSettings } from '../api.ts';
import { toBase64url } from '../sealed/primitives/bytes.ts';
import { sign } from '../sealed/primitives/signature.ts';
import { sealedError } from '../sealed/sealed-error.ts';
import type { Rings } from './api.ts';
import type { Deletion, Deletions } from './deletion.ts';
import type { SealingCalls } from './sealing-calls.ts';

/** How often a proof is made again if the ring has changed meanwhile. */
const MOST_TRIES = 4;

interface Proof {
  device_id: string;
  n: number;
  signature: string;
}

/** Removes the keys of the account, and says what others want to remove. */
export function makeDeletions(
  { caller }: SealingCalls,
  rings: Pick<Rings, 'known'> & Pick<Deletions, 'announced'>,
): Deletions {
  /** Signs as a member of the ring in force; null if this device is none. */
  async function proofOf(label: string, more: readonly string[] = []): Promise<Proof | null> {
    // It seals nothing, and it is the way out if devices disagree.
    const keyring = await rings.known();
    if (keyring === null) return null;
    const { ring, account, keys, device_id } = keyring;
    const { n } = ring.body;
    const signed = [label, account.service, account.user_id, String(n), ...more];
    return { device_id, n, signature: toBase64url(await sign(keys.sig.privateKey, signed)) };
  }

  /** Does `work`, and does it again if another device has put a ring meanwhile. */
  async function retried<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const isMoved = error instanceof BatonClientError && error.code === 'keys_conflict';
        if (!isMoved || tries === MOST_TRIES) throw error;
      }
    }
  }

  async function pending(settings?: CallSettings): Promise<readonly Deletion[]> {
    try {
      return (await caller.call('getKeys', { query: { after: Number.MAX_SAFE_INTEGER }, ...settings })).body.deletions;
    } catch (error) {
      if (error instanceof BatonClientError && error.code === 'not_found') return [];
      throw error;
    }
  }

  return {
    pending,
    announced: rings.announced,

    removeKeys: () =>
      retried(async () => {
        const proof = await proofOf('baton/1 keys delete');
        if (proof === null) throw sealedError('unkeyed');
        await caller.call('deleteKeys', { body: proof });
      }),

    async announceRemoval() {
      const answer = await caller.call('deleteKeys', { body: {} });
      return answer.status === 202 ? answer.body.deletion : null;
    },

    keepKeys: () =>
      retried(async () => {
        const times = (await pending()).map(({ at }) => String(at));
        const proof = await proofOf('baton/1 keys keep', times);
        if (proof === null) throw sealedError('unkeyed');
        if (times.length > 0) await caller.call('keepKeys', { body: proof });
      }),

    async eraseAccount() {
      const proof = await proofOf('baton/1 erase');
      const answer = await caller.call('eraseAccount', { body: proof ?? {} });
      return answer.status === 202 ? answer.body.deletion : null;
    },
  };
}
