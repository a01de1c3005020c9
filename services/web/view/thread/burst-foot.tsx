import type { Item } from '../../history/database.ts';
import { timeText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { ItemLock } from '../keys/locks.tsx';

/**
 * Shows the time of an item, and the state of a message. It is visible under the last item of a burst; under the others only
 * screen readers read it.
 */
export function BurstFoot({ item, isEnd }: { item: Item; isEnd: boolean }) {
  const { thread } = texts.value;
  const isMessage = item.kind === 'message' && item.isMine;
  const isMaybe = isMessage && item.error === 'maybe_sent' && item.state === 'failed';
  return (
    <div class={`item-foot burst-foot ${isEnd ? '' : 'unseen'}`}>
      <time dateTime={new Date(item.at).toISOString()}>{timeText(item.at)}</time>
      {isMessage && (
        <>
          <span aria-hidden="true">·</span>
          <span class={`mark ${item.state}`}>{isMaybe ? thread.maybe : thread[item.state]}</span>
        </>
      )}
      {item.kind === 'message' && <ItemLock item={item} />}
    </div>
  );
}
