import { useSignal } from '@preact/signals';
import { File as FileIcon, Files, FolderSync, Pause, Play, X } from 'lucide';
import { useEffect } from 'preact/hooks';
import { type Running, runningOf, shared } from '../../engine/shared-state.ts';
import { setAlways } from '../../files/always.ts';
import { keptFile } from '../../files/kept-files.ts';
import type { FilesItem } from '../../history/database.ts';
import { bytesText, durationText, timeText } from '../../texts/quantities.ts';
import { errorText, texts } from '../../texts/texts.ts';
import { findPeer, useApp } from '../app-context.ts';
import { chooseFiles } from '../send/file-input.ts';
import { Icon } from '../parts/icon.tsx';
import { attempt, notify } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';
import { FileNames, SaveActs, savedCount } from './received-files.tsx';
import { FilesAgain, NotSent, sameFiles, waitingText } from './waiting.tsx';

const PREVIEW_BYTES = 20_000_000;
const isPicture = (type: string | null): boolean => /^image\/(png|jpeg|gif|webp|avif)$/.test(type ?? '');

function receivedText(item: FilesItem): string {
  const { files } = texts.value;
  const saved = savedCount(item);
  if (saved === item.fileCount) return files.saved;
  if (saved > 0) return files.savedSome(saved, item.fileCount);
  return item.kept === 'removed' ? files.removed : files.received;
}

/** What a transfer does at this moment, in words. */
function stateText(item: FilesItem, running: Running | null): string {
  const { files, thread } = texts.value;
  const isThere = findPeer(item.thread)?.isOnline === true;
  if (item.state === 'preparing') return waitingText(item) || files.preparing;
  if (item.state === 'failed' && item.error === 'maybe_sent') return thread.maybe;
  if (item.state === 'offered') return item.isMine ? (isThere ? files.offered : files.offeredOffline) : '';
  if (item.state === 'done') return item.isMine ? files.done : receivedText(item);
  if (item.state === 'active') {
    if (running === null) return item.isMine ? files.interrupted : files.starting;
    if (running.isPaused) return files.paused;
    if (running.bytes === 0) return files.starting;
    return !item.isMine && !isThere && running.bytesPerSecond === 0 ? files.goesOn : '';
  }
  return files[item.state];
}

/** A received picture, from the disk. */
function Preview({ item }: { item: FilesItem }) {
  const { entry } = useApp();
  const url = useSignal('');
  const [first] = item.files;
  const isShown =
    item.kept === 'here' && item.fileCount === 1 && isPicture(first?.type ?? null) && item.totalBytes < PREVIEW_BYTES;
  useEffect(() => {
    let made = '';
    let isOver = false;
    if (isShown) {
      void keptFile(entry.userId, item.ref, 0).then((file) => {
        if (file === null || isOver) return;
        made = URL.createObjectURL(file.slice(0, file.size, first?.type ?? ''));
        url.value = made;
      });
    }
    return () => {
      isOver = true;
      URL.revokeObjectURL(made);
    };
  }, [isShown]);
  return isShown && url.value !== '' ? <img class="preview" src={url.value} alt={first?.name ?? ''} /> : null;
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
    });
  };
  return (
    <div class="offer">
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
      <div class="row">
        <button type="button" class="button" onClick={() => attempt(() => app.tabs.ask('refuse', item.ref))}>
          {files.refuse}
        </button>
        <button type="button" class="button primary" disabled={isBusy.value} onClick={accept}>
          {files.accept}
        </button>
      </div>
    </div>
  );
}

/** The sender's window was closed, and it has to say again which files those are. */
function GoOn({ item }: { item: FilesItem }) {
  const { tabs } = useApp();
  const { files } = texts.value;
  const choose = () =>
    attempt(async () => {
      const chosen = await chooseFiles({ isFolder: item.files.some(({ name }) => name.includes('/')) });
      if (chosen.length === 0) return;
      const same = sameFiles(item, chosen);
      if (same === null) notify(files.notTheSame, true);
      else await tabs.ask('go-on', item.ref, same);
    });
  return (
    <button type="button" class="button" onClick={choose}>
      <Icon node={FolderSync} size={18} /> {files.goOn}
    </button>
  );
}

function Controls({ item, running }: { item: FilesItem; running: Running | null }) {
  const { tabs } = useApp();
  const { files } = texts.value;
  const tell = (command: string, id: string) => () => attempt(() => tabs.ask(command, id));
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

/** Nobody sends it, though it could be gone on with: its page was closed. */
const isLost = ({ isMine, ref, state }: FilesItem, running: Running | null): boolean =>
  isMine &&
  ref !== '' &&
  ['offered', 'active'].includes(state) &&
  running === null &&
  shared.value.connection === 'online';

/** What can be done with a transfer in its state. */
function Acts({ item, running }: { item: FilesItem; running: Running | null }) {
  if (item.state === 'offered' && !item.isMine) return <Offer item={item} />;
  if (item.error === 'choose_again' || item.error === 'allow_again') return <FilesAgain item={item} />;
  if (isLost(item, running)) return <GoOn item={item} />;
  return <SaveActs item={item} />;
}

export function FilesRow({ item }: { item: FilesItem }) {
  const running = runningOf(item.ref === '' ? item.id : item.ref).value;
  const { files } = texts.value;
  const isOpen = ['preparing', 'offered', 'active'].includes(item.state);
  const isOffer = item.state === 'offered' && !item.isMine;
  const said = stateText(item, running);
  return (
    <li class={`item ${item.isMine ? 'mine' : 'theirs'}`} id={`item-${item.id}`}>
      <div class={`bubble files ${item.state}`}>
        <Preview item={item} />
        <div class="files-head">
          <Icon node={item.fileCount === 1 ? FileIcon : Files} />
          <strong class="file-name" dir="auto" title={item.files[0]?.name}>
            {item.fileCount === 1 ? item.files[0]?.name : files.count(item.fileCount)}
          </strong>
          <span class="hint">{bytesText(item.totalBytes)}</span>
          {isOpen && !isOffer && <Controls item={item} running={running} />}
        </div>
        <FileNames item={item} />
        {running !== null && ['preparing', 'active'].includes(item.state) && (
          <ProgressOf item={item} running={running} />
        )}
        <Acts item={item} running={running} />
        <div class="item-foot">
          {said !== '' && <span class={`state ${item.state}`}>{said}</span>}
          <time dateTime={new Date(item.at).toISOString()}>{timeText(item.at)}</time>
        </div>
      </div>
      {item.state === 'failed' && item.isMine && <NotSent item={item} />}
      {item.state === 'failed' && !item.isMine && item.error !== null && (
        <p class="item-error">{errorText(item.error)}</p>
      )}
    </li>
  );
}
