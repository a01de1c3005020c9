import { createSecureContext } from 'node:tls';

/**
 * Has Node parse the certificates of all authorities that it trusts, once for the process. It would do so with the first TLS
 * connection: 25 ms in which a replica answers nobody (Node 20), for the first push of some account.
 */
export function parseTrustedRoots(): void {
  createSecureContext();
}
