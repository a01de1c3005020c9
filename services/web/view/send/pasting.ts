import { type ChosenFile, chosenOf, nameOfPasted } from '../../files/choosing.ts';

const lastPart = (path: string): string => {
  const name = path.trim().split(/[\\/]/).at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

/** File managers put the names or the paths of copied files beside them, as text. */
function isNamesOf(text: string, files: readonly ChosenFile[]): boolean {
  const names = new Set(files.map(({ file }) => file.name));
  return text
    .trim()
    .split(/\r?\n/)
    .every((line) => names.has(lastPart(line)) || names.has(line.trim()));
}

/**
 * The files that somebody means to paste. Spreadsheets and word processors put a picture of what is copied beside its text:
 * where there is text, it is what is meant.
 */
export function pastedFiles(data: DataTransfer | null): ChosenFile[] {
  if (data === null) return [];
  const files = chosenOf(data.files);
  const text = data.getData('text/plain');
  const isText = text.trim() !== '' && !isNamesOf(text, files);
  return isText ? [] : files.map((one) => nameOfPasted(one));
}
