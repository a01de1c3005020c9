import { Copy, Ellipsis, Forward, Send, Trash2 } from 'lucide';
import { useMemo, useRef } from 'preact/hooks';
import type { App } from '../../engine/app.ts';
import type { ChosenFile } from '../../files/choosing.ts';
import { keptFile, removeKept } from '../../files/kept-files.ts';
import type { FilesItem, Item } from '../../history/database.ts';
import { isRefused, isSealed } from '../../history/history.ts';
import { texts } from '../../texts/texts.ts';
import { findPeer, useApp } from '../app-context.ts';
import { wordsOf } from '../item-words.ts';
import { go } from '../navigation.ts';
import { copyText } from '../parts/copying.ts';
import { confirmed } from '../parts/dialog.tsx';
import { type MenuAction, openMenu } from '../parts/menu.tsx';
import { attempt, notify } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';
import { type Touch, touchOf } from './touch.ts';
import { pending, sendFiles, sendMessage } from '../send/sending.ts';

const isOpen = ({ kind, state }: Item): boolean =>
  kind === 'files' && ['preparing', 'offered', 'active'].includes(state);

const isReadable = (item: Item): boolean => !isSealed(item) && !isRefused(item);

/** Returns the files of an item, received or kept from sending; null if this browser does not have all of them. */
async function bytesOf({ entry, history }: App, item: FilesItem): Promise<ChosenFile[] | null> {
  if (item.isMine) {
    const kept = (await history.sources.of(item.ref)) ?? (await history.sources.of(item.id)) ?? [];
    const found = kept.flatMap(({ file, name }) => (file === null ? [] : [{ file, name }]));
    return found.length === item.fileCount ? found : null;
  }
  const found: ChosenFile[] = [];
  for (const { index, name, type } of item.files) {
    const blob = await keptFile(entry.userId, item.ref, index);
    if (blob !== null)
      found.push({ name, file: new File([blob], name.split('/').at(-1) ?? name, { type: type ?? '' }) });
  }
  return found.length === item.fileCount ? found : null;
}

/** Forwards an item: the user chooses the receiver, and the item itself stays. */
async function forward(app: App, item: Item): Promise<void> {
  const files = item.kind === 'files' ? await bytesOf(app, item) : [];
  if (files === null) return notify(texts.value.files.gone, true);
  pending.value = { files, text: item.kind === 'message' ? item.text : '' };
  go('send');
}

/** Sends an item again to the same device. The outbox handles a failed one. */
async function sendAgain(app: App, item: Item): Promise<void> {
  if (['failed', 'cancelled', 'refused'].includes(item.state)) return app.outbox.again(item);
  const to = { id: item.thread, name: findPeer(item.thread)?.name ?? '' };
  if (item.kind === 'message') return sendMessage(app, to, item.text);
  const files = await bytesOf(app, item);
  if (files === null) notify(texts.value.files.gone, true);
  else await sendFiles(app, [to], files);
}

/** Removes an item from this browser; the other device keeps its own. */
async function remove(app: App, item: Item): Promise<void> {
  const { item: words, files } = texts.value;
  const isOnlyCopy = item.kind === 'files' && item.kept === 'here';
  const why = isOnlyCopy ? files.removeWhy : words.removeWhy;
  if (!(await confirmed({ title: words.removeTitle, why, action: words.remove }))) return;
  // Otherwise the mailbox hands it over again.
  if (isSealed(item)) await app.client.messages.acknowledge([item.ref]);
  if (item.kind === 'files' && !item.isMine && item.ref !== '') await removeKept(app.entry.userId, item.ref);
  await app.outbox.remove(item);
}

function actionsOf(app: App, item: Item): MenuAction[] {
  const { item: words, thread } = texts.value;
  const isThere = findPeer(item.thread)?.kind === 'device';
  const hasBytes = item.kind === 'message' || item.isMine || item.kept === 'here' || item.kept === 'downloaded';
  const text = item.kind === 'message' && isReadable(item) ? item.text : null;
  const on = (work: () => Promise<unknown>, failed: string) => () => attempt(work, failed);
  return [
    ...(text === null ? [] : [{ label: thread.copy, node: Copy, act: () => void copyText(text) }]),
    ...(hasBytes && !isOpen(item) && isReadable(item)
      ? [{ label: words.forward, node: Forward, act: on(() => forward(app, item), texts.value.failed.send) }]
      : []),
    ...(item.isMine && isThere && !isOpen(item) && item.state !== 'sending'
      ? [{ label: thread.again, node: Send, act: on(() => sendAgain(app, item), texts.value.failed.send) }]
      : []),
    ...(isOpen(item)
      ? []
      : [
          {
            label: words.remove,
            node: Trash2,
            act: on(() => remove(app, item), texts.value.failed.remove),
            isDanger: true,
          },
        ]),
  ];
}

/** Opens the actions of one item. */
function openItemMenu(app: App, item: Item, opener: Element | null): void {
  const actions = actionsOf(app, item);
  if (actions.length > 0) openMenu(wordsOf(item), actions, opener);
}

/** Shows the most used action beside an item, and a menu with the others. */
export function ItemTools({ item }: { item: Item }) {
  const app = useApp();
  const { thread, item: words } = texts.value;
  if (isOpen(item)) return null;
  return (
    <div class="item-tools">
      {item.kind === 'message' && isReadable(item) && (
        <IconButton node={Copy} label={thread.copy} kind="small first" onClick={() => void copyText(item.text)} />
      )}
      <IconButton
        node={Ellipsis}
        label={words.more}
        kind="small"
        onClick={(event) => openItemMenu(app, item, event.currentTarget)}
      />
    </div>
  );
}

/** Opens the same menu on a long press. A swipe copies a text, and one against the lines removes the item. */
export function useTouch(item: Item): Touch {
  const app = useApp();
  const latest = useRef(item);
  latest.current = item;
  return useMemo(
    () =>
      touchOf({
        press: () => openItemMenu(app, latest.current, null),
        swipe(isForwards) {
          const label = isForwards ? texts.value.thread.copy : texts.value.item.remove;
          return actionsOf(app, latest.current).find((action) => action.label === label)?.act ?? null;
        },
      }),
    [],
  );
}
