import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Strict: four decimal parts or IPv6, nothing that only some parsers take for an address. IPv4-mapped becomes IPv4. */
function parse(text: string): Address | null {
  const bare = text.replace(/%.*$/, '');
  const valid = ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare);
  return valid ? ipaddr.process(bare) : null;
}

const contains = ([network, bits]: [Address, number], address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

/** The hops of `X-Forwarded-For`, nearest first. Repeated headers are one list. */
const hopsOf = (req: IncomingMessage): string[] =>
  (req.headersDistinct['x-forwarded-for'] ?? [])
    .join(',')
    .split(',')
    .map((hop) => hop.trim())
    .reverse();

/**
 * The address of the client (CONTRACT.md, "Identity"): the right-most hop of `X-Forwarded-For` that is not a trusted proxy.
 * The list is believed as far as trusted proxies wrote it; a hop that is no address ends it.
 */
export function makeClientAddress({ trustedProxies }: { trustedProxies: readonly string[] }) {
  const networks = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr));
  const isTrusted = (address: Address): boolean => networks.some((network) => contains(network, address));

  /** Empty when the socket is already gone. */
  return (req: IncomingMessage): string => {
    let client = parse(req.socket.remoteAddress ?? '');
    if (client === null) return '';
    for (const hop of isTrusted(client) ? hopsOf(req) : []) {
      const address = parse(hop);
      if (address === null) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    return client.toString();
  };
}
