import { useSignal } from '@preact/signals';
import { ClipboardList, ClipboardPaste, Copy, Eraser } from 'lucide';
import { useEffect } from 'preact/hooks';
import {
  clipboardHistory,
  keepClipboardHistory,
  noteClipboard,
  type PassedText,
} from '../../history/clipboard-history.ts';
import { agoText, durationText } from '../../texts/quantities.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { ClipboardLock } from '../keys/locks.tsx';
import { Icon } from '../parts/icon.tsx';
import { copyText } from '../parts/copying.ts';
import { Countdown } from '../parts/countdown.tsx';
import { attempt } from '../parts/notices.ts';
import { Empty, IconButton, Pane, Waiting } from '../parts/parts.tsx';
import { SealedNote } from '../parts/sealed-note.tsx';
import { RichText } from '../parts/rich-text.tsx';
import { bytesOf } from '../send/sending.ts';
import { clipboardEntry, readClipboard, shownEntry } from './clipboard-state.ts';
import { isEmptyEntry, isSealedEntry } from './entries.ts';
import { HiddenText } from './hidden-text.tsx';
import { CLIPBOARD_BYTES, mayWrite, putText, sendMine } from './send-mine.ts';

const SHOWN_LETTERS = 500;

function Writing({ onPut }: { onPut: (text: string) => Promise<void> }) {
  const text = useSignal('');
  const { clipboard } = texts.value;
  const isTooLong = bytesOf(text.value) > CLIPBOARD_BYTES;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.value === '') return;
        attempt(async () => {
          await onPut(text.value);
          text.value = '';
        }, texts.value.failed.clipboard);
      }}
    >
      <label class="field">
        <span>{clipboard.write}</span>
        <textarea
          rows={4}
          dir="auto"
          value={text.value}
          aria-invalid={isTooLong}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
      </label>
      {isTooLong && (
        <p class="item-error" role="status">
          {clipboard.tooLong}
        </p>
      )}
      <div class="row">
        <button class="button" disabled={text.value === ''}>
          {isTooLong ? clipboard.sendInstead : clipboard.put}
        </button>
      </div>
    </form>
  );
}

/** Shows earlier entries, if the user wants this browser to keep them. */
function Passed() {
  const { history } = useApp();
  const isOn = useSignal(false);
  const passed = useSignal<readonly PassedText[]>([]);
  const { clipboard } = texts.value;
  const read = async () => {
    const kept = await clipboardHistory(history);
    [isOn.value, passed.value] = [kept.isOn, kept.passed];
  };
  useEffect(() => {
    // The follower of the clipboard has written this entry before.
    noteClipboard(history, clipboardEntry.value).then(read, () => {});
  }, [clipboardEntry.value]);
  const choose = (isWanted: boolean) =>
    attempt(async () => {
      await keepClipboardHistory(history, isWanted);
      if (isWanted) await noteClipboard(history, clipboardEntry.value);
      await read();
    }, texts.value.failed.setting);
  return (
    <section class="stack" aria-labelledby="passed">
      <h2 id="passed">{clipboard.history}</h2>
      <label class="check">
        <input type="checkbox" checked={isOn.value} onChange={(event) => choose(event.currentTarget.checked)} />
        <span>{clipboard.keepHistory}</span>
      </label>
      {passed.value.length > 0 && (
        <ul class="passed">
          {passed.value.map(({ text, from, at }) => (
            <li key={at} class="passed-item">
              <span class="device-words">
                <HiddenText of={at}>
                  <span class="found-words" dir="auto">
                    {text.slice(0, SHOWN_LETTERS)}
                  </span>
                </HiddenText>
                <small>
                  {clipboard.from(from)} · {agoText(at)}
                </small>
              </span>
              <IconButton node={Copy} label={clipboard.copyHere} onClick={() => void copyText(text)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function ClipboardPane() {
  const app = useApp();
  const { client } = app;
  const { clipboard } = texts.value;
  const now = clipboardEntry.value;
  useEffect(() => {
    if (clipboardEntry.peek() === null) readClipboard();
  }, []);
  const paste = () => attempt(() => sendMine(app), texts.value.failed.clipboard);
  const copy = () => void copyText(now?.content ?? '');
  return (
    <Pane title={clipboard.title}>
      <div class="pane-body">
        <p class="lead">{clipboard.why}</p>
        {now === null && <Waiting />}
        {now !== null && isEmptyEntry(now) && <Empty node={ClipboardList} title={clipboard.empty} />}
        {now !== null && !isEmptyEntry(now) && (
          <article class="card">
            {isSealedEntry(now) ? (
              <SealedNote />
            ) : (
              <HiddenText of={now.updated_at ?? 0} shown={shownEntry}>
                <div class="clipboard-text" tabIndex={0} role="region" aria-label={clipboard.title}>
                  <RichText text={now.content} />
                </div>
              </HiddenText>
            )}
            <p class="hint">
              {clipboard.from(now.source_device_name ?? '')}
              {now.expires_at !== null && (
                <>
                  {' · '}
                  <Countdown
                    until={now.expires_at}
                    text={(seconds) => clipboard.left(durationText(seconds))}
                    onOver={readClipboard}
                  />
                </>
              )}{' '}
              <ClipboardLock entry={now} />
            </p>
            <div class="row">
              <button
                type="button"
                class="button"
                onClick={() =>
                  attempt(async () => {
                    await client.clipboard.clear();
                    clipboardEntry.value = null;
                    readClipboard();
                  }, texts.value.failed.clipboard)
                }
              >
                <Icon node={Eraser} size={18} /> {clipboard.clear}
              </button>
              {!isSealedEntry(now) && (
                <button type="button" class="button primary" onClick={copy}>
                  <Icon node={Copy} size={18} /> {clipboard.copy}
                </button>
              )}
            </div>
          </article>
        )}
        {mayWrite.value ? (
          <>
            <div class="row start">
              <button
                type="button"
                class={`button ${now !== null && isEmptyEntry(now) ? 'primary' : ''}`}
                onClick={paste}
              >
                <Icon node={ClipboardPaste} size={18} /> {clipboard.paste}
              </button>
            </div>
            <Writing onPut={(text) => putText(app, text)} />
          </>
        ) : (
          <p class="hint">{errorText('guest_clipboard')}</p>
        )}
        <Passed />
      </div>
    </Pane>
  );
}
