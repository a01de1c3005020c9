import { signal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type Block, blocksOf, type FindLinks, type Inline, mayHaveLinks } from './text-parts.ts';

/*
 * Received text. None of it is HTML, and every character of it is shown. Addresses become links, and text between backticks
 * is shown as code, with the backticks.
 */

const findNone: FindLinks = () => [];
/**
 * The finder of links. It loads with the first text that may have a link, because it is a twentieth of the app. Until then
 * texts have no links.
 */
const finder = signal<FindLinks>(findNone);
let isAsked = false;

function askForFinder(): void {
  if (isAsked) return;
  isAsked = true;
  import('./links.ts').then(
    ({ linksIn }) => {
      finder.value = linksIn;
    },
    () => {
      // The next text loads it again.
      isAsked = false;
    },
  );
}

function Part({ part }: { part: Inline }) {
  if (part.kind === 'plain') return <Fragment>{part.text}</Fragment>;
  if (part.kind === 'mark') return <span class="text-mark">{part.text}</span>;
  if (part.kind !== 'link') return <code>{part.text}</code>;
  const { href, host, text } = part;
  // The letters of an address keep their order, whatever surrounds it.
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

export function RichText({ text }: { text: string }) {
  const isLinked = mayHaveLinks(text);
  const find = isLinked ? finder.value : findNone;
  const blocks = useMemo(() => blocksOf(text, find), [text, find]);
  useEffect(() => {
    if (isLinked) askForFinder();
  }, [isLinked]);
  return (
    <div class="rich-text">
      {blocks.map((block, i) => (
        <BlockOf key={i} block={block} />
      ))}
    </div>
  );
}
