import { useSignal } from '@preact/signals';
import { Check, Download, File as FileIcon, Share2, Trash2 } from 'lucide';
import { canShare, keepsCopies, removeCopies, saveFiles, shareFiles } from '../../files/saving.ts';
import type { FilesItem } from '../../history/database.ts';
import { bytesText } from '../../texts/quantities.ts';
import { texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { confirmed } from '../parts/dialog.tsx';
import { FileName } from '../parts/file-name.tsx';
import { Icon } from '../parts/icon.tsx';
import { attempt, notify } from '../parts/notices.ts';
import { IconButton } from '../parts/parts.tsx';

const SHOWN_NAMES = 4;

/** Returns how many files were handed over: all of them if an older version of the app did it. */
export const savedCount = ({ kept, saved, fileCount }: FilesItem): number =>
  saved?.length ?? (kept === 'saved' || kept === 'downloaded' ? fileCount : 0);

const canSave = ({ isMine, state, kept }: FilesItem): boolean =>
  !isMine && state === 'done' && (kept === 'here' || kept === 'downloaded');

interface Saves {
  isBusy: boolean;
  save: (only?: number) => void;
  share: () => void;
}

/** Saves all files, or one, or hands them to another app, and reports those that could not be saved. */
function useSave(item: FilesItem): Saves {
  const { entry, history } = useApp();
  const isBusy = useSignal(false);
  const run = (work: (saving: Parameters<typeof saveFiles>[0], title: string) => ReturnType<typeof saveFiles>) =>
    attempt(async () => {
      if (isBusy.value) return;
      const { files } = texts.value;
      isBusy.value = true;
      try {
        const result = await work({ account: entry.userId, history, item }, files.count(item.fileCount));
        if (result === null) return;
        if (result.error !== null) notify(files.notSaved(result.saved, result.wanted), true);
        else if (result.isGone) notify(files.gone, true);
      } finally {
        isBusy.value = false;
      }
    }, texts.value.failed.save);
  const save = (only?: number) => run((saving, title) => saveFiles(saving, title, only ?? null));
  return { isBusy: isBusy.value, save, share: () => run(shareFiles) };
}

function NameRow({ item, file }: { item: FilesItem; file: FilesItem['files'][number] }) {
  const { save } = useSave(item);
  const { files } = texts.value;
  const { index, name, size } = file;
  const isSaved = item.saved?.includes(index) === true;
  // If the user chose a place, the copy was removed.
  const hasCopy = canSave(item) && (!isSaved || keepsCopies());
  return (
    <li>
      <Icon node={isSaved ? Check : FileIcon} size={16} />
      <FileName name={name.split('/').at(-1) ?? name} path={name} />
      {isSaved && <span class="unseen">{files.saved}</span>}
      <small>{bytesText(size)}</small>
      {hasCopy && <IconButton node={Download} kind="small" label={files.saveOne(name)} onClick={() => save(index)} />}
    </li>
  );
}

/** Lists several files; a single one is in the head. */
export function FileNames({ item }: { item: FilesItem }) {
  const isOpen = useSignal(false);
  const { files } = texts.value;
  if (item.fileCount === 1) return null;
  const rest = item.fileCount - SHOWN_NAMES;
  const shown = isOpen.value ? item.files : item.files.slice(0, SHOWN_NAMES);
  return (
    <>
      <ul class="file-names">
        {shown.map((file) => (
          <NameRow key={file.index} item={item} file={file} />
        ))}
      </ul>
      {rest > 0 && (
        <button
          type="button"
          class="text-button"
          aria-expanded={isOpen.value}
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          {isOpen.value ? files.showFewer : files.showAll(rest)}
        </button>
      )}
    </>
  );
}

function RemoveButton({ item }: { item: FilesItem }) {
  const { entry, history } = useApp();
  const { files } = texts.value;
  const remove = () =>
    attempt(async () => {
      const left = item.fileCount - savedCount(item);
      const question = { title: files.removeTitle(files.count(left)), why: files.removeWhy, action: files.remove };
      if (left === 0 || (await confirmed(question))) await removeCopies({ account: entry.userId, history, item });
    }, texts.value.failed.remove);
  return (
    <button type="button" class="button" title={files.copiesWhy} onClick={remove}>
      <Icon node={Trash2} size={18} /> {files.removeCopies}
    </button>
  );
}

/** Shows the actions of received files. */
export function SaveActs({ item }: { item: FilesItem }) {
  const { isBusy, save, share } = useSave(item);
  const { files } = texts.value;
  if (!canSave(item)) return null;
  const isFirst = item.kept === 'here';
  return (
    <div class="row">
      <button type="button" class={`button ${isFirst ? 'primary' : ''}`} disabled={isBusy} onClick={() => save()}>
        <Icon node={Download} size={18} /> {isBusy ? files.saving : isFirst ? files.save : files.saveAgain}
      </button>
      {canShare(item) && (
        <button type="button" class="button" disabled={isBusy} onClick={share}>
          <Icon node={Share2} size={18} /> {files.share}
        </button>
      )}
      {keepsCopies() && savedCount(item) > 0 && <RemoveButton item={item} />}
    </div>
  );
}
