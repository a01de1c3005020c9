import { type ChosenFile, chosenOf, nameOfPasted } from '../../files/choosing.ts';

const lastPart = (path: string): string => {
  const name = path.trim().split(/[\\/]/).at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

/** Tells whether a text is only the names or paths of the files, which file managers put beside copied files. */
function isNamesOf(text: string, files: readonly ChosenFile[]): boolean {
  const names = new Set(files.map(({ file }) => file.name));
  return text
    .trim()
    .split(/\r?\n/)
    .every((line) => names.has(lastPart(line)) || names.has(line.trim()));
}

/**
 * Returns the files that the user means to paste. Spreadsheets and word processors put a picture beside copied text. If
 * there is text, the user means the text.
 */
export function pastedFiles(data: DataTransfer | null): ChosenFile[] {
  if (data === null) return [];
  const files = chosenOf(data.files);
  const text = data.getData('text/plain');
  const isText = text.trim() !== '' && !isNamesOf(text, files);
  return isText ? [] : files.map((one) => nameOfPasted(one));
}
