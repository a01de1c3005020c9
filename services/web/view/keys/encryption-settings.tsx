import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import { keyState } from '../../sealing/key-state.ts';
import { mayHaveKeys } from '../../sealing/may-have-keys.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { Keyed } from './keyed.tsx';
import { Protection } from './protection.tsx';
import { Unkeyed } from './unkeyed.tsx';

/** Shows whether the account is encrypted, the keys of its devices, and what that protects. A guest sees it if it has keys. */
export function EncryptionSettings() {
  const isPossible = useSignal(false);
  useEffect(() => {
    void mayHaveKeys().then((is) => {
      isPossible.value = is;
    });
  }, []);
  const { kind, isGuest = false } = keyState.value;
  if (!(isPossible.value || isGuest) || shared.value.me?.features.sealed !== true || kind === 'unconfirmed')
    return null;
  return (
    <section class="card" aria-labelledby="encryption">
      <h2 id="encryption">{keyTexts.value.title}</h2>
      {kind === 'keyed' ? <Keyed /> : <Unkeyed />}
      <Protection />
    </section>
  );
}
