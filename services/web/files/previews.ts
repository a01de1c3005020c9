import type { History } from '../history/history.ts';
import type { ChosenFile } from './choosing.ts';
import { isPicture } from './pictures.ts';
import { isReadable } from './readable.ts';

/* What a sender keeps to look at of what it sent: the files themselves go when they have arrived. */

/** As many pictures as are shown of one item. */
export const SHOWN_PICTURES = 4;
const WIDTH_PX = 640;
const MOST_BYTES = 32_000_000;
/** As small as a small picture of it would be. */
const SMALL_BYTES = 150_000;

/** A small picture of a large one; null where the browser cannot make it. Decoded outside of the page's own work. */
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

/** Puts previews of the first files into the item, once they are made. Nothing waits for them. */
export async function addPreviews(history: Pick<History, 'update'>, itemId: string, files: readonly ChosenFile[]) {
  const isAlone = files.length === 1;
  const shown = files
    .filter(({ file }) => isPicture(file.type) || (isAlone && isReadable(file)))
    .slice(0, SHOWN_PICTURES);
  const made: Blob[] = [];
  for (const one of shown) {
    const preview = await previewOf(one).catch(() => null);
    // They stand for the first ones, without a gap.
    if (preview === null) break;
    made.push(preview);
  }
  if (made.length === 0) return;
  await history.update(itemId, (item) => {
    if (item.kind === 'files') item.previews = made;
  });
}
