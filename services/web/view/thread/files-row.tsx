import { useSignal } from '@preact/signals';
import { File as FileIcon, Files, FolderSync, Pause, Play, X } from 'lucide';
import { useEffect } from 'preact/hooks';
import { type Running, runningOf, shared } from '../../engine/shared-state.ts';
import { setAlways } from '../../files/always.ts';
import { whyNoFiles } from '../../files/kept-files.ts';
import type { FilesItem } from '../../history/database.ts';
import { isRefused, isUnopened } from '../../history/history.ts';
import { allowSources, hasHandles, keptSources } from '../../outbox/kept-sources.ts';
import { bytesText, durationText } from '../../texts/quantities.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { findPeer, useApp } from '../app-context.ts';
import { isCutOff } from '../cut-off.ts';
import { wordsOf } from '../item-words.ts';
import { ItemLock } from '../keys/locks.tsx';
import { chooseFiles } from '../send/file-input.ts';
import { FileName } from '../parts/file-name.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt, notify } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';
import { SealedNote } from '../parts/sealed-note.tsx';
import { BurstFoot } from './burst-foot.tsx';
import { ItemTools, useTouch } from './item-actions.tsx';
import { isMosaic, LongText, Pictures } from './item-preview.tsx';
import { FileNames, SaveActs, savedCount } from './received-files.tsx';
import { FilesAgain, NotSent, sameFiles, waitingText } from './waiting.tsx';

function receivedText(item: FilesItem): string {
  const { files } = texts.value;
  const saved = savedCount(item);
  if (saved === item.fileCount) return files.saved;
  if (saved > 0) return files.savedSome(saved, item.fileCount);
  return item.kept === 'removed' ? files.removed : files.received;
}

/** The user is told after nothing has moved for this time, in addition to the time over which the rate is measured. */
const STILL_MS = 2_000;
/** The same time before the first byte, when no rate has been measured yet. */
const NOT_BEGUN_MS = 5_000;

/** Tells whether nothing has moved for some seconds, although this device has not paused it. */
function useStill(running: Running | null): boolean {
  const isStill = useSignal(false);
  const hasNoRate = running !== null && !running.isPaused && running.bytesPerSecond === 0;
  const patienceMs = running?.bytes === 0 ? NOT_BEGUN_MS : STILL_MS;
  useEffect(() => {
    isStill.value = false;
    if (!hasNoRate) return;
    const timer = setTimeout(() => {
      isStill.value = true;
    }, patienceMs);
    return () => clearTimeout(timer);
  }, [hasNoRate, patienceMs]);
  return hasNoRate && isStill.value;
}

/**
 * Says that a transfer stands still, and which device it waits for. The service does not tell one side that the other has
 * paused.
 */
function stillText({ isMine, thread }: FilesItem, { bytes, totalBytes }: Running): string {
  const { connection, files } = texts.value;
  // A receiver that has every byte compares digests.
  if (!isMine && bytes === totalBytes) return '';
  if (isCutOff.value) return shared.value.connection === 'superseded' ? connection.superseded : connection.offline;
  const peer = findPeer(thread);
  if (peer?.isOnline === true) return files.waitsFor(peer.name);
  return isMine ? files.offeredOffline : files.goesOn;
}

/** Says in words what a transfer does at this moment. */
function stateText(item: FilesItem, running: Running | null, isStill: boolean): string {
  const { files, thread } = texts.value;
  const isThere = isCutOff.value || findPeer(item.thread)?.isOnline === true;
  if (item.state === 'preparing') return waitingText(item) || files.preparing;
  if (item.state === 'failed' && item.error === 'maybe_sent') return thread.maybe;
  if (item.state === 'offered') return item.isMine ? (isThere ? files.offered : files.offeredOffline) : '';
  if (item.state === 'done') return item.isMine ? files.done : receivedText(item);
  if (item.state === 'active') {
    if (running === null) return item.isMine ? files.interrupted : files.starting;
    if (running.isPaused) return files.paused;
    if (isStill) return stillText(item, running);
    return running.bytes === 0 ? files.starting : '';
  }
  return files[item.state];
}

