import type { LinkEnd, PeerLink } from './link.ts';
import type { StripedParts } from './stripes.ts';
import type { Signal } from '../transfers/peer-module.ts';

/** More signals than come while code is loaded. */
const MOST_EARLY = 128;

/** Makes an attempt with code that is loaded for the first one, because a page that moves no file does not need it. */
export function makeLateLink(parts: StripedParts): PeerLink {
  const early: Signal[] = [];
  let link: PeerLink | null = null;
  let isOver = false;

  function end(why: LinkEnd): void {
    if (isOver) return;
    isOver = true;
    parts.onOver(why);
  }

  import('./stripes.ts')
    .then(({ makeStripedLink }) => {
      if (isOver) return;
      link = makeStripedLink({ ...parts, onOver: end });
      for (const signal of early.splice(0)) link.take(signal);
    })
    // Without the code there is no path.
    .catch(() => end('failed'));

  return {
    attempt: parts.attempt,
    get isOpen() {
      return link?.isOpen === true;
    },
    get isAnswered() {
      return link?.isAnswered === true;
    },
    take(signal) {
      if (link !== null) link.take(signal);
      else if (early.length < MOST_EARLY) early.push(signal);
    },
    close(why) {
      if (link === null) end(why);
      else link.close(why);
    },
  };
}
