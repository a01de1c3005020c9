import type { Item } from '../../history/database.ts';
import { timeText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';

/** When it was, and what became of a message. Under the last of a burst it is seen; under the others it is only said. */
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
    </div>
  );
}
