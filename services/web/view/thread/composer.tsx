import { useSignal } from '@preact/signals';
import { FolderUp, Paperclip, SendHorizontal } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import { draftOf, keepDraft, onOtherDraft } from '../../history/drafts.ts';
import { texts } from '../../texts/texts.ts';
import { type Peer, useApp } from '../app-context.ts';
import { chooseFiles } from '../send/file-input.ts';
import { pastedFiles } from '../send/pasting.ts';
import { KeyNote } from '../keys/key-note.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';
import { bytesOf, sendFiles, sendMessage, textFile } from '../send/sending.ts';

/** The limit of the contract, until the service has named its own. */
const MESSAGE_BYTES = 4_096;
const MOST_HEIGHT_PX = 200;

/** The key code of an input method's last key. Safari sends Enter after the composition, and only this code shows it. */
const OF_INPUT_METHOD = 229;

// oxlint-disable-next-line typescript/no-deprecated -- no other field tells it
const codeOfKey = ({ keyCode }: KeyboardEvent): number => keyCode;

/** Tells whether a key sends: Enter, unless it ends the word of an input method. */
const isSending = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.isComposing && codeOfKey(event) !== OF_INPUT_METHOD;

/** Keeps the typed text for that device until it is sent. `set` is for text that is not typed. */
function useDraft(peerId: string) {
  const { userId } = useApp().entry;
  const text = useSignal(draftOf(userId, peerId));
  useEffect(
    () =>
      onOtherDraft(userId, peerId, (other) => {
        text.value = other;
      }),
    [userId, peerId],
  );
  const set = (next: string): void => {
    text.value = next;
    keepDraft(userId, peerId, next);
  };
  return { text, set };
}

export function Composer({ peer }: { peer: Peer }) {
  const app = useApp();
  const { text, set } = useDraft(peer.id);
  const area = useRef<HTMLTextAreaElement>(null);
  const { thread } = texts.value;
  const over = bytesOf(text.value) - (shared.value.me?.limits.message_bytes ?? MESSAGE_BYTES);
  const isEmpty = text.value.trim() === '';

  useEffect(() => {
    const box = area.current;
    if (box === null) return;
    box.style.blockSize = 'auto';
    box.style.blockSize = `${Math.min(MOST_HEIGHT_PX, box.scrollHeight)}px`;
  }, [text.value]);

  /** Empties the field for `work`. Text that could not be sent returns to it. */
  const hand = (work: (said: string) => Promise<unknown>) => {
    const said = text.value;
    set('');
    attempt(
      () =>
        work(said).catch((error: unknown) => {
          if (text.value === '') set(said);
          throw error;
        }),
      texts.value.failed.send,
    );
  };
  const send = () => {
    if (isEmpty || over > 0) return;
    hand((said) => sendMessage(app, peer, said));
    area.current?.focus();
  };
  const choose = (isFolder: boolean) => () =>
    attempt(async () => sendFiles(app, [peer], await chooseFiles({ isFolder })), texts.value.failed.send);
  const paste = (event: ClipboardEvent) => {
    const files = pastedFiles(event.clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    attempt(() => sendFiles(app, [peer], files), texts.value.failed.send);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <KeyNote />
      {over > 0 && (
        <p class="composer-note" role="status">
          {thread.tooLong(over)}{' '}
          <button
            type="button"
            class="text-button"
            onClick={() => hand((said) => sendFiles(app, [peer], [textFile(said)]))}
          >
            {thread.sendAsFile}
          </button>
        </p>
      )}
      <IconButton node={Paperclip} label={thread.attach} onClick={choose(false)} />
      <IconButton node={FolderUp} label={thread.folder} kind="rare" onClick={choose(true)} />
      <textarea
        ref={area}
        rows={1}
        dir="auto"
        aria-label={thread.placeholder}
        placeholder={thread.placeholderTo(peer.name)}
        value={text.value}
        onInput={(event) => {
          set(event.currentTarget.value);
        }}
        onPaste={paste}
        onKeyDown={(event) => {
          if (!isSending(event)) return;
          event.preventDefault();
          send();
        }}
      />
      <button class="icon-button primary" aria-label={thread.send} title={thread.send} disabled={isEmpty || over > 0}>
        <Icon node={SendHorizontal} />
      </button>
    </form>
  );
}
