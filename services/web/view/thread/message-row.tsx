import type { MessageItem } from '../../history/database.ts';
import { isRefused, isSealed } from '../../history/history.ts';
import { wordsOf } from '../item-words.ts';
import { RichText } from '../parts/rich-text.tsx';
import { SealedNote } from '../parts/sealed-note.tsx';
import { BurstFoot } from './burst-foot.tsx';
import { ItemTools, useTouch } from './item-actions.tsx';
import { MessageNote } from './waiting.tsx';

export function MessageRow({ item, isEnd }: { item: MessageItem; isEnd: boolean }) {
  const touch = useTouch(item);
  return (
    <li class={`item ${item.isMine ? 'mine' : 'theirs'} ${isEnd ? 'ends-burst' : ''}`} id={`item-${item.id}`}>
      <div class={`bubble ${item.state}`} {...touch}>
        {isSealed(item) || isRefused(item) ? <SealedNote words={wordsOf(item)} /> : <RichText text={item.text} />}
      </div>
      <ItemTools item={item} />
      <BurstFoot item={item} isEnd={isEnd} />
      {item.isMine && <MessageNote item={item} />}
    </li>
  );
}
