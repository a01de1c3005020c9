import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import type { WordsDraft, WordsOfAccount } from '../../sealing/recovery-words.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { errorText } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { attempt, codeOf, notify } from '../parts/notices.ts';
import { Waiting } from '../parts/parts.tsx';
import { CheckingWords, ShownWords } from './shown-words.tsx';
import { RenewingWords } from './typing-words.tsx';
import { stateText, useWordsOfAccount } from './words-state.tsx';

/** Words that are shown and do not count yet. They are only in this view, and gone with it. */
function useDraft() {
  const { keys } = useApp();
  const draft = useSignal<WordsDraft | null>(null);
  const problem = useSignal('');
  const { recovery } = keyTexts.value;
  const drop = (code = ''): void => {
    draft.value = null;
    problem.value = code;
  };
  useEffect(() => {
    // A page that comes back from the cache of the browser no longer has words.
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
  return {
    draft: draft.value,
    problem: problem.value,
    drop,
    begin: () =>
      attempt(async () => {
        problem.value = '';
        draft.value = await (await keys.open()).draftWords();
      }, recovery.failed),
    async finish(made: WordsDraft): Promise<void> {
      try {
        await (await keys.open()).putWords(made);
        drop();
        notify(recovery.made);
      } catch (error) {
        if (codeOf(error) !== 'words_moved') throw error;
        drop('words_moved');
      }
    },
  };
}

interface BeginProps {
  found: WordsOfAccount | null;
  problem: string;
  onMake: () => void;
  onRenew: () => void;
}

/** Says what the words allow, and which words the account has. */
function Begin({ found, problem, onMake, onRenew }: BeginProps) {
  const { recovery } = keyTexts.value;
  const areDue = found?.areDue === true;
  return (
    <>
      <p class={areDue ? 'item-error' : ''}>{stateText(found)}</p>
      <p>{recovery.what}</p>
      <p>{recovery.givesAway}</p>
      <p class="hint">
        {recovery.once} {found !== null && recovery.replaces}
      </p>
      <p class="item-error" role="status">
        {problem !== '' && errorText(problem)}
      </p>
      <div class="row start">
        {areDue && (
          <button type="button" class="button primary" onClick={onRenew}>
            {recovery.renew}
          </button>
        )}
        <button type="button" class={`button ${areDue ? '' : 'primary'}`} onClick={onMake}>
          {found === null ? recovery.make : recovery.makeNew}
        </button>
      </div>
    </>
  );
}

/** Makes recovery words: shows them, asks for two of them, and only then puts them into the ring. Or renews them. */
export function MakingWords() {
  const step = useSignal<'begin' | 'checked' | 'renewed'>('begin');
  const { draft, problem, drop, begin, finish } = useDraft();
  const { found, problem: unread } = useWordsOfAccount();
  const to = (next: typeof step.value) => () => {
    step.value = next;
  };
  const make = () => {
    step.value = 'begin';
    begin();
  };
  if (draft !== null && step.value === 'checked') {
    return <CheckingWords words={draft.words} onRight={() => finish(draft)} onBack={to('begin')} />;
  }
  if (draft !== null) return <ShownWords words={draft.words} onNext={to('checked')} onCancel={() => drop()} />;
  if (found === undefined) {
    return unread === '' ? <Waiting /> : <p class="item-error">{errorText(unread)}</p>;
  }
  if (step.value === 'renewed') return <RenewingWords onOver={to('begin')} />;
  return <Begin found={found} problem={problem} onMake={make} onRenew={to('renewed')} />;
}
