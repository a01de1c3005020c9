import { markedParts } from './marked-parts.ts';

/** A text with what was looked for. */
export function Marked({ text, words }: { text: string; words: string }) {
  return (
    <>
      {markedParts(text, words).map((part, i) =>
        part.isFound ? <mark key={i}>{part.text}</mark> : <span key={i}>{part.text}</span>,
      )}
    </>
  );
}
