import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import type { WordsDraft } from '../../sealing/recovery-words.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { errorText } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { attempt, codeOf, notify } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';
import { CheckingWords, ShownWords } from './shown-words.tsx';
import { RenewingWords } from './typing-words.tsx';
import { stateText, useWordsOfAccount } from './words-state.tsx';

/**
 * Makes recovery words: shows them, asks for two of them, and only then puts them into the ring. Words exist in this view
 * alone, so leaving or reloading it in the middle changes nothing.
 */
export function MakingWords() {
  const { keys } = useApp();
  const draft = useSignal<WordsDraft | null>(null);
  const isChecked = useSignal(false);
  const isRenewing = useSignal(false);
  const problem = useSignal('');
  const found = useWordsOfAccount().value;
  const { recovery } = keyTexts.value;

  const drop = (code = ''): void => {
    draft.value = null;
    isChecked.value = false;
    problem.value = code;
  };
  const begin = () =>
    attempt(async () => {
      problem.value = '';
      draft.value = await (await keys.open()).draftWords();
    }, recovery.failed);
  const finish = async (made: WordsDraft): Promise<void> => {
    try {
      await (await keys.open()).putWords(made);
      drop();
      notify(recovery.made);
    } catch (error) {
      if (codeOf(error) !== 'words_moved') throw error;
      drop('words_moved');
    }
  };

  useEffect(() => {
    // A page that comes back from the cache of the browser has no words any more.
    const leave = () => drop();
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, []);
  useEffect(() => {
    const shown = draft.peek();
    if (shown === null) return;
    const look = async () => {
      if ((await (await keys.open()).isReplaced(shown)) && draft.peek() === shown) drop('words_moved');
    };
    void look().catch(() => {});
  }, [shared.value.ringNumber]);

  const shown = draft.value;
  if (shown !== null && isChecked.value) {
    const back = () => {
      isChecked.value = false;
    };
    return <CheckingWords words={shown.words} onRight={() => finish(shown)} onBack={back} />;
  }
  if (shown !== null) {
    const next = () => {
      isChecked.value = true;
    };
    return <ShownWords words={shown.words} onNext={next} onCancel={() => drop()} />;
  }
  if (found === undefined) return <Waiting />;
  const renew = (is: boolean) => () => {
    isRenewing.value = is;
  };
  if (isRenewing.value) return <RenewingWords onOver={renew(false)} />;
  return (
    <>
      <p class={found?.areDue === true ? 'item-error' : ''}>{stateText(found)}</p>
      <p>{recovery.what}</p>
      <p>{recovery.givesAway}</p>
      <p class="hint">
        {recovery.once} {found !== null && recovery.replaces}
      </p>
      <p class="item-error" role="status">
        {problem.value !== '' && errorText(problem.value)}
      </p>
      <div class="row start">
        {found?.areDue === true && (
          <button type="button" class="button primary" onClick={renew(true)}>
            {recovery.renew}
          </button>
        )}
        <button type="button" class={`button ${found?.areDue === true ? '' : 'primary'}`} onClick={begin}>
          {found === null ? recovery.make : recovery.makeNew}
        </button>
      </div>
    </>
  );
}
