import { texts } from '../../texts/texts.ts';
import { notify } from './notices.ts';

/**
 * As pages copied before there was `navigator.clipboard`, which only secure pages have: what is selected is copied, and whoever
 * listens may say what that is.
 */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'unseen';
  // A dialog lets nothing outside of it be selected.
  (before?.closest('dialog') ?? document.body).append(field);
  field.select();
  const exactly = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', exactly, { once: true, capture: true });
  try {
    // oxlint-disable-next-line typescript/no-deprecated -- there is nothing else on a page without https
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    document.removeEventListener('copy', exactly, { capture: true });
    field.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}

/** Copies to this device, and says so; or says that somebody has to do it. */
export async function copyText(text: string): Promise<void> {
  const { copied, copyByHand } = texts.value.app;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https there is none, and a browser may refuse.
    if (!copySelected(text)) return notify(copyByHand, true);
  }
  notify(copied);
}
