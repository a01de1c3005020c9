import { LinkifyIt, REBuilder } from 'linkify-it';

/** A part of a text that leads somewhere. */
export interface FoundLink {
  start: number;
  end: number;
  href: string;
  /** The host, if the shown letters of the address differ from it; otherwise null. */
  host: string | null;
}

/**
 * Finds an address directly after a letter of a script without spaces, or after an emoji. The library requires a space or a
 * sign there (https://github.com/markdown-it/linkify-it, "rebuilder": patched fragments).
 */
class AnyScript extends REBuilder {
  override get_schema_search(): RegExp {
    const before = `^|(?!_)(?:[><]|${this.src_ZPCc}|[\\u0370-\\uffff])`;
    this.cache.schema_search ??= new RegExp(`(${before})(${this.get_schema_names().source})`, 'ig');
    return this.cache.schema_search;
  }
}

const finder = new LinkifyIt({ rebuilder: new AnyScript() });
finder.add('ftp:').add('//');
finder.add('www.', {
  validate(text, at, { re }) {
    const rest = re.get_relative_proto_validator();
    rest.lastIndex = at;
    return rest.exec(text)?.[0].length ?? 0;
  },
  normalize(match) {
    match.url = `https://${match.url}`;
  },
});

/** Invisible characters, and those that reorder the letters around them. U+2800 and the fillers look like a space. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
/**
 * An address with a user name before an `@`, such as `https://bank.example@evil.example`, which leads to the second host.
 */
const WITH_USER = /^(?:https?:\/\/)?[^\s/?#\\<>"]*@/i;

function targetOf(address: string): URL | null {
  try {
    const url = new URL(address);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

/** Finds web and mail addresses in their order. Skips addresses that could lead elsewhere than they show. */
export function linksIn(text: string): FoundLink[] {
  return (finder.match(text) ?? []).flatMap(({ index: start, lastIndex: end, raw, url, schema }) => {
    const target = targetOf(url);
    const isWeb = schema !== 'mailto:';
    if (target === null || UNSEEN.test(raw) || (isWeb && WITH_USER.test(text.slice(start)))) return [];
    const isSaid = !isWeb || raw.toLowerCase().includes(target.hostname);
    return [{ start, end, href: target.href, host: isSaid ? null : target.hostname }];
  });
}
