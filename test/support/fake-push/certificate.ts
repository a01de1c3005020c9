import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../../deploy/local/setup/certificate.mjs';

export interface TestCertificate {
  readonly key: Buffer;
  /** PEM. The certificate is self-signed, so clients must trust it too. */
  readonly cert: Buffer;
  /** For `NODE_EXTRA_CA_CERTS` of a process that must trust the fakes. */
  readonly certFile: string;
  remove(): void;
}

/** Makes a certificate that the fakes of a test file share, for loopback or for these hosts. */
export function makeTestCertificate(hosts: string[] = ['127.0.0.1', 'localhost']): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'baton-push-'));
  const made = makeCertificate({ folder, hosts });
  return { ...made, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
