import { markedParts } from './marked-parts.ts';

/** Shows a text with the matches marked. */
export function Marked({ text, words }: { text: string; words: string }) {
  return (
    <>
      {markedParts(text, words).map((part, i) =>
        part.isFound ? <mark key={i}>{part.text}</mark> : <span key={i}>{part.text}</span>,
      )}
    </>
  );
}
