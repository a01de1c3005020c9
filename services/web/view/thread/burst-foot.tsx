import type { Item } from '../../history/database.ts';
import { timeText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';

/** What comes within it, from one side, is one burst with one time. */
const BURST_MS = 3 * 60_000;

const noteOf = (item: Item): string => `${item.state} ${item.error ?? ''}`;

/** Whether the time stands under this item: the next one is of the other side, of a later time, or in another state. */
export function endsBurst(item: Item, next: Item | undefined): boolean {
  if (next === undefined || next.isMine !== item.isMine || next.at - item.at > BURST_MS) return true;
  if (new Date(next.at).toDateString() !== new Date(item.at).toDateString()) return true;
  if (!item.isMine || item.kind !== 'message') return false;
  return next.kind !== 'message' || noteOf(next) !== noteOf(item);
}

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
