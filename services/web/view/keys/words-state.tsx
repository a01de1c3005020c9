import { useSignal } from '@preact/signals';
import { ListOrdered } from 'lucide';
import { useEffect, useMemo } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import type { WordsOfAccount } from '../../sealing/recovery-words.ts';
import { members } from '../../sealing/key-state.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { useApp } from '../app-context.ts';
import { hrefOf } from '../navigation.ts';
import { Icon } from '../parts/icon.tsx';
import { codeOf } from '../parts/notices.ts';
import { dateText } from './moment.ts';
import { makeNewestReading } from './newest-reading.ts';

/** Follows whether the account has recovery words; undefined while that is not known. `problem`: why it cannot be read. */
export function useWordsOfAccount() {
  const { keys } = useApp();
  const found = useSignal<WordsOfAccount | null | undefined>(undefined);
  const problem = useSignal('');
  const readNewest = useMemo(() => makeNewestReading(async () => (await keys.open()).wordsOfAccount()), []);
  useEffect(() => {
    const take = (now: WordsOfAccount | null): void => {
      found.value = now;
      problem.value = '';
    };
    void readNewest(take, (error) => {
      problem.value = codeOf(error);
    });
  }, [shared.value.ringNumber, members.value]);
  return { found: found.value, problem: problem.value };
}

/** Returns what the account has in words. */
export function stateText(found: WordsOfAccount | null): string {
  const { recovery } = keyTexts.value;
  if (found === null) return recovery.none;
  const exist = found.at === null ? recovery.existUndated : recovery.exist(dateText(found.at));
  return found.areDue ? `${exist} ${recovery.due}` : exist;
}

/** Says whether the account has recovery words, and leads to the one thing to do. */
export function WordsState() {
  // The part about the keys themselves says why they cannot be read.
  const { found } = useWordsOfAccount();
  const { recovery } = keyTexts.value;
  if (found === undefined) return null;
  const action = found === null ? recovery.make : found.areDue ? recovery.renew : recovery.makeNew;
  return (
    <>
      <p class={found?.areDue === true ? 'item-error' : 'hint'} role="status">
        {stateText(found)}
      </p>
      <div class="row start">
        <a class="button" href={hrefOf('words')}>
          <Icon node={ListOrdered} size={18} /> {action}
        </a>
      </div>
    </>
  );
}
