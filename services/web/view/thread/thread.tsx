import { useSignal } from '@preact/signals';
import { MessagesSquare, Trash2 } from 'lucide';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { changes } from '../../engine/app.ts';
import { isAlways, setAlways } from '../../files/always.ts';
import { removeKept } from '../../files/kept-files.ts';
import type { Item } from '../../history/database.ts';
import { PAGE_ITEMS } from '../../history/history.ts';
import { dayText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { findPeer, type Peer, threads, useApp } from '../app-context.ts';
import { Composer } from './composer.tsx';
import { presenceText } from '../devices/device-list.tsx';
import { confirmed } from '../parts/dialog.tsx';
import { FilesRow } from './files-row.tsx';
import { MessageRow } from './message-row.tsx';
import { attempt } from '../parts/notices.ts';
import { Empty, IconButton, Pane, Waiting } from '../parts/parts.tsx';
import { sendDropped } from '../send/dropping.ts';

const DAY_MS = 86_400_000;
/** So near the end of what is shown, new items are followed. */
const NEAR_END_PX = 120;

function dayOf(at: number): string {
  const { thread } = texts.value;
  const startOf = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((startOf(Date.now()) - startOf(at)) / DAY_MS);
  return days === 0 ? thread.today : days === 1 ? thread.yesterday : dayText(at);
}

const isOfDay = (item: Item, before: Item | undefined): boolean =>
  before === undefined || new Date(before.at).toDateString() !== new Date(item.at).toDateString();

/** The items of a thread, read anew when it changes. `older` adds those before them. */
function useItems(id: string) {
  const { history } = useApp();
  const items = useSignal<readonly Item[] | null>(null);
  const hasOlder = useSignal(false);
  const oldest = useRef(Number.MAX_SAFE_INTEGER);
  const change = changes.value;
  const read = async (): Promise<void> => {
    const page = await history.page(id);
    const first = page[0]?.at ?? 0;
    // What was shown beside the newest page stays.
    const newest = new Set(page.map((item) => item.id));
    const kept = (items.value ?? []).filter((item) => item.at < first && !newest.has(item.id));
    items.value = [...kept, ...page];
    if (kept.length === 0) hasOlder.value = page.length === PAGE_ITEMS;
    oldest.current = items.value[0]?.at ?? 0;
    if (document.visibilityState === 'visible') await history.read(id);
  };
  useEffect(() => {
    if (change.thread === id || items.value === null) void read();
  }, [change, id]);
  useEffect(() => {
    const seen = () => void history.read(id);
    document.addEventListener('visibilitychange', seen);
    return () => document.removeEventListener('visibilitychange', seen);
  }, [id]);
  const older = async (): Promise<void> => {
    const page = await history.page(id, oldest.current);
    items.value = [...page, ...(items.value ?? [])];
    oldest.current = page[0]?.at ?? 0;
    hasOlder.value = page.length === PAGE_ITEMS;
  };
  return { items, hasOlder, older };
}

function Items({ id, at }: { id: string; at: string | undefined }) {
  const { items, hasOlder, older } = useItems(id);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const { thread } = texts.value;
  const shown = items.value;
  const name = findPeer(id)?.name ?? '';
  useLayoutEffect(() => {
    const wanted = at === undefined ? null : document.getElementById(`item-${at}`);
    if (wanted !== null) wanted.scrollIntoView({ block: 'center' });
    else if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [shown, at]);
  if (shown === null) return <Waiting />;
  if (shown.length === 0) return <Empty node={MessagesSquare} title={thread.empty} why={thread.emptyWhy(name)} />;
  return (
    <div
      ref={box}
      class="items-box"
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label={name}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - NEAR_END_PX;
      }}
    >
      {hasOlder.value && (
        <p class="centred">
          <button type="button" class="text-button" onClick={() => attempt(older)}>
            {thread.older}
          </button>
        </p>
      )}
      <ol class="items">
        {shown.map((item, i) => [
          isOfDay(item, shown[i - 1]) && (
            <li key={`day-${item.id}`} class="day">
              <span>{dayOf(item.at)}</span>
            </li>
          ),
          item.kind === 'message' ? <MessageRow key={item.id} item={item} /> : <FilesRow key={item.id} item={item} />,
        ])}
      </ol>
    </div>
  );
}

function ThreadActions({ peer }: { peer: Peer }) {
  const { entry, history } = useApp();
  const { thread } = texts.value;
  const isOn = useSignal(false);
  const change = changes.value;
  useEffect(() => {
    void isAlways(history, peer.id).then((now) => {
      isOn.value = now;
    });
  }, [peer.id, change]);
  const forget = () =>
    attempt(async () => {
      const asked = { title: `${thread.forget}: ${peer.name}`, why: thread.forgetWhy, action: thread.forget };
      if (!(await confirmed(asked))) return;
      for (const { ref } of await history.withBytes(peer.id)) await removeKept(entry.userId, ref);
      await history.forgetThread(peer.id);
    });
  return (
    <>
      {isOn.value && (
        <button
          type="button"
          class="chip"
          aria-pressed="true"
          title={thread.alwaysOn}
          onClick={() =>
            attempt(async () => {
              await setAlways(history, peer.id, false);
              isOn.value = false;
            })
          }
        >
          {thread.alwaysOn}
        </button>
      )}
      <IconButton node={Trash2} label={thread.forget} onClick={forget} />
    </>
  );
}

const GONE: Peer = {
  ...{ id: '', name: '', type: null, isOnline: false, lastSeenAt: null, isCurrent: false },
  ...{ kind: 'past', unread: 0, lastAt: 0 },
};

export function ThreadPane({ id, at }: { id: string; at: string | undefined }) {
  const app = useApp();
  const isOver = useSignal(false);
  const { thread, devices } = texts.value;
  const peer = findPeer(id) ?? { ...GONE, id, name: threads.value.get(id)?.name ?? id };
  const takesFiles = peer.kind === 'device';
  const drop = (event: DragEvent) => {
    event.preventDefault();
    isOver.value = false;
    const { dataTransfer } = event;
    if (takesFiles && dataTransfer !== null) {
      attempt(async () => sendDropped(app, [peer], dataTransfer));
    }
  };
  return (
    <Pane
      kind={`thread ${isOver.value ? 'drop-over' : ''}`}
      title={
        <>
          {peer.name}
          <small class={peer.isOnline ? 'is-online' : ''}>{presenceText(peer)}</small>
        </>
      }
      actions={<ThreadActions peer={peer} />}
    >
      <div
        class="thread-body"
        onDragOver={(event) => {
          event.preventDefault();
          isOver.value = takesFiles;
        }}
        onDragLeave={() => {
          isOver.value = false;
        }}
        onDrop={drop}
      >
        <Items key={id} id={id} at={at} />
        {isOver.value && <div class="drop-hint">{devices.dropOn(peer.name)}</div>}
      </div>
      {takesFiles ? (
        <Composer key={id} peer={peer} />
      ) : (
        <p class="composer-note">{peer.kind === 'live' ? thread.cannotAnswer : thread.deviceGone}</p>
      )}
    </Pane>
  );
}
