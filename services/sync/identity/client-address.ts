import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address as it is told, and whether it is one of our proxies'. */
interface Hop {
  text: string;
  isTrusted: boolean;
}

/** Addresses that were read before; forgotten together. Reading one takes 20 microseconds and more. */
const MOST_KNOWN = 10_000;
/** What is longer is no address, and may be kilobytes of a client's. */
const MOST_CHARS = 64;

/** Strict: four decimal parts or IPv6, nothing that only some parsers take for an address. IPv4-mapped becomes IPv4. */
function parse(text: string): Address | null {
  const bare = text.replace(/%.*$/, '');
  const valid = ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare);
  return valid ? ipaddr.process(bare) : null;
}

const contains = ([network, bits]: [Address, number], address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

/** The hops of `X-Forwarded-For`, nearest first. Repeated headers are one list, as Node joins them. */
const hopsOf = ({ headers }: IncomingMessage): string[] =>
  String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .reverse();

/**
 * The address of the client (CONTRACT.md, "Identity"): the right-most hop of `X-Forwarded-For` that is not a trusted proxy.
 * The list is believed as far as trusted proxies wrote it; a hop that is no address ends it.
 */
export function makeClientAddress({ trustedProxies }: { trustedProxies: readonly string[] }) {
  const networks = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr));
  let known = new Map<string, Hop | null>();

  function read(text: string): Hop | null {
    const address = parse(text);
    return address && { text: address.toString(), isTrusted: networks.some((network) => contains(network, address)) };
  }

  /** Null: it is no address. */
  function hopOf(text: string): Hop | null {
    if (text.length > MOST_CHARS) return null;
    const before = known.get(text);
    if (before !== undefined) return before;
    const hop = read(text);
    if (known.size >= MOST_KNOWN) known = new Map();
    known.set(text, hop);
    return hop;
  }

  /** Empty when the socket is already gone. */
  return (req: IncomingMessage): string => {
    let client = hopOf(req.socket.remoteAddress ?? '');
    if (client === null) return '';
    for (const text of client.isTrusted ? hopsOf(req) : []) {
      const hop = hopOf(text);
      if (hop === null) break;
      client = hop;
      if (!hop.isTrusted) break;
    }
    return client.text;
  };
}
