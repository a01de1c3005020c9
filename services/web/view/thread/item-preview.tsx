import { signal, useSignal } from '@preact/signals';
import { X } from 'lucide';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { keptFile } from '../../files/kept-files.ts';
import { isPicture } from '../../files/pictures.ts';
import { SHOWN_PICTURES } from '../../files/previews.ts';
import { isReadable, readText } from '../../files/readable.ts';
import type { FilesItem, ShownFile } from '../../history/database.ts';
import { texts } from '../../texts/texts.ts';
import { useApp } from '../app-context.ts';
import { copyText } from '../parts/copying.ts';
import { IconButton } from '../parts/parts.tsx';
import { RichText } from '../parts/rich-text.tsx';

const PICTURE_BYTES = 20_000_000;

const hasBytes = ({ isMine, kept, previews }: FilesItem): boolean =>
  isMine ? previews !== undefined : kept === 'here' || kept === 'downloaded';

/** The pictures that this browser could not draw. Their files have a row like all others. */
const undrawn = signal<ReadonlySet<string>>(new Set());
const keyOf = ({ id }: FilesItem, { index }: ShownFile): string => `${id}/${index}`;

const allPicturesOf = ({ files, isMine }: FilesItem): ShownFile[] =>
  files.filter(({ type, size }) => isPicture(type) && (isMine || size < PICTURE_BYTES));

interface ShownPicture {
  file: ShownFile;
  /** The place among the previews that the sender keeps. */
  position: number;
}

/** Returns the files of an item that are shown as pictures: as received, or the previews that the sender keeps. */
function picturesOf(item: FilesItem): ShownPicture[] {
  if (!hasBytes(item)) return [];
  return allPicturesOf(item)
    .slice(0, item.isMine ? Math.min(SHOWN_PICTURES, item.previews?.length ?? 0) : SHOWN_PICTURES)
    .map((file, position) => ({ file, position }))
    .filter(({ file }) => !undrawn.value.has(keyOf(item, file)));
}

/** Tells whether pictures show all that an item has, so that the names of its files are not needed. */
export function isMosaic(item: FilesItem): boolean {
  const shown = picturesOf(item).length;
  // Received files keep their names, by which each can be saved.
  return item.isMine && shown > 1 && !item.files.some((file) => undrawn.value.has(keyOf(item, file)));
}

/** Returns a received file from the disk; null while it is read, and when it is gone. */
function useFile(item: FilesItem, index: number, position: number): Blob | null {
  const { entry } = useApp();
  const found = useSignal<Blob | null>(null);
  useEffect(() => {
    let isOver = false;
    const type = item.files.find((file) => file.index === index)?.type ?? '';
    const read = item.isMine
      ? Promise.resolve(item.previews?.[position] ?? null)
      : keptFile(entry.userId, item.ref, index).then((file) => file?.slice(0, file.size, type) ?? null);
    void read.then((blob) => {
      if (!isOver) found.value = blob;
    });
    return () => {
      isOver = true;
    };
  }, [item.id, item.previews?.length]);
  return found.value;
}

function useUrl(blob: Blob | null): string {
  const url = useSignal('');
  useEffect(() => {
    if (blob === null) return;
    const made = URL.createObjectURL(blob);
    url.value = made;
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url.value;
}

interface PictureProps {
  item: FilesItem;
  file: ShownFile;
  position: number;
  /** How many more pictures are not shown. */
  rest: number;
}

/** Shows a picture. Its box has the size before the picture is loaded, so that nothing moves. */
function Picture({ item, file, position, rest }: PictureProps) {
  const blob = useFile(item, file.index, position);
  const url = useUrl(blob);
  const { files } = texts.value;
  const open = () => {
    if (blob !== null) viewed.value = { blob, name: file.name };
  };
  return (
    <button type="button" class="picture" aria-label={files.enlarge(file.name)} onClick={open}>
      {url !== '' && (
        <img
          src={url}
          alt=""
          decoding="async"
          onError={() => {
            undrawn.value = new Set([...undrawn.peek(), keyOf(item, file)]);
          }}
        />
      )}
      {rest > 0 && <span class="picture-rest">+{rest}</span>}
    </button>
  );
}

export function Pictures({ item }: { item: FilesItem }) {
  const shown = picturesOf(item);
  if (shown.length === 0) return null;
  const rest = allPicturesOf(item).filter((file) => !undrawn.value.has(keyOf(item, file))).length - shown.length;
  return (
    <div class={`pictures of-${shown.length}`}>
      {shown.map(({ file, position }, at) => (
        <Picture
          key={file.index}
          item={item}
          file={file}
          position={position}
          rest={at === shown.length - 1 ? rest : 0}
        />
      ))}
    </div>
  );
}

/** Shows a text that was sent as a file in the thread. */
export function LongText({ item }: { item: FilesItem }) {
  const [only] = item.files;
  if (item.fileCount !== 1 || only === undefined || !isReadable(only) || !hasBytes(item)) return null;
  return <TextOf item={item} file={only} />;
}

function TextOf({ item, file }: { item: FilesItem; file: ShownFile }) {
  const blob = useFile(item, file.index, 0);
  const text = useSignal<string | null>(null);
  const isOpen = useSignal(false);
  const { files, thread } = texts.value;
  useEffect(() => {
    if (blob === null) return;
    void readText(blob).then((read) => {
      text.value = read;
    });
  }, [blob]);
  const shown = text.value;
  if (shown === null) return null;
  return (
    <>
      <div class={`long-text ${isOpen.value ? 'is-open' : ''}`}>
        <RichText text={shown} />
      </div>
      <div class="row start">
        <button
          type="button"
          class="text-button"
          aria-expanded={isOpen.value}
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          {isOpen.value ? files.showLess : files.readAll}
        </button>
        <button type="button" class="text-button" onClick={() => void copyText(shown)}>
          {thread.copy}
        </button>
      </div>
    </>
  );
}

/** The picture that fills the window. */
const viewed = signal<{ blob: Blob; name: string } | null>(null);

export function PictureView() {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = viewed.value;
  const url = useUrl(shown?.blob ?? null);
  useLayoutEffect(() => {
    if (shown !== null) dialog.current?.showModal();
  }, [shown]);
  if (shown === null) return null;
  const close = () => {
    dialog.current?.close();
    viewed.value = null;
  };
  return (
    <dialog ref={dialog} class="picture-view" aria-label={shown.name} onCancel={close} onClick={close}>
      {url !== '' && <img src={url} alt={shown.name} />}
      <IconButton node={X} label={texts.value.app.close} onClick={close} />
    </dialog>
  );
}
