import { useSignal } from '@preact/signals';
import { ClipboardList, ClipboardPaste, Copy, Eraser } from 'lucide';
import { useEffect } from 'preact/hooks';
import type { ClipboardEntry } from '../../../shared/client/index.ts';
import { shared } from '../engine/shared-state.ts';
import { durationText } from '../texts/quantities.ts';
import { texts } from '../texts/texts.ts';
import { useApp } from './app-context.ts';
import { Icon } from './parts/icon.tsx';
import { copyText } from './parts/copying.ts';
import { Countdown } from './parts/countdown.tsx';
import { attempt, codeOf, notify } from './parts/notices.ts';
import { Empty, Pane, Waiting } from './parts/parts.tsx';
import { RichText } from './parts/rich-text.tsx';

const CLIPBOARD_BYTES = 65_536;

/** What is in the clipboard; read anew when the service says that it has changed. */
function useClipboard() {
  const { client } = useApp();
  const entry = useSignal<ClipboardEntry | null>(null);
  const { clipboard, connection } = shared.value;
  const read = async (): Promise<void> => {
    entry.value = await client.clipboard.get();
  };
  useEffect(() => {
    read().catch(() => {});
  }, [clipboard, connection === 'online']);
  return { entry, read };
}

function Writing({ onPut }: { onPut: (text: string) => Promise<void> }) {
  const text = useSignal('');
  const { clipboard } = texts.value;
  const isTooLong = new TextEncoder().encode(text.value).length > CLIPBOARD_BYTES;
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.value === '' || isTooLong) return;
        attempt(async () => {
          await onPut(text.value);
          text.value = '';
        });
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
        <button class="button" disabled={text.value === '' || isTooLong}>
          {clipboard.put}
        </button>
      </div>
    </form>
  );
}

export function ClipboardPane() {
  const { client } = useApp();
  const { entry, read } = useClipboard();
  const { clipboard } = texts.value;
  const now = entry.value;
  const put = async (text: string): Promise<void> => {
    entry.value = await client.clipboard.set(text);
  };
  const paste = () =>
    attempt(async () => {
      // Only secure pages are given the clipboard, and some browsers give it to none.
      const text = await navigator.clipboard?.readText?.().catch(() => null);
      if (typeof text !== 'string') notify(isSecureContext ? clipboard.blocked : clipboard.insecure, true);
      else if (text === '') notify(clipboard.noText, true);
      else await put(text);
    });
  const copy = () => attempt(() => copyText(now?.content ?? ''));
  return (
    <Pane title={clipboard.title}>
      <div class="pane-body">
        <p class="lead">{clipboard.why}</p>
        {now === null && <Waiting />}
        {now !== null && now.content === '' && <Empty node={ClipboardList} title={clipboard.empty} />}
        {now !== null && now.content !== '' && (
          <article class="card">
            <div class="clipboard-text" tabIndex={0} role="region" aria-label={clipboard.title}>
              <RichText text={now.content} />
            </div>
            <p class="hint">
              {clipboard.from(now.source_device_name ?? '')}
              {now.expires_at !== null && (
                <>
                  {' · '}
                  <Countdown
                    until={now.expires_at}
                    text={(seconds) => clipboard.left(durationText(seconds))}
                    onOver={() => void read().catch(codeOf)}
                  />
                </>
              )}
            </p>
            <div class="row">
              <button
                type="button"
                class="button"
                onClick={() =>
                  attempt(async () => {
                    await client.clipboard.clear();
                    await read();
                  })
                }
              >
                <Icon node={Eraser} size={18} /> {clipboard.clear}
              </button>
              <button type="button" class="button primary" onClick={copy}>
                <Icon node={Copy} size={18} /> {clipboard.copy}
              </button>
            </div>
          </article>
        )}
        <div class="row start">
          <button type="button" class={`button ${now?.content === '' ? 'primary' : ''}`} onClick={paste}>
            <Icon node={ClipboardPaste} size={18} /> {clipboard.paste}
          </button>
        </div>
        <Writing onPut={put} />
      </div>
    </Pane>
  );
}
