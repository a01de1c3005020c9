import ipaddr from 'ipaddr.js';

/** The names of browsers. The first match counts, because most browsers also name others. */
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\b(Macintosh|Mac OS X|macOS|Darwin)\b/, 'macOS'],
  [/\b(Linux|X11|CrOS)\b/, 'Linux'],
];

const firstOf = (list: readonly [RegExp, string][], text: string): string | undefined =>
  list.find(([pattern]) => pattern.test(text))?.[1];

/** Describes a program, as in "Firefox on Windows": enough to recognise it, without any text that the client chose. */
export function describeAgent(userAgent: string): string {
  const browser = firstOf(BROWSERS, userAgent) ?? 'An unknown program';
  const system = firstOf(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Returns the network of an address, not the address: a /24 of IPv4, a /48 of IPv6. */
export function coarseAddress(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/24`).toString()}/24`;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/48`).toString()}/48`;
}
