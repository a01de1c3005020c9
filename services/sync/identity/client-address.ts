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

/**
 * An address as proxies write it: with the port of the client, IPv6 in brackets then, or without (RFC 7239, section 6). The
 * zone of an IPv6 address is left away: it means something on its own machine alone.
 */
const FORMS = [
  /^([\d.]+)(?::(\d{1,5}))?$/,
  /^([\da-f:.]+)(?:%[\w.~-]+)?$/i,
  /^\[([\da-f:.]*:[\da-f:.]*)(?:%[\w.~-]+)?\](?::(\d{1,5}))?$/i,
];
const MOST_PORT = 65_535;

/** The address alone; null where the text has no such form. */
function withoutPort(text: string): string | null {
  for (const form of FORMS) {
    const [, address = null, port = '0'] = form.exec(text) ?? [];
    if (address !== null) return Number(port) <= MOST_PORT ? address : null;
  }
  return null;
}

/** Strict: four decimal parts or IPv6, nothing that only some parsers take for an address. IPv4-mapped becomes IPv4. */
function parse(bare: string): Address | null {
  const valid = ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare);
  return valid ? ipaddr.process(bare) : null;
}

const contains = ([network, bits]: [Address, number], address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

/**
 * The hops of `X-Forwarded-For`, nearest first. Repeated headers are one list, as Node joins them; empty parts of a list are
 * nothing (RFC 9110, section 5.6.1).
 */
const hopsOf = ({ headers }: IncomingMessage): string[] =>
  String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')
    .reverse();

/**
 * The address of the client (CONTRACT.md, "Identity"): the right-most hop of `X-Forwarded-For` that is not a trusted proxy.
 * The list is believed as far as trusted proxies wrote it. A hop that is no address (`unknown`) ends it: then the proxy that
 * wrote it counts, since what is left of it may be the client's own invention.
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
    // Each connection of a client has a port of its own.
    const bare = withoutPort(text);
    if (bare === null) return null;
    const before = known.get(bare);
    if (before !== undefined) return before;
    const hop = read(bare);
    if (known.size >= MOST_KNOWN) known = new Map();
    known.set(bare, hop);
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
