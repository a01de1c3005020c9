import { Lock, LockOpen } from 'lucide';
import type { ClipboardEntry } from '../../../../shared/client/index.ts';
import type { Item } from '../../history/database.ts';
import { keyState, members } from '../../sealing/key-state.ts';
import { keyWords } from '../../texts/texts.ts';
import type { Peer } from '../app-context.ts';
import { Icon } from '../parts/icon.tsx';

/** Shows a lock for encrypted content. Words name content that was not encrypted, because a user must know that. */
function Mark({ isSealed, words }: { isSealed: boolean; words: string }) {
  return (
    <span class={`lock ${isSealed ? 'is-sealed' : ''}`} title={words}>
      <Icon node={isSealed ? Lock : LockOpen} size={14} />
      <span class={isSealed ? 'unseen' : ''}>{words}</span>
    </span>
  );
}

/** Marks a message, or files, of a browser with keys. */
export function ItemLock({ item }: { item: Item }) {
  const words = keyWords.value();
  if (words === null || (item.lock !== 'sealed' && item.lock !== 'open')) return null;
  const isSealed = item.lock === 'sealed';
  return <Mark isSealed={isSealed} words={isSealed ? words.sealed : item.isMine ? words.openMine : words.open} />;
}

/** Says in the head of a thread whether its messages are encrypted. */
export function ThreadLock({ peer }: { peer: Peer }) {
  const words = keyWords.value();
  if (words === null || keyState.value.kind !== 'keyed' || members.value === null || peer.kind !== 'device')
    return null;
  const isSealed = members.value.has(peer.id);
  return <Mark isSealed={isSealed} words={isSealed ? words.sealed : words.openThread} />;
}

/** Marks the clipboard of a browser with keys. */
export function ClipboardLock({ entry }: { entry: ClipboardEntry }) {
  const words = keyWords.value();
  if (words === null || keyState.value.kind !== 'keyed' || entry.content === '') return null;
  const isSealed = entry.sealed !== undefined;
  return <Mark isSealed={isSealed} words={isSealed ? words.sealed : words.open} />;
}
