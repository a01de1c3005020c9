import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { keyState } from '../../sealing/key-state.ts';
import { mayHaveKeys } from '../../sealing/may-have-keys.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { Pane, Waiting } from '../parts/parts.tsx';
import { MakingWords } from './making-words.tsx';
import { RecoveringByWords } from './typing-words.tsx';

/** Makes recovery words on a device that has the key of the account, and uses them on one that has none. */
export function WordsPane() {
  const isPossible = useSignal<boolean | null>(null);
  useEffect(() => {
    void mayHaveKeys().then((is) => {
      isPossible.value = is;
    });
  }, []);
  const words = keyTexts.value;
  const { kind, isGuest = false } = keyState.value;
  const body = () => {
    if (isPossible.value === null || kind === 'unconfirmed') return <Waiting />;
    if (!isPossible.value || isGuest) return <p class="hint">{words.errors.not_lasting}</p>;
    return kind === 'keyed' ? <MakingWords /> : <RecoveringByWords />;
  };
  return (
    <Pane title={words.words}>
      <div class="pane-body">
        <section class="card">{body()}</section>
      </div>
    </Pane>
  );
}
