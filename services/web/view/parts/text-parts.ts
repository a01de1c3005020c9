import type { FoundLink } from './links.ts';

/*
 * A message in parts. All parts together are the message, letter for letter. Marks (backticks, the lines of a fence) are
 * parts too, and are shown.
 */
export type Inline =
  | { kind: 'plain' | 'mark' | 'code'; text: string }
  | { kind: 'link'; text: string; href: string; host: string | null };
export type Block =
  | { kind: 'words'; parts: Inline[] }
  /** `opening` and `closing` are the lines of the fence, with the line breaks between them and the code; may be empty. */
  | { kind: 'code'; opening: string; code: string; closing: string };

/** Finds links: `linksIn` after it is loaded. */
export type FindLinks = (text: string) => FoundLink[];

/** Tells whether a text may have links. Most texts have none, and are not searched. */
export const mayHaveLinks = (text: string): boolean => /:\/\/|mailto:|www\.|@/i.test(text);

/** A span on one line with one backtick on each side, neither inside a word nor beside another backtick. */
const SPAN = /(?<![\p{L}\p{N}_\\`])`([^\s`]|[^\s`][^`\n]*[^\s`])`(?![\p{L}\p{N}_`])/gu;
/** The opening line of a fence. The text after the backticks has no backtick. */
const OPENING = /^(`{3,})[^`]*$/;
const CLOSING = /^(`{3,})\s*$/;

function withLinks(text: string, find: FindLinks): Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  for (const { start, end, href, host } of mayHaveLinks(text) ? find(text) : []) {
    parts.push({ kind: 'plain', text: text.slice(at, start) });
    parts.push({ kind: 'link', text: text.slice(start, end), href, host });
    at = end;
  }
  parts.push({ kind: 'plain', text: text.slice(at) });
  return parts;
}

function inlineOf(text: string, find: FindLinks): Inline[] {
  const parts: Inline[] = [];
  let at = 0;
  for (const { index, 0: span, 1: code = '' } of text.matchAll(SPAN)) {
    parts.push(...withLinks(text.slice(at, index), find));
    parts.push({ kind: 'mark', text: '`' }, { kind: 'code', text: code }, { kind: 'mark', text: '`' });
    at = index + span.length;
  }
  parts.push(...withLinks(text.slice(at), find));
  return parts.filter((part) => part.text !== '');
}

/**
 * Tells whether lines look like code: indented more than a sentence, or with signs that only code has. Such lines are shown
 * as typed, in a monospaced font.
 */
const looksLikeCode = (lines: readonly string[]): boolean => {
  if (lines.length < 2) return false;
  const odd = lines.filter((line) => /^(\t| {2,})\S|[{};]\s*$|^\s*(<\/?\w|#include|import |def |\$ )/.test(line));
  return odd.length * 2 >= lines.length;
};

/** Returns the end of the fence that line `at` opens; 0: no fence, or one without an end. */
function fenceEnd(lines: readonly string[], at: number, isHopeless: (ticks: number) => boolean): number {
  const ticks = OPENING.exec(lines[at] ?? '')?.[1]?.length ?? 0;
  if (ticks === 0 || isHopeless(ticks)) return 0;
  for (let end = at + 1; end < lines.length; end += 1) {
    if ((CLOSING.exec(lines[end] ?? '')?.[1]?.length ?? 0) >= ticks) return end;
  }
  return -ticks;
}

/** Returns the blocks of a message in their order. */
export function blocksOf(text: string, find: FindLinks): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  let words: string[] = [];
  /** A fence of this many backticks, or more, has no end in the following lines. */
  let endless = Number.POSITIVE_INFINITY;

  const flush = (): void => {
    const joined = words.join('');
    if (joined !== '') blocks.push({ kind: 'words', parts: inlineOf(joined, find) });
    words = [];
  };
  const broken = (at: number): string => (at < lines.length - 1 ? `${lines[at]}\n` : (lines[at] ?? ''));

  for (let at = 0; at < lines.length; at += 1) {
    const end = fenceEnd(lines, at, (ticks) => ticks >= endless);
    if (end < 0) endless = -end;
    if (end <= 0) {
      words.push(broken(at));
      continue;
    }
    flush();
    const code = lines.slice(at + 1, end);
    blocks.push({
      kind: 'code',
      opening: broken(at),
      code: code.map((line) => `${line}\n`).join(''),
      closing: broken(end),
    });
    at = end;
  }
  if (blocks.length === 0 && looksLikeCode(lines)) return [{ kind: 'code', opening: '', code: text, closing: '' }];
  flush();
  return blocks;
}
