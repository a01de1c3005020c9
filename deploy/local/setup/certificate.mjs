import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

/**
 * Makes a self-signed certificate for these names and addresses in `folder`, with the `openssl` program. It is valid for
 * a week. Returns `{key, cert, keyFile, certFile}`. Throws in plain words when that is not possible.
 */
export function makeCertificate({ folder, hosts }) {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = hosts.map((host) => `${isIP(host) ? 'IP' : 'DNS'}:${host}`).join(',');
  const done = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '7'],
      ...['-subj', '/CN=Baton', '-addext', `subjectAltName=${names}`, '-addext', 'extendedKeyUsage=serverAuth'],
      ...['-keyout', keyFile, '-out', certFile],
    ],
    { encoding: 'utf8' },
  );
  if (done.error) throw new Error('the certificate is made with openssl, which is not installed');
  if (done.status !== 0) throw new Error(`openssl could not make a certificate:\n${done.stderr.trim()}`);
  return { key: readFileSync(keyFile), cert: readFileSync(certFile), keyFile, certFile };
}