function ProgressOf({ item, running }: { item: FilesItem; running: Running }) {
  const { files } = texts.value;
  const { bytes, totalBytes, bytesPerSecond, secondsLeft, path } = running;
  const why = path === 'relay' ? files.relayWhy : files.directWhy;
  const details = [
    files.of(bytesText(bytes), bytesText(totalBytes)),
    ...(bytesPerSecond > 0 && !running.isPaused ? [`${bytesText(bytesPerSecond)}/s`] : []),
    ...(secondsLeft !== null && secondsLeft > 0 && !running.isPaused ? [files.left(durationText(secondsLeft))] : []),
  ];
  return (
    <>
      <progress
        max={Math.max(1, totalBytes)}
        value={bytes}
        aria-label={files.progress(item.files[0]?.name ?? files.count(item.fileCount))}
      />
      <p class="details">
        <span>{details.join(' · ')}</span>
        {path !== null && (
          <button type="button" class="path" title={why} onClick={() => notify(why)}>
            {path === 'relay' ? files.relay : files.direct}
          </button>
        )}
      </p>
    </>
  );
}

function Offer({ item }: { item: FilesItem }) {
  const app = useApp();
  const isAlways = useSignal(false);
  const isBusy = useSignal(false);
  /** Why no files can be stored in this browser. */
  const blocked = useSignal<string | null>(null);
  useEffect(() => {
    void whyNoFiles().then((why) => {
      blocked.value = why;
    });
  }, [blocked]);
  const { files } = texts.value;
  const accept = () => {
    isBusy.value = true;
    attempt(async () => {
      try {
        if (isAlways.value) await setAlways(app.history, item.thread, true);
        await app.tabs.ask('accept', item.ref);
      } finally {
        isBusy.value = false;
      }
    }, texts.value.failed.accept);
  };
  return (
    <div class="offer">
      {blocked.value === null ? (
        <label class="check">
          <input
            type="checkbox"
            checked={isAlways.value}
            onChange={(event) => {
              isAlways.value = event.currentTarget.checked;
            }}
          />
          {files.always}
        </label>
      ) : (
        <p class="item-error">{errorText(blocked.value)}</p>
      )}
      <div class="row">
        <button
          type="button"
          class="button"
          onClick={() => attempt(() => app.tabs.ask('refuse', item.ref), texts.value.failed.refuse)}
        >
          {files.refuse}
        </button>
        {blocked.value === null && (
          <button type="button" class="button primary" disabled={isBusy.value} onClick={accept}>
            {files.accept}
          </button>
        )}
      </div>
    </div>
  );
}

/** Asks the sender, whose window was closed, to choose the files again, or to allow reading them where that is enough. */
function GoOn({ item }: { item: FilesItem }) {
  const { history, tabs } = useApp();
  const isKept = useSignal(false);
  useEffect(() => {
    const look = async (): Promise<void> => void (isKept.value = await hasHandles(history, item));
    void look().catch(() => {});
  }, [item.ref]);
  const { files } = texts.value;
  const choose = async (): Promise<void> => {
    const chosen = await chooseFiles({ isFolder: item.files.some(({ name }) => name.includes('/')) });
    if (chosen.length === 0) return;
    const same = sameFiles(item, chosen);
    if (same === null) notify(files.notTheSame, true);
    else await tabs.ask('go-on', item.ref, same);
  };
  const allow = async (): Promise<void> => {
    if (!(await allowSources(history, item))) return;
    const kept = await keptSources(history, item);
    // The files were moved or changed.
    if (typeof kept === 'string') isKept.value = false;
    else await tabs.ask('go-on', item.ref, kept);
  };
  return (
    <button
      type="button"
      class="button"
      onClick={() => attempt(isKept.value ? allow : choose, texts.value.failed.send)}
    >
      <Icon node={FolderSync} size={18} /> {isKept.value ? files.allow : files.goOn}
    </button>
  );
}

