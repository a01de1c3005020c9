import { signal } from '@preact/signals';
import { BatonClientError } from '../../../../shared/client/index.ts';
import type { App } from '../../engine/app.ts';
import { type ChosenFile, MOST_FILES } from '../../files/choosing.ts';
import type { MessageItem } from '../../history/database.ts';
import { texts } from '../../texts/texts.ts';
import { codeOf, notify } from '../parts/notices.ts';
import { newId } from '../../new-id.ts';
import { sayRenamed } from './odd-names.ts';

/** What somebody has chosen before they say to whom it goes. */
export const pending = signal<{ files: ChosenFile[]; text: string } | null>(null);

interface To {
  id: string;
  name: string;
}

/** False: nothing was sent, and why was said. */
export async function sendFiles({ tabs }: App, to: readonly To[], files: readonly ChosenFile[]): Promise<boolean> {
  if (files.length === 0) return false;
  if (files.length > MOST_FILES) {
    notify(texts.value.files.tooMany, true);
    return false;
  }
  sayRenamed(files);
  const receivers = to.map(({ id, name }) => ({ id, name }));
  await tabs.ask('send', receivers, files);
  return true;
}

async function post({ client, history }: App, item: MessageItem): Promise<void> {
  try {
    const { message_id, created_at } = await client.messages.send({ device_id: item.thread }, item.text);
    await history.update(item.id, (one) => {
      one.ref = message_id;
      one.at = created_at;
      if (one.kind === 'message' && one.state !== 'delivered') one.state = 'sent';
    });
  } catch (error) {
    if (error instanceof BatonClientError && error.code === 'signed_out') return;
    await history.update(item.id, (one) => {
      if (one.kind !== 'message') return;
      one.state = 'failed';
      one.error = codeOf(error);
    });
  }
}

/** Is in the history at once, whatever becomes of it. */
export async function sendMessage(app: App, to: To, text: string): Promise<void> {
  const item: MessageItem = {
    ...{ id: newId(), ref: '', thread: to.id, at: Date.now(), isMine: true },
    ...{ kind: 'message', text, state: 'sending', error: null },
  };
  await app.history.add(item, to.name);
  void post(app, item);
}

export async function sendAgain(app: App, item: MessageItem): Promise<void> {
  await app.history.update(item.id, (one) => {
    if (one.kind === 'message') one.state = 'sending';
  });
  await post(app, item);
}

/** What the service counts: bytes of UTF-8 of the trimmed text. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text.trim()).length;

export const textFile = (text: string): ChosenFile => {
  const file = new File([text], 'message.txt', { type: 'text/plain' });
  return { file, name: file.name };
};
