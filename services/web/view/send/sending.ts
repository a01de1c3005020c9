import { signal } from '@preact/signals';
import type { App } from '../../engine/app.ts';
import { type ChosenFile, MOST_FILES } from '../../files/choosing.ts';
import { texts } from '../../texts/texts.ts';
import { notify } from '../parts/notices.ts';
import { sayRenamed } from './odd-names.ts';

/** The content that the user has chosen before the receiver. */
export const pending = signal<Pending | null>(null);

interface Pending {
  files: ChosenFile[];
  text: string;
  /** Content from the share sheet, or from a web page that pretends to be one. */
  share?: { id: string; isFromOutside: boolean };
}

interface To {
  id: string;
  name: string;
}

/** Sends files. False: nothing was sent, and the user was told why. */
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

/** Puts a message into the history and the outbox at once, whatever happens to it later. */
export const sendMessage = ({ outbox }: App, to: To, text: string): Promise<void> => outbox.message(to, text);

/** Returns the bytes of UTF-8 that the service counts, with every space. Only the check for an empty text ignores spaces. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export const textFile = (text: string): ChosenFile => {
  const file = new File([text], 'message.txt', { type: 'text/plain' });
  return { file, name: file.name };
};
