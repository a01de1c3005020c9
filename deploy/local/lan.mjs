import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './certificate.mjs';

/** The address of this machine on the local network; null when it is on none. */
export const lanAddress = () =>
  Object.values(networkInterfaces())
    .flat()
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;

/** Of one connection alone: nobody else's business (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te', 'trailer'];

function forwardedHeaders(req) {
  const headers = { ...req.headers, 'x-forwarded-for': req.socket.remoteAddress ?? '' };
  for (const name of HOP_BY_HOP) delete headers[name];
  return headers;
}

/** Passes one request on, and its answer back, as they come. */
function pass(req, res, port) {
  const onward = request({
    host: '127.0.0.1',
    port,
    method: req.method,
    path: req.url,
    headers: forwardedHeaders(req),
    agent: false,
  });
  onward.on('response', (answer) => {
    // The certificate is of today, and made by nobody whom a browser knows: nothing to remember this address by.
    const { connection: _, 'keep-alive': __, 'strict-transport-security': ___, ...headers } = answer.headers;
    res.writeHead(answer.statusCode, headers);
    // The head of a stream must not wait for its first event.
    res.flushHeaders();
    answer.pipe(res);
    answer.on('error', () => res.destroy());
  });
  onward.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
  res.on('close', () => onward.destroy());
  req.pipe(onward);
}

/**
 * Publishes the replicas and the broker's login on one https address of the local network, with a certificate made for
 * it. Resolves to `{fingerprint, stop}`; rejects in plain words.
 */
export async function startLan({ address, port, replicaPorts, brokerPort }) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-lan-'));
  let certificate;
  try {
    certificate = makeCertificate({ folder, hosts: [address] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  let turn = 0;
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (req, res) => {
    const isLogin = brokerPort !== null && /^\/login(?:[/?]|$)/.test(req.url);
    pass(req, res, isLogin ? brokerPort : replicaPorts[turn++ % replicaPorts.length]);
  });
  server.requestTimeout = 0;
  server.listen(port, address);
  await once(server, 'listening');
  return {
    fingerprint: new X509Certificate(certificate.cert).fingerprint256,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
