import { useComputed } from '@preact/signals';
import { MonitorSmartphone, MousePointerClick, Plus, Search, SendHorizontal, Settings } from 'lucide';
import { useEffect } from 'preact/hooks';
import { type App, changes, isHistoryLost, isStorageSilent } from '../engine/app.ts';
import { askBeforeLeaving } from '../engine/ask-before-leaving.ts';
import { isOffline } from '../engine/network.ts';
import { makePaced } from '../engine/paced.ts';
import { requested, shared } from '../engine/shared-state.ts';
import { isWorkerGone } from '../files/ask-worker.ts';
import { keepAwake } from '../engine/wake-lock.ts';
import { onWorkerMessage } from '../push/registration.ts';
import { closeRead, showBadge } from '../push/shown.ts';
import { keyState } from '../sealing/key-state.ts';
import { serverNow } from '../server-time.ts';
import { secretsOf } from '../session/joining.ts';
import { texts } from '../texts/texts.ts';
import { announceChanges } from './announcing.ts';
import { guestUntil, isAlone, isGuest, peers, threads, useApp } from './app-context.ts';
import { DeviceList } from './devices/device-list.tsx';
import { followLastItems } from './devices/last-items.ts';
import { stayText } from './devices/stays.tsx';
import { followClipboard } from './clipboard/clipboard-state.ts';
import { copyExactly } from './parts/copying.ts';
import { ConfirmDialog } from './parts/dialog.tsx';
import { chooseFiles } from './send/file-input.ts';
import { Icon } from './parts/icon.tsx';
import { showsKeys, useKeyboard } from './keyboard.ts';
import { isCutOff } from './cut-off.ts';
import { useLanding } from './landing.ts';
import { go, goInstead, hrefOf, type Place, place } from './navigation.ts';
import { attempt } from './parts/notices.ts';
import { Nowhere } from './nowhere.tsx';
import { Empty } from './parts/parts.tsx';
import { StatusBar } from './parts/status-bar.tsx';
import { useDrop } from './send/dropping.ts';
import { pastedFiles } from './send/pasting.ts';
import { pending } from './send/sending.ts';
import { later } from './parts/later.tsx';
import { UnderWayLink } from './under-way-link.tsx';

function ConnectionBar() {
  const { client } = useApp();
  const { connection, isDegraded } = shared.value;
  const { connection: words } = texts.value;
  const said = useComputed(() => {
    if (isOffline.value) return words.noNetwork;
    if (shared.value.connection === 'superseded') return words.superseded;
    if (isCutOff.value) return shared.value.connection === 'offline' ? words.offline : words.connecting;
    return isDegraded ? words.degraded : '';
  }).value;
  return (
    <StatusBar isShown={said !== ''}>
      {said}
      {connection === 'superseded' && (
        <button type="button" class="text-button" onClick={() => client.start()}>
          {words.takeOver}
        </button>
      )}
    </StatusBar>
  );
}

/** Tells the user that nothing is stored, as long as that is so. */
function StorageBar() {
  const isLost = isHistoryLost.value;
  const { noHistory, silentStorage } = texts.value.app;
  return <StatusBar isShown={isLost}>{isLost && (isStorageSilent.value ? silentStorage : noHistory)}</StatusBar>;
}

/** Asks to load the page again when no file can be moved with this one. */
function WorkerBar() {
  const isGone = isWorkerGone.value;
  return <StatusBar isShown={isGone}>{isGone && texts.value.app.notLoaded}</StatusBar>;
}

const isAt = (name: Place['name']) => (place.value.name === name ? { 'aria-current': 'page' as const } : {});

/** Shows the name of this device and its user. */
function OwnName() {
  const { entry } = useApp();
  const own = peers.value.find(({ isCurrent }) => isCurrent)?.name ?? entry.deviceName;
  return (
    <>
      <p class="own-name">
        {texts.value.name.own} <bdi class="own">{own}</bdi> · <bdi>{shared.value.me?.name ?? entry.userName}</bdi>
      </p>
      {isGuest.value && <p class="own-name">{stayText({ isGuest: true, until: guestUntil.value })}</p>}
    </>
  );
}

