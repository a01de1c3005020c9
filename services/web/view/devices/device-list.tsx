import { useSignal } from '@preact/signals';
import { MonitorSmartphone, Plus } from 'lucide';
import { shared } from '../../engine/shared-state.ts';
import { texts } from '../../texts/texts.ts';
import { agoText, whenText } from '../../texts/quantities.ts';
import { isAlone, isGuest, others, type Peer, threads, useApp } from '../app-context.ts';
import { isCutOff } from '../cut-off.ts';
import { Icon } from '../parts/icon.tsx';
import { go, hrefOf, place } from '../navigation.ts';
import { attempt } from '../parts/notices.ts';
import { Empty, Waiting } from '../parts/parts.tsx';
import { holdsFiles, sendDropped } from '../send/dropping.ts';
import { pictureOf, tintOf } from './device-pictures.ts';
import { isUnsent, lastText } from '../item-words.ts';
import { lastItems } from './last-items.ts';
import { StayLeft, stayOf } from './stays.tsx';

/** Says whether a device can be reached; '' if that is unknown. */
export function presenceText({ kind, isOnline, lastSeenAt }: Peer): string {
  const { devices } = texts.value;
  if (kind === 'past') return devices.gone;
  if (kind === 'live') return devices.live;
  if (isOnline) return devices.online;
  if (lastSeenAt !== null) return devices.seen(agoText(lastSeenAt));
  if (isCutOff.value) return '';
  return shared.value.connection === 'online' ? devices.never : devices.offline;
}

/** Shows the type of a device, and a dot for its presence, which is a word for screen readers. */
export function DevicePicture({ peer }: { peer: Peer }) {
  return (
    <span class={`device-picture ${tintOf(peer)} ${peer.isOnline ? 'is-online' : ''}`}>
      <Icon node={pictureOf(peer)} />
      <span class="unseen">{presenceText(peer)}</span>
    </span>
  );
}

/** Shows a device. It leads to the thread, and takes dropped files. */
function DeviceRow({ peer }: { peer: Peer }) {
  const app = useApp();
  const isOver = useSignal(false);
  const { devices, thread } = texts.value;
  const isHere = place.value.name === 'device' && place.value.id === peer.id;
  const takesFiles = peer.kind === 'device';
  const last = lastItems.value.get(peer.id);
  const stay = stayOf(peer.id);
  const drop = (event: DragEvent) => {
    isOver.value = false;
    const { dataTransfer } = event;
    if (!takesFiles || dataTransfer === null || !holdsFiles(event)) return;
    event.preventDefault();
    attempt(async () => {
      if (await sendDropped(app, [peer], dataTransfer)) go('device', peer.id);
    }, texts.value.failed.send);
  };
  return (
    <li>
      <a
        href={hrefOf('device', peer.id)}
        class={`device ${isOver.value ? 'drop-over' : ''}`}
        {...(isHere && { 'aria-current': 'page' as const })}
        onDragOver={(event) => {
          isOver.value = takesFiles && holdsFiles(event);
          if (isOver.value) event.preventDefault();
        }}
        onDragLeave={() => {
          isOver.value = false;
        }}
        onDrop={drop}
      >
        <DevicePicture peer={peer} />
        <span class="device-words">
          <span class="device-line">
            <span class="device-name" dir="auto">
              {peer.name}
            </span>
            {stay !== undefined && (
              <span class="device-stay">
                <StayLeft stay={stay} />
              </span>
            )}
            {stay === undefined && last !== undefined && (
              <time dateTime={new Date(last.at).toISOString()}>{whenText(last.at)}</time>
            )}
          </span>
          <span class="device-line">
            <small dir="auto">
              {!isOver.value && isUnsent(last) && <span class="item-error">{thread.failed} · </span>}
              {isOver.value ? devices.dropOn(peer.name) : lastText(last)}
            </small>
            {peer.unread > 0 && (
              <span class="count">
                <span aria-hidden="true">{peer.unread > 99 ? '99+' : peer.unread}</span>
                <span class="unseen">{devices.unread(peer.unread)}</span>
              </span>
            )}
          </span>
        </span>
      </a>
    </li>
  );
}

/**
 * Shows the devices that have left, collapsed. While it is collapsed, it says what was not sent to one of them, or not
 * read.
 */
function FormerDevices({ past }: { past: readonly Peer[] }) {
  const { devices, thread } = texts.value;
  const hasFailed = past.some(({ id }) => isUnsent(lastItems.value.get(id)));
  const unread = past.reduce((sum, peer) => sum + peer.unread, 0);
  return (
    <details class="past">
      <summary class="devices-head">
        {devices.past}
        {hasFailed && <span class="item-error"> · {thread.failed}</span>}
        {unread > 0 && <span> · {devices.unread(unread)}</span>}
      </summary>
      <ul class="devices">
        {past.map((peer) => (
          <DeviceRow key={peer.id} peer={peer} />
        ))}
      </ul>
    </details>
  );
}

/** Invites the user of the account's only device to add another one. */
function Alone() {
  const { devices } = texts.value;
  return (
    <Empty node={MonitorSmartphone} title={devices.empty} {...(!isGuest.value && { why: devices.emptyWhy })}>
      {!isGuest.value && (
        <a class="button primary" href={hrefOf('add')}>
          <Icon node={Plus} /> {devices.add}
        </a>
      )}
    </Empty>
  );
}

export function DeviceList() {
  const all = others.value;
  if (!shared.value.isKnown && threads.value.size === 0 && all.length === 0) return <Waiting />;
  const past = all.filter(({ kind }) => kind === 'past');
  return (
    <>
      {isAlone.value ? (
        <Alone />
      ) : (
        <ul class="devices">
          {all
            .filter(({ kind }) => kind !== 'past')
            .map((peer) => (
              <DeviceRow key={peer.id} peer={peer} />
            ))}
        </ul>
      )}
      {past.length > 0 && <FormerDevices past={past} />}
    </>
  );
}
