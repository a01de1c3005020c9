import { texts } from '../../texts/texts.ts';
import { notify } from './notices.ts';

/**
 * Copies in the older way, because only secure pages have `navigator.clipboard`: it copies the selection, and a listener
 * may set the text.
 */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'unseen';
  // Nothing outside an open dialog can be selected.
  (before?.closest('dialog') ?? document.body).append(field);
  field.select();
  const exactly = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', exactly, { once: true, capture: true });
  try {
    // oxlint-disable-next-line typescript/no-deprecated -- a page without https has no other way
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    document.removeEventListener('copy', exactly, { capture: true });
    field.remove();
    if (before instanceof HTMLElement) before.focus();
  }
}

/** Copies to this device, and tells the user, who otherwise has to copy by hand. */
export async function copyText(text: string): Promise<void> {
  const { copied, copyByHand } = texts.value.app;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages without https have no clipboard, and a browser may refuse.
    if (!copySelected(text)) return notify(copyByHand, true);
  }
  notify(copied);
}

/** Returns the part of a selection that lies in this element. */
function within(box: Element, range: Range): Range {
  const inside = range.cloneRange();
  if (!box.contains(inside.startContainer)) inside.setStart(box, 0);
  if (!box.contains(inside.endContainer)) inside.setEnd(box, box.childNodes.length);
  return inside;
}

/**
 * Handles the event `copy`: a selection in one message is copied exactly as it was written, although a browser would add
 * lines between its blocks. For several messages the browser makes its own copy.
 */
export function copyExactly(event: ClipboardEvent): void {
  const selection = getSelection();
  const isInField = event.target instanceof Element && event.target.closest('input, textarea') !== null;
  if (event.defaultPrevented || isInField || selection === null || selection.rangeCount === 0) return;
  const range = selection.getRangeAt(0);
  const text = range.toString();
  const boxes = [...document.querySelectorAll('.rich-text')].filter((box) => range.intersectsNode(box));
  if (text === '' || !boxes.some((box) => within(box, range).toString() === text)) return;
  event.clipboardData?.setData('text/plain', text);
  event.preventDefault();
}
