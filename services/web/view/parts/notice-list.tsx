import { X } from 'lucide';
import { texts } from '../../texts/texts.ts';
import { Icon } from './icon.tsx';
import { announcement, dismiss, notices } from './notices.ts';

/** Shows notices for a moment, and announcements only to screen readers: in one live region, so that nothing is read twice. */
export function NoticeList() {
  const { app } = texts.value;
  return (
    <div class="notices" aria-live="polite">
      <p class="unseen">{announcement.value}</p>
      {notices.value.map(({ id, text, isError, href }) => (
        <div key={id} class={`notice ${isError ? 'error' : ''}`}>
          {href === undefined ? (
            <span dir="auto">{text}</span>
          ) : (
            <a dir="auto" href={href} onClick={() => dismiss(id)}>
              {text}
            </a>
          )}
          <button type="button" class="icon-button small" aria-label={app.close} onClick={() => dismiss(id)}>
            <Icon node={X} size={16} />
          </button>
        </div>
      ))}
    </div>
  );
}
