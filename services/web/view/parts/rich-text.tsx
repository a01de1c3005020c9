import { Fragment } from 'preact';
import { useMemo } from 'preact/hooks';
import { type Block, blocksOf, type Inline } from './text-parts.ts';

/*
 * Text as it came: nothing of it is HTML, and every character of it is shown. Addresses become links, and what stands between
 * backticks is shown as code, with the backticks.
 */

function Part({ part }: { part: Inline }) {
  if (part.kind === 'plain') return <Fragment>{part.text}</Fragment>;
  if (part.kind === 'mark') return <span class="text-mark">{part.text}</span>;
  if (part.kind !== 'link') return <code>{part.text}</code>;
  const { href, host, text } = part;
  // The letters of an address stand in one order, whatever stands around it.
  return (
    <a href={href} dir="ltr" target="_blank" rel="noopener noreferrer nofollow" {...(host !== null && { title: host })}>
      {text}
    </a>
  );
}

function BlockOf({ block }: { block: Block }) {
  if (block.kind === 'words') {
    return (
      <p dir="auto">
        {block.parts.map((part, i) => (
          <Part key={i} part={part} />
        ))}
      </p>
    );
  }
  return (
    <pre tabIndex={0}>
      {block.opening !== '' && <span class="text-mark">{block.opening}</span>}
      {block.code}
      {block.closing !== '' && <span class="text-mark">{block.closing}</span>}
    </pre>
  );
}

/** What is copied of one text is exactly what was written: a browser adds lines between blocks. */
function copyExactly(event: ClipboardEvent & { currentTarget: HTMLElement }): void {
  const box = event.currentTarget;
  const selection = getSelection();
  if (event.clipboardData === null || selection === null || selection.rangeCount === 0) return;
  const range = selection.getRangeAt(0);
  const within = range.cloneRange();
  if (!box.contains(within.startContainer)) within.setStart(box, 0);
  if (!box.contains(within.endContainer)) within.setEnd(box, box.childNodes.length);
  // Of several texts the browser makes what it makes of pages.
  if (within.toString() !== range.toString()) return;
  event.clipboardData.setData('text/plain', within.toString());
  event.preventDefault();
}

export function RichText({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div class="rich-text" onCopy={copyExactly}>
      {blocks.map((block, i) => (
        <BlockOf key={i} block={block} />
      ))}
    </div>
  );
}
