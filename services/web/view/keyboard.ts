import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go, place } from './navigation.ts';

/** Whether the list of keys is shown. */
export const showsKeys = signal(false);

const isField = (element: Element | null): boolean =>
  element instanceof HTMLElement &&
  (element.isContentEditable ||
    (element.matches('input, textarea, select') && !element.matches('[type=checkbox], [type=radio]')));

/** Moves the focus to the next device of the list, from the focused one or from the one whose thread is shown. */
function moveInList(by: 1 | -1): boolean {
  const focused = document.activeElement;
  // Elsewhere the arrows scroll.
  if (focused !== document.body && focused?.closest('.side') === null) return false;
  const rows = [...document.querySelectorAll<HTMLElement>('.side .device')].filter((row) => row.checkVisibility());
  const from = rows.findIndex((row) => row === focused);
  const shown = rows.findIndex((row) => row.ariaCurrent === 'page');
  const at = from >= 0 ? from + by : shown >= 0 ? shown + by : by > 0 ? 0 : rows.length - 1;
  rows[Math.max(0, Math.min(rows.length - 1, at))]?.focus();
  return rows.length > 0;
}

/** Leaves a field, and otherwise the place. */
function leave(): boolean {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && isField(focused)) focused.blur();
  else if (place.value.name !== 'home') go();
  else return false;
  return true;
}

/** Moves the focus to the field of the thread, which then gets the key. A space scrolls the page instead. */
function writeWith(key: string): void {
  if (Array.from(key).length === 1 && key !== ' ') document.querySelector<HTMLElement>('.composer textarea')?.focus();
}

/** Carries out what a key means. Returns whether it means something here. */
function act(key: string): boolean {
  if (key === 'Escape') return leave();
  if (isField(document.activeElement)) return false;
  if (key === 'ArrowDown' || key === 'ArrowUp') return moveInList(key === 'ArrowDown' ? 1 : -1);
  if (key === '/') go('search');
  else if (key === '?') showsKeys.value = true;
  else {
    writeWith(key);
    return false;
  }
  return true;
}

/** Follows the keys that work everywhere. An open dialog has its own keys. */
export function useKeyboard(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isOurs = !event.defaultPrevented && !event.isComposing && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!isOurs || document.querySelector('dialog[open]') !== null) return;
      if (act(event.key)) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
