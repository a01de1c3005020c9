import { Check, CheckCheck, CircleAlert, Clock3, Copy } from 'lucide';
import type { MessageItem } from '../../history/database.ts';
import { timeText } from '../../texts/quantities.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { Icon } from '../parts/icon.tsx';
import { copyText } from '../parts/copying.ts';
import { attempt } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';
import { RichText } from '../parts/rich-text.tsx';
import { sendAgain } from '../send/sending.ts';

const MARKS = { sending: Clock3, sent: Check, delivered: CheckCheck, failed: CircleAlert };

export function MessageRow({ item }: { item: MessageItem }) {
  const app = useApp();
  const { thread } = texts.value;
  const copy = () => attempt(() => copyText(item.text));
  return (
    <li class={`item ${item.isMine ? 'mine' : 'theirs'}`} id={`item-${item.id}`}>
      <div class={`bubble ${item.state}`}>
        <RichText text={item.text} />
        <div class="item-foot">
          <time dateTime={new Date(item.at).toISOString()}>{timeText(item.at)}</time>
          {item.isMine && (
            <span class={`mark ${item.state}`} title={thread[item.state]}>
              <Icon node={MARKS[item.state]} size={14} />
              <span class="unseen">{thread[item.state]}</span>
            </span>
          )}
        </div>
      </div>
      <div class="item-tools">
        <IconButton node={Copy} label={thread.copy} kind="small" onClick={copy} />
      </div>
      {item.state === 'failed' && (
        <p class="item-error">
          {errorText(item.error ?? 'unexpected')}{' '}
          <button type="button" class="text-button" onClick={() => attempt(() => sendAgain(app, item))}>
            {thread.again}
          </button>
        </p>
      )}
    </li>
  );
}
