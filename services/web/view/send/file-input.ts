import { type ChosenFile, chosenOf } from '../../files/choosing.ts';

/** Opens the browser's picker; returns no files when it is closed without a choice. */
export function chooseFiles({ isFolder = false } = {}): Promise<ChosenFile[]> {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.webkitdirectory = isFolder;
  input.hidden = true;
  // A browser may collect an input that is nowhere in the page, and its choice with it.
  document.body.append(input);
  return new Promise<ChosenFile[]>((resolve) => {
    input.addEventListener('change', () => resolve(chosenOf(input.files ?? [])), { once: true });
    input.addEventListener('cancel', () => resolve([]), { once: true });
    input.click();
  }).finally(() => input.remove());
}
