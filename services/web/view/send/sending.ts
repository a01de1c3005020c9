import { signal } from '@preact/signals';
import type { App } from '../../engine/app.ts';
import { type ChosenFile, MOST_FILES } from '../../files/choosing.ts';
import { texts } from '../../texts/texts.ts';
import { notify } from '../parts/notices.ts';
import { sayRenamed } from './odd-names.ts';

/** What somebody has chosen before they say to whom it goes. */
export const pending = signal<Pending | null>(null);

interface Pending {
  files: ChosenFile[];
  text: string;
  /** The share sheet handed it over, or a web page that does as if it were one. */
  share?: { id: string; isFromOutside: boolean };
}

interface To {
  id: string;
  name: string;
}

/** False: nothing was sent, and why was said. */
export async function sendFiles({ outbox }: App, to: readonly To[], files: readonly ChosenFile[]): Promise<boolean> {
  if (files.length === 0) return false;
  if (files.length > MOST_FILES) {
    notify(texts.value.files.tooMany, true);
    return false;
  }
  sayRenamed(files);
  await outbox.files(to, files);
  return true;
}

/** Is in the history and in the outbox at once, whatever becomes of it. */
export const sendMessage = ({ outbox }: App, to: To, text: string): Promise<void> => outbox.message(to, text);

/** What the service counts: bytes of UTF-8, with every space. Only whether anything is left is asked without them. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export const textFile = (text: string): ChosenFile => {
  const file = new File([text], 'message.txt', { type: 'text/plain' });
  return { file, name: file.name };
};
