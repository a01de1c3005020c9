import { X } from 'lucide';
import { texts } from '../../texts/texts.ts';
import { Icon } from './icon.tsx';
import { announcement, dismiss, notices } from './notices.ts';

/** Shows notices for a moment, and announcements only to screen readers. */
export function NoticeList() {
  const { app } = texts.value;
  return (
    <>
      <div class="notices" aria-live="polite">
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
      <p class="unseen" aria-live="polite">
        {announcement.value}
      </p>
    </>
  );
}
