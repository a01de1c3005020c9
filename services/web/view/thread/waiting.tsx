import { FolderSync } from 'lucide';
import { isOffline } from '../../engine/network.ts';
import { shared } from '../../engine/shared-state.ts';
import type { FilesItem, Item, MessageItem } from '../../history/database.ts';
import { isWaitingItem } from '../../outbox/queue.ts';
import { errorText, keyWords, texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { Icon } from '../parts/icon.tsx';
import { attempt, notify } from '../parts/notices.ts';
import { chooseFiles } from '../send/file-input.ts';

/** The reasons that wait for the user, not for the service. */
const ASKED = ['choose_again', 'allow_again', 'signed_out'];

/** Says why an item waits; empty when it does not. The present state comes before the result of the last attempt. */
export function waitingText(item: Item): string {
  if (!isWaitingItem(item)) return '';
  const waiting: Readonly<Record<string, string>> = texts.value.waiting;
  const isAsked = item.error !== null && ASKED.includes(item.error);
  const now = isOffline.value ? 'offline' : shared.value.isDegraded ? 'store_unavailable' : item.error;
  const reason = isAsked ? item.error : now;
  const ofKeys: Readonly<Record<string, string>> | undefined = keyWords.value()?.waiting;
  if (reason === 'not_loaded') return texts.value.app.notLoaded;
  return reason === null ? '' : (waiting[reason] ?? ofKeys?.[reason] ?? texts.value.waiting.network);
}

/** Asks under an item that was not sent, or may have been, whether to send it again or drop it. */
export function NotSent({ item }: { item: Item }) {
  const { keys, outbox } = useApp();
  const { thread, files } = texts.value;
  const ofKeys = item.error === 'unkeyed_receiver' ? keyWords.value() : null;
  const sendOpen = () =>
    attempt(async () => {
      await (await keys.open()).allowOpen(item.thread);
      await outbox.again(item);
    }, texts.value.failed.send);
  return (
    <p class="item-error">
      {errorText(item.error ?? 'unexpected')}{' '}
      {ofKeys !== null && (
        <>
          <button type="button" class="text-button" onClick={sendOpen}>
            {ofKeys.sendOpen}
          </button>{' '}
        </>
      )}
      <button
        type="button"
        class="text-button"
        onClick={() => attempt(() => outbox.again(item), texts.value.failed.send)}
      >
        {item.kind === 'message' ? thread.again : files.again}
      </button>{' '}
      <button
        type="button"
        class="text-button"
        onClick={() => attempt(() => outbox.remove(item), texts.value.failed.remove)}
      >
        {thread.remove}
      </button>
    </p>
  );
}

/** Shows the note beside a message of this device that is not sent yet. */
export function MessageNote({ item }: { item: MessageItem }) {
  if (item.state === 'failed') return <NotSent item={item} />;
  const waits = waitingText(item);
  return waits === '' ? null : <p class="item-note">{waits}</p>;
}

/** Returns the chosen files that match the item, in its order; null when they differ. */
export function sameFiles<T extends { file: File; name: string }>(item: FilesItem, chosen: readonly T[]): T[] | null {
  const sorted = item.files.map(({ name, size }) => chosen.find((one) => one.name === name && one.file.size === size));
  const same = sorted.filter((one) => one !== undefined);
  return same.length === item.fileCount ? same : null;
}

/** Asks for files that the browser no longer has, or may not read. */
export function FilesAgain({ item }: { item: FilesItem }) {
  const { outbox } = useApp();
  const { files } = texts.value;
  const choose = () =>
    attempt(async () => {
      const chosen = await chooseFiles({ isFolder: item.files.some(({ name }) => name.includes('/')) });
      if (chosen.length === 0) return;
      const same = sameFiles(item, chosen);
      if (same === null) notify(files.notTheSame, true);
      else await outbox.chosen(item, same);
    }, texts.value.failed.send);
  const isAllowed = item.error === 'allow_again';
  return (
    <button
      type="button"
      class="button"
      onClick={isAllowed ? () => attempt(() => outbox.allow(item), texts.value.failed.send) : choose}
    >
      <Icon node={FolderSync} size={18} /> {isAllowed ? files.allow : files.goOn}
    </button>
  );
}
