import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What is counted together. As in the rate groups of addresses an IPv6 customer has a /56: seven bytes. */
const keyOf = (address: Address): string => address.toByteArray().slice(0, 7).join('.');

/** What is counted together, and how many may be open; 0: any number. */
interface Peer {
  readonly key: string;
  readonly most: number;
}

/** Peers that were looked up, so that a storm of connections is not held up; forgotten together. */
const MOST_KNOWN = 10_000;

/** The default for one address on the internet: enough for a large office, and not all that a replica has. */
const PUBLIC_LIMIT = 2_000;

/** Whoever connects from there is ours: a balancer, a gateway that hides others, the machine itself. */
const LOCAL_RANGES = ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat', 'unspecified'];

interface ConnectionCapParts {
  /** `APP_HTTP_MAX_CONNECTIONS_PER_ADDRESS`: for every peer; null: the default for addresses on the internet alone; 0: none. */
  limit: number | null;
  /** CIDRs whose connections are never counted. */
  trustedProxies: readonly string[];
  onRefused: () => void;
}

/**
 * Counts the open connections of each peer address (not of a forwarded one: an address costs nothing to claim, a socket
 * does), and says whether one more may stay. Requests in progress need no count of their own: a stream belongs to an
 * account, which has a limit, and so many polls of sign-in as there may be requests to begin one.
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

  /** False: the connection is one too many and has to be closed. Else it is counted until it closes. */
  return function admits(socket: Socket): boolean {
    const remote = socket.remoteAddress?.replace(/%.*$/, '');
    // Already gone.
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