function Side() {
  const { devices, settings, search, send } = texts.value;
  const links = [
    ...(isGuest.value ? [] : [['add', Plus, devices.add] as const]),
    ['settings', Settings, settings.title],
  ] as const;
  const sendFirst = () =>
    attempt(async () => {
      const files = await chooseFiles();
      if (files.length === 0) return;
      pending.value = { files, text: '' };
      go('send');
    }, texts.value.failed.send);
  return (
    <div class="side">
      <header class="side-head">
        <p class="brand">
          <span class="brand-mark" aria-hidden="true" />
          Baton
        </p>
        <nav aria-label="Baton">
          {links.map(([name, node, label]) => (
            <a key={name} class="icon-button" href={hrefOf(name)} aria-label={label} title={label} {...isAt(name)}>
              <Icon node={node} />
            </a>
          ))}
        </nav>
      </header>
      <OwnName />
      <a class="search-link" href={hrefOf('search')} {...isAt('search')}>
        <Icon node={Search} size={16} /> {search.label}
      </a>
      <div class="side-body">
        <h1 class="unseen">{devices.title}</h1>
        <DeviceList />
      </div>
      <footer class="side-foot">
        <UnderWayLink />
        <ClipboardCard />
        {!isAlone.value && (
          <div class="row both">
            <button type="button" class="button" onClick={sendFirst}>
              <Icon node={SendHorizontal} size={18} /> {send.title}
            </button>
            {!isGuest.value && (
              <a class="button narrow" href={hrefOf('add')}>
                {devices.add}
              </a>
            )}
          </div>
        )}
      </footer>
    </div>
  );
}

/** Loads the clipboard after the first paint, without a placeholder, because a page before the sign-in has none. */
const ofClipboard = () => import('./clipboard/clipboard-card.tsx');
const ClipboardCard = later(
  async () => (await ofClipboard()).ClipboardCard,
  () => null,
);
const ClipboardLine = later(
  async () => (await ofClipboard()).ClipboardLine,
  () => null,
);
const KeyQuestion = later(
  async () => (await import('./keys/key-question.tsx')).KeyQuestion,
  () => null,
);
const KeyboardHelp = later(
  async () => (await import('./keyboard-help.tsx')).KeyboardHelp,
  () => null,
);
const DeletionBar = later(
  async () => (await import('./keys/deletion-bar.tsx')).DeletionBar,
  () => null,
);
const SettingsPane = later(async () => (await import('./settings/settings.tsx')).SettingsPane);
const AddPane = later(async () => (await import('./devices/add-device.tsx')).AddPane);
const ThreadPane = later(async () => (await import('./thread/thread.tsx')).ThreadPane);
const TransfersPane = later(async () => (await import('./thread/transfers.tsx')).TransfersPane);
const AboutPane = later(async () => (await import('./devices/about.tsx')).AboutPane);
const ApprovePane = later(async () => (await import('./devices/approval.tsx')).ApprovePane);
const ClipboardPane = later(async () => (await import('./clipboard/clipboard-pane.tsx')).ClipboardPane);
const SearchPane = later(async () => (await import('./thread/search.tsx')).SearchPane);
const SendPane = later(async () => (await import('./send/send.tsx')).SendPane);
const WordsPane = later(async () => (await import('./keys/words.tsx')).WordsPane);
const SharePane = later(async () => (await import('./send/send.tsx')).SharePane);
const ItemPane = later(async () => (await import('./item-pane.tsx')).ItemPane);

/** Shows the part beside the list. If there is only one device, it gets the first steps. */
function Home() {
  const { devices } = texts.value;
  if (!isAlone.value || !shared.value.isKnown || isGuest.value) {
    return <Empty isPage node={MousePointerClick} title={devices.pick} why={devices.pickWhy} />;
  }
  return (
    <Empty isPage node={MonitorSmartphone} title={devices.first} why={devices.firstWhy}>
      <a class="button primary" href={hrefOf('add')}>
        <Icon node={Plus} /> {devices.add}
      </a>
    </Empty>
  );
}

