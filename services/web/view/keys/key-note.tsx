import { keyState } from '../../sealing/key-state.ts';
import { keyWords } from '../../texts/texts.ts';
import { hrefOf } from '../navigation.ts';

/**
 * Says, in the place for writing, that the keys of this browser are gone, so that nothing is sent, and leads to the remedy.
 */
export function KeyNote() {
  const words = keyWords.value();
  if (words === null || keyState.value.kind !== 'lost') return null;
  return (
    <p class="composer-note" role="status">
      {words.writesLost}{' '}
      <a class="text-button" href={hrefOf('settings')}>
        {words.get}
      </a>
    </p>
  );
}
