import { shared } from '../../engine/shared-state.ts';
import { keyState } from '../../sealing/key-state.ts';
import { keyTexts } from '../../texts/key-texts.ts';
import { useApp } from '../app-context.ts';
import { attempt, notify } from '../parts/notices.ts';
import { StatusBar } from '../parts/status-bar.tsx';
import { momentText } from './moment.ts';

/** Says on every device that the keys of the account, or the account, are removed soon. A device with keys can cancel it. */
export function DeletionBar() {
  const { keys } = useApp();
  const words = keyTexts.value;
  const [first] = shared.value.deletions;
  const { kind, isGuest } = keyState.value;
  const keep = () =>
    attempt(async () => {
      await (await keys.open()).keepKeys();
      notify(words.kept);
    }, words.failed);
  return (
    <StatusBar isShown={first !== undefined}>
      {first !== undefined && (first.of === 'keys' ? words.announced : words.announcedErase)(momentText(first.at))}{' '}
      {first !== undefined && kind === 'keyed' && !isGuest && (
        <button type="button" class="text-button" onClick={keep}>
          {words.keep}
        </button>
      )}
    </StatusBar>
  );
}
