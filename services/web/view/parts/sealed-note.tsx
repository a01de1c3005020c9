import { Lock } from 'lucide';
import { texts } from '../../texts/texts.ts';
import { Icon } from './icon.tsx';

/** Takes the place of content that is sealed and cannot be shown here. */
export function SealedNote({ words = texts.value.item.sealed }: { words?: string }) {
  return (
    <span class="sealed-note">
      <Icon node={Lock} size={16} /> {words}
    </span>
  );
}
