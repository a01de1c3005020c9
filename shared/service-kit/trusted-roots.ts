import { createSecureContext } from 'node:tls';

/**
 * Makes Node parse the certificates of all authorities that it trusts, once for the process. Otherwise Node does so at the
 * first TLS connection, such as the first push of some account: 25 ms in which a replica answers nobody (Node 20).
 */
export function parseTrustedRoots(): void {
  createSecureContext();
}
