import { useSignal } from '@preact/signals';
import { FolderUp, Paperclip, SendHorizontal } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { shared } from '../../engine/shared-state.ts';
import { chosenOf, nameOfPasted } from '../../files/choosing.ts';
import { texts } from '../../texts/texts.ts';
import { type Peer, useApp } from '../app-context.ts';
import { chooseFiles } from '../send/file-input.ts';
import { Icon } from '../parts/icon.tsx';
import { attempt } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';
import { bytesOf, sendFiles, sendMessage, textFile } from '../send/sending.ts';

/** As the contract has it, until the service has said its own. */
const MESSAGE_BYTES = 4_096;
const MOST_HEIGHT_PX = 200;

export function Composer({ peer }: { peer: Peer }) {
  const app = useApp();
  const text = useSignal('');
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

  const send = () => {
    if (isEmpty || over > 0) return;
    const said = text.value.trim();
    text.value = '';
    attempt(() => sendMessage(app, peer, said));
    area.current?.focus();
  };
  const choose = (isFolder: boolean) => () =>
    attempt(async () => sendFiles(app, [peer], await chooseFiles({ isFolder })));
  const paste = (event: ClipboardEvent) => {
    const files = chosenOf(event.clipboardData?.files ?? []);
    if (files.length === 0) return;
    event.preventDefault();
    attempt(() =>
      sendFiles(
        app,
        [peer],
        files.map((one) => nameOfPasted(one)),
      ),
    );
  };
  const asFile = () => {
    const file = textFile(text.value);
    text.value = '';
    attempt(() => sendFiles(app, [peer], [file]));
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {over > 0 && (
        <p class="composer-note" role="status">
          {thread.tooLong(over)}{' '}
          <button type="button" class="text-button" onClick={asFile}>
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
        placeholder={thread.placeholder}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onPaste={paste}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
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
