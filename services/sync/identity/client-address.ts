import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address, and whether it is one of the trusted proxies. */
interface Hop {
  text: string;
  isTrusted: boolean;
}

/** The most parsed addresses kept; all are forgotten together. Parsing one takes 20 microseconds or more. */
const MOST_KNOWN = 10_000;
/** A longer text is no address, and may be kilobytes that a client sent. */
const MOST_CHARS = 64;

/**
 * The forms in which proxies write an address: alone, or with the client's port, and then IPv6 in brackets (RFC 7239,
 * section 6). The zone of an IPv6 address is dropped, because it has a meaning only on its own machine.
 */
const FORMS = [
  /^([\d.]+)(?::(\d{1,5}))?$/,
  /^([\da-f:.]+)(?:%[\w.~-]+)?$/i,
  /^\[([\da-f:.]*:[\da-f:.]*)(?:%[\w.~-]+)?\](?::(\d{1,5}))?$/i,
];
const MOST_PORT = 65_535;

/** Returns the address without port and zone; null if the text has no such form. */
function withoutPort(text: string): string | null {
  for (const form of FORMS) {
    const [, address = null, port = '0'] = form.exec(text) ?? [];
    if (address !== null) return Number(port) <= MOST_PORT ? address : null;
  }
  return null;
}

/** Parses strictly: four decimal parts or IPv6, no notation that only some parsers accept. IPv4-mapped becomes IPv4. */
function parse(bare: string): Address | null {
  const valid = ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare);
  return valid ? ipaddr.process(bare) : null;
}

const contains = ([network, bits]: [Address, number], address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

/**
 * Returns the hops of `X-Forwarded-For`, nearest first. Node joins repeated headers into one list. Empty parts of the list
 * are ignored (RFC 9110, section 5.6.1).
 */
const hopsOf = ({ headers }: IncomingMessage): string[] =>
  String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '')
    .reverse();

/**
 * Returns a function that finds the address of the client (CONTRACT.md, "Identity"): the rightmost hop of `X-Forwarded-For`
 * that is not a trusted proxy. Only the part of the list that trusted proxies wrote is trusted. A hop that is no address
 * (`unknown`) ends it, and the proxy that wrote the hop counts, because the client may have invented everything left of it.
 */
export function makeClientAddress({ trustedProxies }: { trustedProxies: readonly string[] }) {
  const networks = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr));
  let known = new Map<string, Hop | null>();

  function read(text: string): Hop | null {
    const address = parse(text);
    return address && { text: address.toString(), isTrusted: networks.some((network) => contains(network, address)) };
  }

  /** Returns the hop; null if the text is no address. */
  function hopOf(text: string): Hop | null {
    if (text.length > MOST_CHARS) return null;
    // Each connection of a client has another port, so the port is not part of the key.
    const bare = withoutPort(text);
    if (bare === null) return null;
    const before = known.get(bare);
    if (before !== undefined) return before;
    const hop = read(bare);
    if (known.size >= MOST_KNOWN) known = new Map();
    known.set(bare, hop);
    return hop;
  }

  /** Returns the client's address; '' when the socket is already closed. */
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