function Main({ at }: { at: Place }) {
  switch (at.name) {
    case 'device':
      return <ThreadPane key={at.id} id={at.id} at={at.at} />;
    case 'about':
      return <AboutPane key={at.id} id={at.id} />;
    case 'clipboard':
      return <ClipboardPane />;
    case 'add':
      return <AddPane />;
    case 'approve':
      return <ApprovePane key={at.link} link={at.link} isInvited={at.isInvited} />;
    case 'settings':
      return <SettingsPane />;
    case 'words':
      return <WordsPane />;
    case 'transfers':
      return <TransfersPane />;
    case 'search':
      return <SearchPane />;
    case 'send':
      return <SendPane />;
    case 'share':
      return <SharePane id={at.id} />;
    case 'item':
      return <ItemPane key={at.id} id={at.id} />;
    case 'home':
      return <Home />;
    case 'nowhere':
      return <Nowhere />;
  }
}

/** Asks about a device that has scanned an invite, in the tab that shows the invite. */
function useRequests(): void {
  const request = requested.value;
  useEffect(() => {
    if (request === null || secretsOf(serverNow()).length === 0) return;
    requested.value = null;
    const { request_id: id, approval_code: code } = request;
    goInstead('approve', `/link?r=${id}&c=${code}`, 'invited');
  }, [request]);
}

/** Keeps files that are pasted outside a thread until the user chooses a device. */
function usePaste(): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const files = pastedFiles(event.clipboardData);
      if (event.defaultPrevented || files.length === 0 || place.value.name === 'device') return;
      pending.value = { files, text: '' };
      go('send');
    };
    addEventListener('paste', paste);
    return () => removeEventListener('paste', paste);
  }, []);
}

/** Reads the list of threads after each change, and shows how much of it is unread. */
function useThreads(app: App): void {
  useEffect(() => {
    const read = makePaced(async () => {
      const all = await app.history.threads();
      threads.value = new Map(all.map((thread) => [thread.id, thread]));
      const unread = all.reduce((sum, one) => sum + one.unread, 0);
      showBadge(unread);
      document.title = unread > 0 ? `(${unread}) Baton` : 'Baton';
      // The worker may take long, or never answer.
      void closeRead(app);
    });
    return changes.subscribe(() => void read().catch(() => {}));
  }, []);
}

export function Shell() {
  const app = useApp();
  usePaste();
  useDrop();
  useRequests();
  useLanding();
  useKeyboard();
  useThreads(app);
  useEffect(() => {
    const look = ({ data }: MessageEvent<{ type?: string }>) => {
      if (data.type === 'shown') void closeRead(app);
    };
    const seen = () => void closeRead(app);
    const end = onWorkerMessage(look);
    addEventListener('focus', seen);
    return () => {
      end();
      removeEventListener('focus', seen);
    };
  }, []);
  useEffect(() => void ThreadPane.preload(), []);
  useEffect(() => announceChanges(app), []);
  useEffect(() => keepAwake(), []);
  useEffect(() => askBeforeLeaving(app), []);
  useEffect(() => followLastItems(app.history), []);
  useEffect(() => followClipboard(app), []);
  useEffect(() => {
    document.addEventListener('copy', copyExactly);
    return () => document.removeEventListener('copy', copyExactly);
  }, []);
  const at = place.value;
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => skipTo(event)}>
        {texts.value.app.skip}
      </a>
      <ConnectionBar />
      <StorageBar />
      <WorkerBar />
      {shared.value.deletions.length > 0 && <DeletionBar />}
      <main class={`shell ${at.name === 'home' ? 'at-home' : ''}`}>
        <Side />
        <div id="content" class="main" tabIndex={-1}>
          <Main at={at} />
          {at.name !== 'device' && at.name !== 'clipboard' && <ClipboardLine />}
        </div>
      </main>
      <ConfirmDialog />
      {showsKeys.value && <KeyboardHelp />}
      {keyState.value.kind === 'unconfirmed' && <KeyQuestion />}
    </>
  );
}

/** Moves the focus without a change of the address, which belongs to the app. */
function skipTo(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}
