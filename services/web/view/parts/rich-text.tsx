import type { ComponentChildren } from 'preact';

/* Text as it came: nothing of it is HTML. Addresses become links, and what stands between backticks is shown as code. */

const ADDRESS = /\bhttps?:\/\/[^\s<>"'`\u202a-\u202e\u2066-\u2069]+/g;
/** What ends a sentence is seldom a part of an address. */
const TAIL = /[.,;:!?)\]}]+$/;

function addressOf(text: string): string | null {
  try {
    const { protocol, href } = new URL(text);
    return protocol === 'https:' || protocol === 'http:' ? href : null;
  } catch {
    return null;
  }
}

function withLinks(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const shown = match[0].replace(TAIL, '');
    const href = addressOf(shown);
    if (href === null) continue;
    parts.push(text.slice(at, match.index));
    parts.push(
      <a key={match.index} href={href} target="_blank" rel="noopener noreferrer nofollow">
        {shown}
      </a>,
    );
    at = match.index + shown.length;
  }
  parts.push(text.slice(at));
  return parts;
}

function withCode(text: string): ComponentChildren[] {
  return text
    .split(/(`[^`\n]+`)/)
    .map((part, i) => (i % 2 === 1 ? <code key={i}>{part.slice(1, -1)}</code> : withLinks(part)));
}

/** Indented by more than a sentence is, or full of what only code has: shown as it was typed, in letters of one width. */
const looksLikeCode = (text: string): boolean => {
  const lines = text.split('\n');
  if (lines.length < 2) return false;
  const odd = lines.filter((line) => /^(\t| {2,})\S|[{};]\s*$|^\s*(<\/?\w|#include|import |def |\$ )/.test(line));
  return odd.length * 2 >= lines.length;
};

export function RichText({ text }: { text: string }) {
  const blocks = text.split(/```\w*\n?([\s\S]*?)```/);
  if (blocks.length === 1 && looksLikeCode(text)) return <pre tabIndex={0}>{text}</pre>;
  return (
    <>
      {blocks.map((block, i) => {
        if (i % 2 === 1) {
          return (
            <pre key={i} tabIndex={0}>
              {block.replace(/\n$/, '')}
            </pre>
          );
        }
        const plain = block.replace(i > 0 ? /^\n/ : /^$/, '');
        return plain === '' ? null : (
          <p key={i} dir="auto">
            {withCode(plain)}
          </p>
        );
      })}
    </>
  );
}