function Controls({ item, running }: { item: FilesItem; running: Running | null }) {
  const { tabs } = useApp();
  const { files } = texts.value;
  const tell = (command: string, id: string) => () =>
    attempt(() => tabs.ask(command, id), texts.value.failed[command === 'cancel' ? 'cancel' : 'transfer']);
  return (
    <div class="controls">
      {running !== null && item.state === 'active' && (
        <IconButton
          node={running.isPaused ? Play : Pause}
          label={running.isPaused ? files.resume : files.pause}
          onClick={tell(running.isPaused ? 'resume' : 'pause', item.ref)}
        />
      )}
      <IconButton node={X} label={files.cancel} onClick={tell('cancel', item.id)} />
    </div>
  );
}

/** Tells whether nobody sends a transfer that could be resumed, because its page was closed. */
const isLost = ({ isMine, ref, state }: FilesItem, running: Running | null): boolean =>
  isMine &&
  ref !== '' &&
  ['offered', 'active'].includes(state) &&
  running === null &&
  shared.value.connection === 'online';

/** Shows the actions of a transfer in its state. */
function Acts({ item, running }: { item: FilesItem; running: Running | null }) {
  if (isUnopened(item)) return null;
  if (item.state === 'offered' && !item.isMine) return <Offer item={item} />;
  if (item.error === 'choose_again' || item.error === 'allow_again') return <FilesAgain item={item} />;
  if (isLost(item, running)) return <GoOn item={item} />;
  return <SaveActs item={item} />;
}

/** Shows a transfer, its progress, and its actions. */
export function FilesCard({ item }: { item: FilesItem }) {
  const running = runningOf(item.ref === '' ? item.id : item.ref).value;
  const isOpen = ['preparing', 'offered', 'active'].includes(item.state);
  const isOffer = item.state === 'offered' && !item.isMine && !isUnopened(item);
  const said = stateText(item, running, useStill(running));
  const touch = useTouch(item);
  return (
    <div class={`bubble files ${item.state}`} {...touch}>
      <Pictures item={item} />
      <div class="files-head">
        <span class="files-picture">
          <Icon node={item.fileCount === 1 ? FileIcon : Files} />
        </span>
        <div class="files-words">
          <strong>
            {isUnopened(item) || isRefused(item) ? (
              <SealedNote words={wordsOf(item)} />
            ) : (
              <FileName name={wordsOf(item)} />
            )}
          </strong>
          <div class="item-foot">
            <span class="hint">{bytesText(item.totalBytes)}</span>
            {said !== '' && (
              <>
                {' · '}
                <span class={`state ${item.state}`}>{said}</span>
              </>
            )}{' '}
            <ItemLock item={item} />
          </div>
        </div>
        {isOpen && !isOffer && <Controls item={item} running={running} />}
      </div>
      <LongText item={item} />
      {!isMosaic(item) && <FileNames item={item} />}
      {running !== null && ['preparing', 'active'].includes(item.state) && <ProgressOf item={item} running={running} />}
      <Acts item={item} running={running} />
    </div>
  );
}

export function FilesRow({ item, isEnd }: { item: FilesItem; isEnd: boolean }) {
  return (
    <li class={`item ${item.isMine ? 'mine' : 'theirs'} ${isEnd ? 'ends-burst' : ''}`} id={`item-${item.id}`}>
      <FilesCard item={item} />
      <ItemTools item={item} />
      <BurstFoot item={item} isEnd={isEnd} />
      {item.state === 'failed' && item.isMine && <NotSent item={item} />}
      {!item.isMine && (item.state === 'failed' || item.error === 'cannot_open') && item.error !== null && (
        <p class="item-error">{errorText(item.error)}</p>
      )}
    </li>
  );
}
