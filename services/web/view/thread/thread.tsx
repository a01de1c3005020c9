import { useSignal } from '@preact/signals';
import { MessagesSquare, Trash2 } from 'lucide';
import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { changes } from '../../engine/app.ts';
import { isAlways, setAlways } from '../../files/always.ts';
import { removeKept } from '../../files/kept-files.ts';
import type { Item } from '../../history/database.ts';
import { serverNow } from '../../server-time.ts';
import { dayText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { findPeer, kindOfUnlisted, type Peer, threads, useApp } from '../app-context.ts';
import { shared } from '../../engine/shared-state.ts';
import { Composer } from './composer.tsx';
import { presenceText } from '../devices/device-list.tsx';
import { confirmed } from '../parts/dialog.tsx';
import { FilesRow } from './files-row.tsx';
import { useItems } from './items-window.ts';
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
  const days = Math.round((startOf(serverNow()) - startOf(at)) / DAY_MS);
  return days === 0 ? thread.today : days === 1 ? thread.yesterday : dayText(at);
}

const isOfDay = (item: Item, before: Item | undefined): boolean =>
  before === undefined || new Date(before.at).toDateString() !== new Date(item.at).toDateString();

type Box = { current: HTMLDivElement | null };

const isNearEnd = ({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean =>
  scrollTop + clientHeight > scrollHeight - NEAR_END_PX;

/** Older items are put above what is looked at, which stays where it is, also when something new comes meanwhile. */
function useAnchor(box: Box) {
  const kept = useRef<{ item: Element; top: number } | null>(null);
  const first = () => box.current?.querySelector('.item') ?? null;
  return {
    keep(): void {
      const item = first();
      if (item === null || box.current === null) return;
      kept.current = { item, top: item.getBoundingClientRect().top };
      // Some browsers do the same by themselves, but not at the very top: it is done once.
      box.current.style.overflowAnchor = 'none';
    },
    restore(): void {
      if (kept.current === null || box.current === null || kept.current.item === first()) return;
      const { item, top } = kept.current;
      kept.current = null;
      box.current.scrollTop += item.getBoundingClientRect().top - top;
      box.current.style.overflowAnchor = '';
    },
  };
}

/** What is in sight of a thread: the item that was asked for at first, else the newest, as long as somebody is there. */
function useScrolling(id: string, at: string | undefined) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(at === undefined);
  const isSought = useRef(at !== undefined);
  const seenTop = useRef(0);
  const look = (scrolled: HTMLElement): void => {
    seenTop.current = scrolled.scrollTop;
    isAtEnd.current = isNearEnd(scrolled);
  };
  const isFollowed = (): boolean => {
    // Somebody has scrolled, and the event of it is to come yet.
    if (box.current !== null && box.current.scrollTop !== seenTop.current) look(box.current);
    return isAtEnd.current;
  };
  const { shown, older } = useItems(id, at, isFollowed);
  const anchor = useAnchor(box);
  // Before anything new is drawn.
  isFollowed();
  useLayoutEffect(() => {
    if (shown === null || box.current === null) return;
    const wanted = isSought.current ? document.getElementById(`item-${at}`) : null;
    isSought.current = false;
    anchor.restore();
    if (wanted !== null) wanted.scrollIntoView({ block: 'center' });
    else if (isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
    look(box.current);
  }, [shown]);
  const showOlder = () =>
    attempt(() => {
      isAtEnd.current = false;
      anchor.keep();
      return older();
    });
  return { box, shown, showOlder, look };
}

function Items({ id, at }: { id: string; at: string | undefined }) {
  const { box, shown: found, showOlder, look } = useScrolling(id, at);
  const { thread } = texts.value;
  const shown = found?.items ?? null;
  const name = findPeer(id)?.name ?? '';
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
      onScroll={({ currentTarget }) => look(currentTarget)}
    >
      {found?.hasOlder === true && (
        <p class="centred">
          <button type="button" class="text-button" onClick={showOlder}>
            {thread.older}
          </button>
        </p>
      )}
      <ol class="items">
        {shown.map((item, i) => (
          <Fragment key={item.id}>
            {isOfDay(item, shown[i - 1]) && (
              <li class="day">
                <span>{dayOf(item.at)}</span>
              </li>
            )}
            {item.kind === 'message' ? <MessageRow item={item} /> : <FilesRow item={item} />}
          </Fragment>
        ))}
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
  const unlisted = { ...GONE, id, kind: kindOfUnlisted(id, shared.value.listed) };
  const peer = findPeer(id) ?? { ...unlisted, name: threads.value.get(id)?.name ?? id };
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
        <Items key={`${id}/${at ?? ''}`} id={id} at={at} />
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
