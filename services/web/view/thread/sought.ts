import { signal } from '@preact/signals';

/** The words of the search from which the user came to an item. */
export const soughtWords = signal('');

const NAME = 'sought';
const SHOWN_MS = 4_000;

/** Returns the places of these words in an element. */
function rangesIn(element: Element, words: string): Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').toLowerCase();
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + words.length);
      ranges.push(range);
    }
  }
  return ranges;
}

/** Highlights the found item, and marks the words in it if the browser can (CSS Custom Highlight API). */
export function markSought(item: Element): void {
  item.classList.add(NAME);
  setTimeout(() => item.classList.remove(NAME), SHOWN_MS);
  const words = soughtWords.peek().trim().toLowerCase();
  if (words === '' || !('highlights' in CSS)) return;
  CSS.highlights.set(NAME, new Highlight(...rangesIn(item, words)));
}
