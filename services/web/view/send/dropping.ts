import { useEffect } from 'preact/hooks';
import type { App } from '../../engine/app.ts';
import { transferredFiles } from '../../files/choosing.ts';
import { texts } from '../../texts/texts.ts';
import { go } from '../navigation.ts';
import { attempt } from '../parts/notices.ts';
import { saySkipped } from './odd-names.ts';
import { pending, sendFiles } from './sending.ts';

/** Tells whether files are dragged. Text that is dragged belongs to the field under it. */
export const holdsFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true;

/** Returns dropped files, and names those that cannot be sent. */
async function droppedFiles(data: DataTransfer) {
  const { files, skipped } = await transferredFiles(data);
  saySkipped(skipped, files.length === 0);
  return files;
}

/** Sends dropped files, and names those that cannot be sent. */
export async function sendDropped(app: App, to: Parameters<typeof sendFiles>[1], data: DataTransfer): Promise<boolean> {
  return sendFiles(app, to, await droppedFiles(data));
}

/**
 * Keeps files that are dropped beside a device and its thread until the user chooses a device. Without it the browser would
 * leave the app to show the file.
 */
export function useDrop(): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (holdsFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      const { dataTransfer } = event;
      // A device or a thread has taken them.
      if (event.defaultPrevented || dataTransfer === null || !holdsFiles(event)) return;
      event.preventDefault();
      attempt(async () => {
        const files = await droppedFiles(dataTransfer);
        if (files.length === 0) return;
        pending.value = { files, text: '' };
        go('send');
      }, texts.value.failed.send);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, []);
}
