import type { History } from '../history/history.ts';
import type { ChosenFile } from './choosing.ts';
import { isPicture } from './pictures.ts';
import { isReadable } from './readable.ts';

/* Previews that a sender keeps. The files themselves are removed when they have arrived. */

/** How many pictures are shown for one item. */
export const SHOWN_PICTURES = 4;
const WIDTH_PX = 640;
const MOST_BYTES = 32_000_000;
/** A file of this size needs no smaller picture. */
const SMALL_BYTES = 150_000;

/** Makes a small picture of a large one; null if the browser cannot. It decodes outside the page's main thread. */
async function smallPicture(file: File): Promise<Blob | null> {
  try {
    const bitmap = await createImageBitmap(file, { resizeWidth: WIDTH_PX, resizeQuality: 'medium' });
    try {
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
      return await canvas.convertToBlob({ type: 'image/webp', quality: 0.8 });
    } finally {
      bitmap.close();
    }
  } catch {
    return null;
  }
}

async function previewOf({ file }: ChosenFile): Promise<Blob | null> {
  const isSmall = isPicture(file.type) && file.size <= SMALL_BYTES;
  if (isSmall || isReadable(file)) return new Blob([await file.arrayBuffer()], { type: file.type });
  return isPicture(file.type) && file.size <= MOST_BYTES ? smallPicture(file) : null;
}

/** Puts previews of the first files into the item when they are made. Nothing waits for them. */
export async function addPreviews(history: Pick<History, 'update'>, itemId: string, files: readonly ChosenFile[]) {
  const isAlone = files.length === 1;
  const shown = files
    .filter(({ file }) => isPicture(file.type) || (isAlone && isReadable(file)))
    .slice(0, SHOWN_PICTURES);
  const made: Blob[] = [];
  for (const one of shown) {
    const preview = await previewOf(one).catch(() => null);
    // Previews belong to the first files in order, so none may be missing.
    if (preview === null) break;
    made.push(preview);
  }
  if (made.length === 0) return;
  await history.update(itemId, (item) => {
    if (item.kind === 'files') item.previews = made;
  });
}
