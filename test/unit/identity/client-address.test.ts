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
