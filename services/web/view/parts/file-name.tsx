import { splitEnding } from '../../../../shared/client/files/names.ts';

/** Shows the name of a file. One that is too long is cut before its ending, which says what the file is. */
export function FileName({ name, path = name }: { name: string; path?: string }) {
  const [stem, ending] = splitEnding(name);
  return (
    <span class="file-name" title={path}>
      <span dir="auto">
        <span>{stem}</span>
        {ending}
      </span>
    </span>
  );
}
