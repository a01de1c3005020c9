import { mkdtempSync, rmSync } from 'node:fs';
import { request as overHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../deploy/local/setup/certificate.mjs';
import { startLan } from '../../deploy/local/start/lan.mjs';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { skipUnless } from '../support/runner/skips.ts';
import { request } from '../support/wire.ts';
import { type Edge, isInstalled, startEdge, stopEdges } from './edges.ts';
import { type Mirror, startMirror } from './mirror.ts';

/*
 * With TLS, the edge tells browsers to use nothing else (RFC 6797). Without TLS, or with TLS only for a while, it does
 * not.
 */

const NAME = 'baton.example';
const NOBODY = 'http://127.0.0.1:1';
const HSTS = 'max-age=31536000';
/** If nobody is behind the edge, it answers each of these by itself, in another way. */
const PATHS = ['/', '/healthz', '/api/me', '/api/hub/events', '/login', '/link', '/x/../y'];

let mirror: Mirror;
let folder: string;
let certificate: ReturnType<typeof makeCertificate>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-hsts-'));
  certificate = makeCertificate({ folder, hosts: [NAME, 'localhost', '127.0.0.1'] });
  mirror = await startMirror();
});
afterAll(async () => {
  await stopEdges();
  await mirror.stop();
  rmSync(folder, { recursive: true });
});

/** Returns what a browser is told at `https://<name>:<port><path>`. */
const told = (port: number, path: string, name = NAME): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      servername: /^[\d.]+$/.test(name) ? '' : name,
      agent: false,
      rejectUnauthorized: false,
    };
    overHttps({ ...options, headers: { Host: `${name}:${port}` } }, (answer) => {
      answer.resume();
      resolve(answer.headers['strict-transport-security']);
    })
      .on('error', reject)
      .end();
  });

const portOf = ({ url }: Edge): number => Number(new URL(url).port);

skipUnless(isInstalled('nginx'), 'needs nginx').describe('nginx', () => {
  test.each(['a replica', 'nobody'])('says it over TLS with every answer, with %s behind it', async (who) => {
    const replicas = [who === 'nobody' ? NOBODY : mirror.url];
    const edge = await startEdge('nginx', { redirectPort: await freePort(), replicas, broker: NOBODY });
    for (const path of PATHS) expect({ path, says: await told(portOf(edge), path) }).toEqual({ path, says: HSTS });
    await edge.stop();
  });

  test('says nothing over http', async () => {
    const edge = await startEdge('nginx', { replicas: [mirror.url], broker: NOBODY });
    for (const path of PATHS)
      expect((await request(edge, { path })).headers).not.toHaveProperty('strict-transport-security');
    await edge.stop();
  });
});

skipUnless(isInstalled('caddy'), 'needs caddy').describe('caddy', () => {
  const startTls = (port: number, name: string, replicas: string[]) =>
    startEdge('caddy', {
      ...{ port, replicas, broker: NOBODY },
      // This replaces the certificate that Caddy would get for its name.
      spoil: (_, text) =>
        text
          .replace('\tadmin off\n', '\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n')
          .replace(
            '{$BATON_SITE:http://localhost:8088} {',
            `https://${name}:${port} {\n\ttls ${certificate.certFile} ${certificate.keyFile}`,
          ),
    });

  test.each(['a replica', 'nobody'])('says it over TLS with every answer, with %s behind it', async (who) => {
    const port = await freePort();
    const edge = await startTls(port, NAME, [who === 'nobody' ? NOBODY : mirror.url]);
    for (const path of PATHS) expect({ path, says: await told(port, path) }).toEqual({ path, says: HSTS });
    await edge.stop();
  });

  test('says nothing for localhost, whose other ports have no TLS', async () => {
    const port = await freePort();
    const edge = await startTls(port, 'localhost', [mirror.url]);
    expect(await told(port, '/', 'localhost')).toBeUndefined();
    await edge.stop();
  });

  test('says nothing over http', async () => {
    const edge = await startEdge('caddy', { replicas: [mirror.url], broker: NOBODY });
    for (const path of PATHS)
      expect((await request(edge, { path })).headers).not.toHaveProperty('strict-transport-security');
    await edge.stop();
  });
});

test('the certificate that `npm start -- --lan` makes for an hour is nothing to remember', async () => {
  const port = await freePort();
  const behind = Number(new URL(mirror.url).port);
  mirror.serveWith((_req, res) => res.setHeader('Strict-Transport-Security', HSTS).end());
  const lan = await startLan({ address: '127.0.0.1', port, replicaPorts: [behind], brokerPort: behind });
  for (const path of ['/', '/login']) expect(await told(port, path, '127.0.0.1')).toBeUndefined();
  lan.stop();
  mirror.reflect();
});
