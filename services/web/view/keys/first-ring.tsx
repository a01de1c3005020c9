import { type Signal, useSignal } from '@preact/signals';
import { KeyRound } from 'lucide';
import { useEffect } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import type { Gate } from '../../sealing/gate.ts';
import { keyState } from '../../sealing/key-state.ts';
import { mayHaveKeys } from '../../sealing/may-have-keys.ts';
import { keyWords } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { Icon } from '../parts/icon.tsx';
import { otherNames } from './anew.tsx';

/** Whether an approval also encrypts the account. `asked`: the user decides. `itself`: every device has keys then. */
export type FirstRing = { kind: 'no' } | { kind: 'asked'; isWanted: boolean } | { kind: 'itself' };

/**
 * Finds out whether the approval of a device with keys can make the first ring of the account. That happens by itself only
 * if this browser is the only device: with a further one, some device could no longer read.
 */
export function useFirstRing(keys: Gate, hasKeys: boolean): Signal<FirstRing> {
  const found = useSignal<FirstRing>({ kind: 'no' });
  const app = useApp();
  useEffect(() => {
    const look = async (): Promise<void> => {
      if (!hasKeys || keyState.peek().kind !== 'none' || shared.peek().me?.features.sealed !== true) return;
      if (!(await mayHaveKeys()) || shared.peek().listed !== 'now') return;
      if (await (await keys.open()).isEncrypted()) return;
      // A new list of devices changes nothing that the user has chosen.
      const isWanted = found.peek().kind === 'asked' && isMade(found.peek());
      found.value = otherNames(app).length === 0 ? { kind: 'itself' } : { kind: 'asked', isWanted };
    };
    look().catch(() => {});
  }, [hasKeys, shared.value.listed, shared.value.me]);
  return found;
}

export const isMade = (first: FirstRing): boolean =>
  first.kind === 'itself' || (first.kind === 'asked' && first.isWanted);

/** Offers to encrypt the account with this approval, or says that it happens. */
export function FirstRingChoice({ first }: { first: Signal<FirstRing> }) {
  const app = useApp();
  const words = keyWords.value();
  const now = first.value;
  if (words === null || now.kind === 'no') return null;
  if (now.kind === 'itself') {
    return (
      <p class="given-away" role="status">
        <Icon node={KeyRound} size={18} /> {words.firstByItself}
      </p>
    );
  }
  return (
    <label class="check option">
      <input
        type="checkbox"
        checked={now.isWanted}
        onChange={({ currentTarget }) => {
          first.value = { kind: 'asked', isWanted: currentTarget.checked };
        }}
      />
      <span>
        <strong>{words.create}</strong>
        <small>{words.createWhy(otherNames(app).join(', '))}</small>
      </span>
    </label>
  );
}
