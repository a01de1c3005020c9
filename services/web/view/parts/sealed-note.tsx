import { Lock } from 'lucide';
import { texts } from '../../texts/texts.ts';
import { Icon } from './icon.tsx';

/** Stands where content is sealed and this browser has no key for it. */
export function SealedNote() {
  return (
    <span class="sealed-note">
      <Icon node={Lock} size={16} /> {texts.value.item.sealed}
    </span>
  );
}
