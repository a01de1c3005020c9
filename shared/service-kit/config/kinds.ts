import ipaddr from 'ipaddr.js';

/** The value of a setting, or the problem of its text, as the end of the sentence "<KEY> ...". */
export type Parsed<T> = { value: T } | { problem: string };

/** Turns the text of a setting into its value. The text is never empty. */
export type Kind<T> = (text: string) => Parsed<T>;

const accept = <T>(value: T): Parsed<T> => ({ value });
const refuse = (problem: string): { problem: string } => ({ problem });

export const integer =
  (min: number, max: number): Kind<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? accept(value) : refuse(`must be an integer from ${min} to ${max}`);
  };

export const decimal =
  (min: number, max: number): Kind<number> =>
  (text) => {
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? accept(value) : refuse(`must be a number from ${min} to ${max}`);
  };

export const oneOf =
  <const T extends string>(...words: T[]): Kind<T> =>
  (text) => {
    const word = words.find((candidate) => candidate === text);
    return word === undefined ? refuse(`must be one of ${words.join(', ')}`) : accept(word);
  };

export const flag: Kind<boolean> = (text) => {
  if (text === 'true' || text === '1') return accept(true);
  return text === 'false' || text === '0' ? accept(false) : refuse('must be true or false (or 1 or 0)');
};

export const matching =
  (pattern: RegExp, says: string): Kind<string> =>
  (text) =>
    pattern.test(text) ? accept(text) : refuse(`must be ${says}`);

export const anyText: Kind<string> = accept;

/** Returns a text that may be a URL without its credentials, which are before the last `@`, well-formed or not. */
export const withoutUserInfo = (text: string): string => text.replace(/^(?!mailto:).*@/s, '***@');

const urlOf = (text: string, ...protocols: string[]): URL | null => {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && url.hostname !== '' && protocols.includes(url.protocol) ? url : null;
};

/** Parses an address to call. `fetch` takes no credentials in it, and repeats them in its error. */
export const httpUrl: Kind<string> = (text) => {
  const url = urlOf(text, 'http:', 'https:');
  if (url === null) return refuse('must be an http:// or https:// URL');
  if (url.username !== '' || url.password !== '') return refuse('must have neither user nor password');
  return accept(text.replace(/\/+$/, ''));
};

/** Parses an origin: scheme, host and port, in the spelling that browsers use in `Origin`. */
export const origin: Kind<string> = (text) => {
  const url = urlOf(text, 'http:', 'https:');
  const bare = url !== null && url.pathname === '/' && !/[?#@]/.test(text);
  return bare ? accept(url.origin) : refuse('must be an origin such as https://baton.example, without a path');
};

/** Parses up to `most` comma-separated origins, and keeps each once. */
export const origins =
  (most: number): Kind<readonly string[]> =>
  (text) => {
    const parts = text.split(',').map((part) => part.trim());
    const wrong = parts.filter((part) => 'problem' in origin(part));
    if (wrong.length > 0) {
      return refuse(
        `must be comma-separated origins such as https://baton.example; not one: ${wrong.map(withoutUserInfo).join(', ')}`,
      );
    }
    const bare = [...new Set(parts.map((part) => new URL(part).origin))];
    return bare.length > most ? refuse(`must be at most ${most} origins`) : accept(bare);
  };

const cidrOf = (text: string): string | null => {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return `${text}/32`;
  if (ipaddr.IPv6.isValid(text) && !text.includes('%')) return `${text}/128`;
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(text) || ipaddr.IPv6.isValidCIDR(text) ? text : null;
};

/** Parses comma-separated networks. A single address is a network of one. */
export const cidrs: Kind<readonly string[]> = (text) => {
  const parts = text.split(',').map((part) => part.trim());
  const wrong = parts.filter((part) => cidrOf(part) === null);
  if (wrong.length > 0)
    return refuse(`must be comma-separated CIDRs; not one: ${wrong.map(withoutUserInfo).join(', ')}`);
  return accept(parts.map((part) => cidrOf(part) ?? part));
};

/** Parses comma-separated `stun:`, `stuns:`, `turn:` or `turns:` addresses (RFC 7064, RFC 7065). */
export const iceUrls =
  (...schemes: string[]): Kind<readonly string[]> =>
  (text) => {
    const parts = text.split(',').map((part) => part.trim());
    const fits = (part: string) =>
      schemes.includes(part.split(':', 1)[0] ?? '') && /^[a-z]+:[\w.:[\]-]+(\?transport=(udp|tcp))?$/.test(part);
    return parts.every(fits) ? accept(parts) : refuse(`must be comma-separated ${schemes.join(': or ')}: addresses`);
  };

/** Parses one secret, or two during a rotation. They travel in a header, so they are visible ASCII. */
export const rotatingSecret: Kind<readonly string[]> = (text) => {
  const parts = text.split(',').map((part) => part.trim());
  const fit = parts.length <= 2 && parts.every((part) => /^[\x21-\x7e]{32,512}$/.test(part));
  return fit
    ? accept(parts)
    : refuse('must be one or two comma-separated values of at least 32 visible ASCII characters');
};
