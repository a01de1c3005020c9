import { useSignal } from '@preact/signals';
import { KeyRound, ListOrdered } from 'lucide';
import { keyTexts } from '../../texts/key-texts.ts';
import { hrefOf } from '../navigation.ts';
import { Icon } from '../parts/icon.tsx';
import { LinkCode } from './link-code.tsx';

/** Offers to get the key from a device that has it, and shows the code for that. */
export function GettingKey() {
  const isAsking = useSignal(false);
  const ask = (is: boolean) => () => {
    isAsking.value = is;
  };
  if (isAsking.value) return <LinkCode onOver={ask(false)} />;
  return (
    <div class="row start">
      <button type="button" class="button primary" onClick={ask(true)}>
        <Icon node={KeyRound} size={18} /> {keyTexts.value.get}
      </button>
    </div>
  );
}

/** Leads to the view in which recovery words are typed. */
export function UsingWords() {
  return (
    <div class="row start">
      <a class="button" href={hrefOf('words')}>
        <Icon node={ListOrdered} size={18} /> {keyTexts.value.recovery.use}
      </a>
    </div>
  );
}
