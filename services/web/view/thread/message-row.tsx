import { Check, CheckCheck, CircleAlert, Clock3, Copy } from 'lucide';
import type { MessageItem } from '../../history/database.ts';
import { timeText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { Icon } from '../parts/icon.tsx';
import { copyText } from '../parts/copying.ts';
import { attempt } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';
import { RichText } from '../parts/rich-text.tsx';
import { MessageNote } from './waiting.tsx';

const MARKS = { sending: Clock3, sent: Check, delivered: CheckCheck, failed: CircleAlert };

export function MessageRow({ item }: { item: MessageItem }) {
  const { thread } = texts.value;
  const state = item.error === 'maybe_sent' && item.state === 'failed' ? thread.maybe : thread[item.state];
  const copy = () => attempt(() => copyText(item.text));
  return (
    <li class={`item ${item.isMine ? 'mine' : 'theirs'}`} id={`item-${item.id}`}>
      <div class={`bubble ${item.state}`}>
        <RichText text={item.text} />
        <div class="item-foot">
          <time dateTime={new Date(item.at).toISOString()}>{timeText(item.at)}</time>
          {item.isMine && (
            <span class={`mark ${item.state}`} title={state}>
              <Icon node={MARKS[item.state]} size={14} />
              <span class="unseen">{state}</span>
            </span>
          )}
        </div>
      </div>
      <div class="item-tools">
        <IconButton node={Copy} label={thread.copy} kind="small" onClick={copy} />
      </div>
      {item.isMine && <MessageNote item={item} />}
    </li>
  );
}
