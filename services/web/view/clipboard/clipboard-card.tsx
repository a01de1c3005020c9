import { useSignal } from '@preact/signals';
import { Clipboard, X } from 'lucide';
import { useEffect } from 'preact/hooks';
import { serverNow } from '../../server-time.ts';
import { durationText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { hrefOf, place } from '../navigation.ts';
import { copyText } from '../parts/copying.ts';
import { Countdown } from '../parts/countdown.tsx';
import { ClipboardLock } from '../keys/locks.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';
import { SealedNote } from '../parts/sealed-note.tsx';
import { clipboardEntry, noteSeen, readClipboard, seenEntries, shownEntry } from './clipboard-state.ts';
import { filledEntry, isSealedEntry } from './entries.ts';
import { HiddenText } from './hidden-text.tsx';
import { mayWrite, sendMine } from './send-mine.ts';

/** Shows the remaining time. `isRough`: in whole minutes, if there is little space. */
function Left({ until, isRough = false }: { until: number; isRough?: boolean }) {
  return (
    <Countdown
      until={until}
      text={(seconds) =>
        texts.value.clipboard.left(durationText(isRough && seconds > 60 ? Math.ceil(seconds / 60) * 60 : seconds))
      }
      onOver={readClipboard}
    />
  );
}

/** Shows the clipboard of the account at the foot of the list: hidden until it is touched, and copied by one click. */
export function ClipboardCard() {
  const app = useApp();
  const { clipboard } = texts.value;
  const entry = filledEntry(clipboardEntry.value);
  const isCurrent = place.value.name === 'clipboard';
  const send = () => attempt(() => sendMine(app), texts.value.failed.clipboard);
  const link = (
    <a
      class="clipboard-link"
      href={hrefOf('clipboard')}
      aria-label={clipboard.title}
      title={clipboard.title}
      {...(isCurrent && { 'aria-current': 'page' as const })}
    >
      <Icon node={Clipboard} size={18} />
    </a>
  );
  if (entry === null) {
    return (
      <div class="clipboard-card is-empty">
        {link}
        <span class="hint">{clipboard.nothing}</span>
        {mayWrite.value && (
          <button type="button" class="text-button" onClick={send}>
            {clipboard.sendMine}
          </button>
        )}
      </div>
    );
  }
  const { content, updated_at: from, expires_at: until, source_device_name: name } = entry;
  const copy = () => {
    noteSeen(entry);
    void copyText(content);
  };
  return (
    <div class="clipboard-card">
      <div class="clipboard-head">
        {link}
        <span class="clipboard-from">
          <bdi class="own">{name}</bdi> {clipboard.copiedText}
        </span>
        <ClipboardLock entry={entry} />
        {until !== null && (
          <small class="clipboard-left">
            <Left until={until} />
          </small>
        )}
      </div>
      {isSealedEntry(entry) ? (
        <p class="clipboard-sealed">
          <SealedNote />
        </p>
      ) : (
        <HiddenText of={from ?? 0} shown={shownEntry}>
          <bdi class="clipboard-content">{content}</bdi>
        </HiddenText>
      )}
      {until !== null && from !== null && <LeftBar from={from} until={until} />}
      <div class="clipboard-acts">
        {!isSealedEntry(entry) && (
          <button type="button" class="button small primary" onClick={copy}>
            {clipboard.copyHere}
          </button>
        )}
        {mayWrite.value && (
          <button type="button" class="button small" onClick={send}>
            {clipboard.sendMine}
          </button>
        )}
      </div>
    </div>
  );
}

/** Shows the remaining time as a line that shrinks. The words beside it say the same. */
function LeftBar({ from, until }: { from: number; until: number }) {
  const now = useSignal(serverNow());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = serverNow();
    }, 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return (
    <progress class="thin" aria-hidden="true" max={Math.max(1, until - from)} value={Math.max(0, until - now.value)} />
  );
}

/** Shows a new clipboard as a line on a small screen, on which the list is not visible. */
export function ClipboardLine() {
  const { entry: own } = useApp();
  const { clipboard, app } = texts.value;
  const entry = filledEntry(clipboardEntry.value);
  if (entry === null || entry.source_device_id === own.deviceId || (entry.updated_at ?? 0) <= seenEntries.value) {
    return null;
  }
  return (
    <div class="clipboard-line">
      <Icon node={Clipboard} size={18} />
      <span class="clipboard-from">
        {/* This leaves out the remaining time, which would be read again at each change. */}
        <span role="status">
          <bdi class="own">{entry.source_device_name}</bdi> {clipboard.copiedText}
        </span>
        {entry.expires_at !== null && (
          <>
            {' '}
            <small class="clipboard-left">
              <Left until={entry.expires_at} isRough />
            </small>
          </>
        )}
        {isSealedEntry(entry) && (
          <>
            {' '}
            <SealedNote />
          </>
        )}
      </span>
      {!isSealedEntry(entry) && (
        <button
          type="button"
          class="button small primary"
          onClick={() => {
            noteSeen(entry);
            void copyText(entry.content);
          }}
        >
          {clipboard.copyHere}
        </button>
      )}
      <IconButton node={X} kind="small" label={app.close} onClick={() => noteSeen(entry)} />
    </div>
  );
}
