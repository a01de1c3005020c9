import { makeClientAddress } from '../../../services/sync/identity/client-address.ts';
import { requestWith } from './request.ts';

const PROXIES = ['10.0.0.0/8', '127.0.0.1/32', 'fd00::/8'];

test.each([
  ['without proxies the peer counts', [], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a peer that is no proxy is not believed', PROXIES, '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a proxy names the client', PROXIES, '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['what the client wrote left of that is ignored', PROXIES, '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['proxies behind proxies are skipped', PROXIES, '10.0.0.1', '198.51.100.1, 10.1.1.1,10.2.2.2', '198.51.100.1'],
  ['with proxies only, the farthest counts', PROXIES, '10.0.0.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
  ['a proxy that names nobody counts itself', PROXIES, '10.0.0.1', '', '10.0.0.1'],
  ['a hop that is no address ends the walk', PROXIES, '10.0.0.1', '198.51.100.1, unknown, 10.2.2.2', '10.2.2.2'],
  ['an octal address is none', PROXIES, '10.0.0.1', '0300.0.0.1', '10.0.0.1'],
  ['a short address is none', PROXIES, '10.0.0.1', '127.1', '10.0.0.1'],
  ['IPv4 in IPv6 is IPv4', PROXIES, '::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
  ['a port is not the address', PROXIES, '10.0.0.1', '203.0.113.7:51234', '203.0.113.7'],
  ['IPv6 with a port stands in brackets', PROXIES, '10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
  ['brackets need no port', PROXIES, '10.0.0.1', '[2001:DB8::1]', '2001:db8::1'],
  ['IPv4 in IPv6 is IPv4 in brackets too', PROXIES, '10.0.0.1', '[::ffff:203.0.113.7]:51234', '203.0.113.7'],
  ['IPv4 in IPv6 by its hexadecimal', PROXIES, '10.0.0.1', '::ffff:cb00:7107', '203.0.113.7'],
  ['proxies with ports are skipped', PROXIES, '10.0.0.1', '203.0.113.7:1, 10.1.1.1:80,[fd00::2]:443', '203.0.113.7'],
  ['a zone is not the address', PROXIES, '10.0.0.1', 'fe80::1%eth0', 'fe80::1'],
  ['a zone in brackets neither', PROXIES, '10.0.0.1', '[fe80::1%25eth0]:443', 'fe80::1'],
  ['spaces around a hop are nothing', PROXIES, '10.0.0.1', '  203.0.113.7:51234\t', '203.0.113.7'],
  ['empty parts are nothing', PROXIES, '10.0.0.1', ', 203.0.113.7, ,, 10.2.2.2,', '203.0.113.7'],
  ['unknown ends the walk', PROXIES, '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
  ['unknown with a port ends it too', PROXIES, '10.0.0.1', '198.51.100.1, unknown:80, 10.2.2.2:9', '10.2.2.2'],
  ['a name ends it', PROXIES, '10.0.0.1', '198.51.100.1, localhost:80', '10.0.0.1'],
  ['a port that is none ends it', PROXIES, '10.0.0.1', '203.0.113.7:99999', '10.0.0.1'],
  ['a port of letters ends it', PROXIES, '10.0.0.1', '203.0.113.7:http', '10.0.0.1'],
  ['two ports end it', PROXIES, '10.0.0.1', '203.0.113.7:80:80', '10.0.0.1'],
  ['IPv4 in brackets ends it', PROXIES, '10.0.0.1', '[203.0.113.7]:80', '10.0.0.1'],
  ['an open bracket ends it', PROXIES, '10.0.0.1', '[2001:db8::1', '10.0.0.1'],
  ['an octal address with a port is none', PROXIES, '10.0.0.1', '0313.0.113.7:80', '10.0.0.1'],
  ['IPv6 has one spelling', PROXIES, 'fd00::1', '2001:DB8:0:0::0001', '2001:db8::1'],
])('%s', (...[, trustedProxies, peer, forwarded, client]) => {
  const clientAddress = makeClientAddress({ trustedProxies });
  expect(clientAddress(requestWith([['X-Forwarded-For', forwarded]], { peer }))).toBe(client);
});

test('repeated headers are one list', () => {
  const clientAddress = makeClientAddress({ trustedProxies: PROXIES });
  const headers = [
    ['X-Forwarded-For', '198.51.100.1'],
    ['X-Forwarded-For', '10.2.2.2'],
  ] as const;
  expect(clientAddress(requestWith(headers, { peer: '10.0.0.1' }))).toBe('198.51.100.1');
});
