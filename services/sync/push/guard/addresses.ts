import { BlockList, isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/*
 * The addresses of the public internet, by the IANA special-purpose registries (RFC 6890) as of 2025-10. IPv4 addresses
 * are public except for a list of networks. IPv6 addresses are public only in one block, except for networks inside it.
 */

const NOT_PUBLIC_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Link-local, with the metadata services of most clouds.
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Azure serves metadata to its machines at this public-looking address.
  '168.63.129.16/32',
];

/** The only block assigned as global unicast. Everything else is local, translated, multicast or unassigned. */
const GLOBAL_IPV6 = '2000::/3';

const NOT_PUBLIC_IPV6 = [
  // Protocol assignments: Teredo (2001::/32), benchmarks, ORCHID, anycast of protocols.
  '2001::/23',
  '2001:db8::/32',
  // 6to4 carries an IPv4 address inside, and its relays are no longer run (RFC 7526).
  '2002::/16',
  '2620:4f:8000::/48',
  '3ffe::/16',
  '3fff::/20',
];

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, length] = network.split('/') as [string, string];
    list.addSubnet(address, Number(length), family);
  }
  return list;
}

const notPublicIpv4 = listOf(NOT_PUBLIC_IPV4, 'ipv4');
const notPublicIpv6 = listOf(NOT_PUBLIC_IPV6, 'ipv6');
const globalIpv6 = listOf([GLOBAL_IPV6], 'ipv6');

/** Networks whose last 32 bits are the IPv4 address that a packet ends at: mapped (RFC 4291) and NAT64 (RFC 6052). */
const CARRIES_IPV4 = listOf(['::ffff:0:0/96', '64:ff9b::/96'], 'ipv6');

const carriedIpv4 = (address: string): string => ipaddr.IPv6.parse(address).toByteArray().slice(12).join('.');

/**
 * Returns whether an address from a resolver or a socket is one of the public internet. With DNS64 every host that has
 * only IPv4 appears as NAT64, so such an address is judged by the IPv4 address inside it.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublicIpv4.check(address, 'ipv4');
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (!isIPv6(address) || address.includes('%')) return false;
  if (CARRIES_IPV4.check(address, 'ipv6')) return isPublicAddress(carriedIpv4(address));
  return globalIpv6.check(address, 'ipv6') && !notPublicIpv6.check(address, 'ipv6');
}
