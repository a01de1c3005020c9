import { computed } from '@preact/signals';
import type { App } from '../../engine/app.ts';
import { chosenOf, nameOfPasted } from '../../files/choosing.ts';
import { isPicture } from '../../files/pictures.ts';
import { keyState } from '../../sealing/key-state.ts';
import { texts } from '../../texts/texts.ts';
import { go } from '../navigation.ts';
import { notify } from '../parts/notices.ts';
import { bytesOf, pending } from '../send/sending.ts';
import { clipboardEntry, noteSeen } from './clipboard-state.ts';

/** The limit of the contract. A longer text goes as a file to a chosen device. */
export const CLIPBOARD_BYTES = 65_536;

/** False: this browser is a guest with keys, and has no key of the account, with which the clipboard is encrypted. */
export const mayWrite = computed(() => keyState.value.isGuest !== true);

type Found = { kind: 'text'; text: string } | { kind: 'picture'; file: File } | { kind: 'blocked' };

/** Reads the clipboard of this device, text before pictures: programs put a picture of a copied text beside it. */
async function readHere(): Promise<Found> {
  try {
    for (const item of await navigator.clipboard.read()) {
      const picture = item.types.find(isPicture);
      if (item.types.includes('text/plain')) {
        return { kind: 'text', text: await (await item.getType('text/plain')).text() };
      }
      if (picture === undefined) continue;
      const blob = await item.getType(picture);
      return { kind: 'picture', file: new File([blob], `image.${picture.split('/')[1]}`, { type: picture }) };
    }
    return { kind: 'text', text: '' };
  } catch {
    // Only secure pages can read the clipboard, and some browsers give only its text, or nothing.
    const text = await navigator.clipboard?.readText?.().catch(() => null);
    return typeof text === 'string' ? { kind: 'text', text } : { kind: 'blocked' };
  }
}

/** Puts a text into the clipboard of the account. A text that is too long goes to the send page. */
export async function putText({ client, keys }: App, text: string): Promise<void> {
  if (bytesOf(text) > CLIPBOARD_BYTES) {
    pending.value = { files: [], text };
    go('send');
    return;
  }
  const entry = (await (await keys.toSend())?.setClipboard(text)) ?? (await client.clipboard.set(text));
  clipboardEntry.value = entry;
  noteSeen(entry);
}

/** Copies the clipboard of this device into that of the account. A picture goes to the send page. */
export async function sendMine(app: App): Promise<void> {
  const { clipboard } = texts.value;
  const found = await readHere();
  if (found.kind === 'picture') {
    pending.value = { files: chosenOf([found.file]).map((one) => nameOfPasted(one)), text: '' };
    go('send');
  } else if (found.kind === 'blocked') {
    go('clipboard');
    notify(isSecureContext ? clipboard.blocked : clipboard.insecure, true);
  } else if (found.text === '') notify(clipboard.noText, true);
  else await putText(app, found.text);
}
