import { useSignal } from '@preact/signals';
import { ArrowDown, Ellipsis, Info, MessagesSquare, Search, Trash2 } from 'lucide';
import { Component, Fragment } from 'preact';
import type { Item } from '../../history/database.ts';
import { shownNow } from '../../shown-time.ts';
import { dayText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { findPeer, kindOfUnlisted, type Peer, threads, useApp } from '../app-context.ts';
import { shared } from '../../engine/shared-state.ts';
import { ClipboardLine } from '../clipboard/clipboard-card.tsx';
import { Composer } from './composer.tsx';
import { DevicePicture, presenceText } from '../devices/device-list.tsx';
import { stayOf, stayText } from '../devices/stays.tsx';
import { go } from '../navigation.ts';
import { confirmed } from '../parts/dialog.tsx';
import { ThreadLock } from '../keys/locks.tsx';
import { Icon } from '../parts/icon.tsx';
import { type MenuAction, MenuDialog, openMenu } from '../parts/menu.tsx';
import { endsBurst } from './bursts.ts';
import { clearThread, isBusy } from './clearing.ts';
import { FilesRow } from './files-row.tsx';
import { PictureView } from './item-preview.tsx';
import { PreparingLines } from './preparing.tsx';
import { useScrolling } from './scrolling.ts';
import { MessageRow } from './message-row.tsx';
import { attempt } from '../parts/notices.ts';
import { Empty, IconButton, Pane, Waiting } from '../parts/parts.tsx';
import { holdsFiles, sendDropped } from '../send/dropping.ts';

const DAY_MS = 86_400_000;

function dayOf(at: number): string {
  const { thread } = texts.value;
  const startOf = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((startOf(shownNow()) - startOf(at)) / DAY_MS);
  return days === 0 ? thread.today : days === 1 ? thread.yesterday : dayText(at);
}

const isOfDay = (item: Item, before: Item | undefined): boolean =>
  before === undefined || new Date(before.at).toDateString() !== new Date(item.at).toDateString();

interface RowProps {
  item: Item;
  isEnd: boolean;
}

/**
 * A row is drawn again only when its item, or its place in a burst, has changed, so that a burst draws only its new items.
 * (An element that is kept and given to Preact again would keep the whole page of its first drawing in memory.)
 */
class Row extends Component<RowProps> {
  override shouldComponentUpdate({ item, isEnd }: RowProps): boolean {
    return item !== this.props.item || isEnd !== this.props.isEnd;
  }

  override render({ item, isEnd }: RowProps) {
    return item.kind === 'message' ? <MessageRow item={item} isEnd={isEnd} /> : <FilesRow item={item} isEnd={isEnd} />;
  }
}

function Items({ id, at }: { id: string; at: string | undefined }) {
  const { box, shown: found, showOlder, look, toEnd, isAway, fresh } = useScrolling(id, at);
  const { thread } = texts.value;
  const shown = found?.items ?? null;
  const name = findPeer(id)?.name ?? '';
  if (shown === null) return <Waiting />;
  if (shown.length === 0) return <Empty node={MessagesSquare} title={thread.empty} why={thread.emptyWhy(name)} />;
  return (
    <>
      <div
        ref={box}
        class="items-box"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={name}
        onScroll={({ currentTarget }) => look(currentTarget)}
      >
        <div class="items-all">
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
                <Row item={item} isEnd={endsBurst(item, shown[i + 1])} />
              </Fragment>
            ))}
          </ol>
        </div>
      </div>
      {isAway && (
        <button type="button" class="to-newest" onClick={toEnd}>
          <Icon node={ArrowDown} size={16} /> {fresh > 0 ? thread.fresh(fresh) : thread.newest}
        </button>
      )}
    </>
  );
}

function ThreadActions({ peer }: { peer: Peer }) {
  const app = useApp();
  const { thread, search, about } = texts.value;
  const forget = () =>
    attempt(async () => {
      const why = (await isBusy(app, peer.id)) ? `${thread.forgetWhy} ${thread.forgetOpen}` : thread.forgetWhy;
      const asked = { title: `${thread.forget}: ${peer.name}`, why, action: thread.forget };
      if (await confirmed(asked)) await clearThread(app, peer.id);
    }, texts.value.failed.remove);
  const actions: MenuAction[] = [
    ...(peer.kind === 'device' ? [{ label: about.title, node: Info, act: () => go('about', peer.id) }] : []),
    { label: thread.forget, node: Trash2, act: forget, isDanger: true },
  ];
  return (
    <>
      <IconButton node={Search} label={search.title} onClick={() => go('search')} />
      <IconButton
        node={Ellipsis}
        label={thread.more}
        onClick={(event) => openMenu(peer.name, actions, event.currentTarget)}
      />
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
  const stay = stayOf(id);
  const said = [presenceText(peer), stay === undefined ? '' : stayText(stay)].filter(Boolean).join(' · ');
  const dropping = {
    onDragOver(event: DragEvent) {
      isOver.value = takesFiles && holdsFiles(event);
      if (isOver.value) event.preventDefault();
    },
    onDragLeave() {
      isOver.value = false;
    },
    onDrop(event: DragEvent) {
      isOver.value = false;
      const { dataTransfer } = event;
      if (!takesFiles || dataTransfer === null || !holdsFiles(event)) return;
      event.preventDefault();
      attempt(async () => sendDropped(app, [peer], dataTransfer), texts.value.failed.send);
    },
  };
  return (
    <Pane
      before={<DevicePicture peer={peer} />}
      kind={`thread ${isOver.value ? 'drop-over' : ''}`}
      title={
        <>
          {peer.name}
          <small class={peer.isOnline ? 'is-online' : ''}>
            {said} <ThreadLock peer={peer} />
          </small>
        </>
      }
      actions={<ThreadActions peer={peer} />}
      dropping={dropping}
    >
      <div class="thread-body">
        <Items key={`${id}/${at ?? ''}`} id={id} at={at} />
        {isOver.value && <div class="drop-hint">{devices.dropOn(peer.name)}</div>}
      </div>
      <PreparingLines from={id} />
      <ClipboardLine />
      {takesFiles ? (
        <Composer key={id} peer={peer} />
      ) : (
        <p class="composer-note">{peer.kind === 'live' ? thread.cannotAnswer : thread.deviceGone}</p>
      )}
      <MenuDialog />
      <PictureView />
    </Pane>
  );
}
