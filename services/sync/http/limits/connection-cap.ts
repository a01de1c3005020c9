import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Returns the key under which a peer is counted: an IPv6 customer is a /56 (seven bytes), as in the rate groups. */
const keyOf = (address: Address): string => address.toByteArray().slice(0, 7).join('.');

/** The key under which a peer is counted, and the most connections that may be open; 0: any number. */
interface Peer {
  readonly key: string;
  readonly most: number;
}

/** The most peers whose lookup is kept, so that a storm of connections is not slowed down. All are forgotten at once. */
const MOST_KNOWN = 10_000;

/** The default for one address on the internet: enough for a large office, but not all that a replica has. */
const PUBLIC_LIMIT = 2_000;

/** Peers in these ranges are ours: a balancer, a gateway that hides its clients, the host itself. */
const LOCAL_RANGES = ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat', 'unspecified'];

interface ConnectionCapParts {
  /** `APP_HTTP_MAX_CONNECTIONS_PER_ADDRESS`, for every peer; null: the default, for internet addresses only; 0: no limit. */
  limit: number | null;
  /** CIDRs whose connections are never counted. */
  trustedProxies: readonly string[];
  onRefused: () => void;
}

/**
 * Makes a check that counts the open connections of each peer, and says whether one more may stay. It ignores forwarded
 * addresses: claiming an address costs nothing, opening a socket does. Requests in progress need no separate count. Streams
 * are limited for each account, and polls of sign-in by the limit of requests that begin a sign-in.
 */
export function makeConnectionCap({ limit, trustedProxies, onRefused }: ConnectionCapParts) {
  const networks = trustedProxies.map((cidr) => ipaddr.parseCIDR(cidr));
  const open = new Map<string, number>();
  const known = new Map<string, Peer>();

  const mostOf = (address: Address): number => {
    if (networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))) return 0;
    return limit ?? (LOCAL_RANGES.includes(address.range()) ? 0 : PUBLIC_LIMIT);
  };

  const peerOf = (remote: string): Peer => {
    const before = known.get(remote);
    if (before !== undefined) return before;
    const address = ipaddr.process(remote);
    const peer = { key: keyOf(address), most: mostOf(address) };
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(remote, peer);
    return peer;
  };

  /** Returns false when the connection is one too many and must be closed. Otherwise counts it until it closes. */
  return function admits(socket: Socket): boolean {
    const remote = socket.remoteAddress?.replace(/%.*$/, '');
    // The peer has already gone.
    if (remote === undefined) return true;
    const { key, most } = peerOf(remote);
    if (most === 0) return true;
    const count = open.get(key) ?? 0;
    if (count >= most) {
      onRefused();
      return false;
    }
    open.set(key, count + 1);
    socket.once('close', () => {
      const left = (open.get(key) ?? 1) - 1;
      if (left > 0) open.set(key, left);
      else open.delete(key);
    });
    return true;
  };
}
