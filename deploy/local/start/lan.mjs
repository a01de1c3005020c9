import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createPlainServer, request } from 'node:http';
import { createServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../setup/certificate.mjs';
import { explainCertificate } from './lan-page.mjs';

/** Returns the address of this machine on the local network; null when it is on none. */
export const lanAddress = () =>
  Object.values(networkInterfaces())
    .flat()
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;

/** Headers of a single connection, which are not forwarded (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te', 'trailer'];

function forwardedHeaders(req) {
  const headers = { ...req.headers, 'x-forwarded-for': req.socket.remoteAddress ?? '' };
  for (const name of HOP_BY_HOP) delete headers[name];
  return headers;
}

/** Responds when a replica went away while it had the request, or when no replica is left. */
function failed(res) {
  if (res.headersSent) return res.destroy();
  const problem = { type: 'about:blank', title: 'Bad Gateway', status: 502, detail: 'What serves this went away' };
  res.writeHead(502, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(problem));
}

/** Whether a request may be repeated after an unknown outcome (RFC 9110, section 9.2.2) and has no body to keep. */
const mayRepeat = ({ method }) => method === 'GET' || method === 'HEAD';

/**
 * Passes a request on to the first of these ports, and its response back, as their parts come. If a port refuses the
 * connection, nothing has been sent yet, and the next port gets the request. The same happens if a killed replica accepts
 * the connection and ends it without a response, as long as the request may be repeated.
 */
function pass(req, res, [port, ...others]) {
  if (port === undefined) return failed(res);
  const onward = request({
    host: '127.0.0.1',
    port,
    method: req.method,
    path: req.url,
    headers: forwardedHeaders(req),
    agent: false,
  });
  let isConnected = false;
  onward.once('socket', (socket) => {
    socket.once('connect', () => {
      isConnected = true;
      req.pipe(onward);
    });
  });
  onward.on('response', (answer) => {
    // The certificate is new and unknown to browsers, which must remember nothing about this address.
    const { connection: _, 'keep-alive': __, 'strict-transport-security': ___, ...headers } = answer.headers;
    res.writeHead(answer.statusCode, headers);
    // The head of a stream must not wait for its first event.
    res.flushHeaders();
    answer.pipe(res);
    answer.on('error', () => res.destroy());
  });
  onward.on('error', () => {
    if (res.destroyed) return;
    if (isConnected && (res.headersSent || !mayRepeat(req))) failed(res);
    else pass(req, res, others);
  });
  res.once('close', () => onward.destroy());
}

/** The first byte of a TLS connection (RFC 8446, section 5.1). */
const HANDSHAKE = 22;
/** A connection that sends nothing is closed after this time. */
const FIRST_BYTE_MS = 30_000;

/** Serves both on one port: TLS connections go to the replicas, and plain http gets the page that explains https. */
function onePort(secure, plain) {
  const sockets = new Set();
  const front = createTcpServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), FIRST_BYTE_MS);
    socket.once('data', (first) => {
      clearTimeout(timer);
      socket.pause();
      socket.unshift(first);
      (first[0] === HANDSHAKE ? secure : plain).emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
    socket.once('close', () => clearTimeout(timer));
  });
  return {
    front,
    stop() {
      front.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Publishes the replicas and the broker's login on one https address of the local network, with a new certificate.
 * Resolves to `{fingerprint, leave, stop}`. `leave` takes the port of a replica that ended. Rejects in plain words.
 */
export async function startLan({ address, port, replicaPorts, brokerPort }) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-lan-'));
  let certificate;
  try {
    certificate = makeCertificate({ folder, hosts: [address] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { fingerprint256: fingerprint } = new X509Certificate(certificate.cert);
  const ports = [...replicaPorts];
  let turn = 0;
  const server = createServer({ key: certificate.key, cert: certificate.cert }, (req, res) => {
    const isLogin = brokerPort !== null && /^\/login(?:[/?]|$)/.test(req.url);
    turn = (turn + 1) % Math.max(1, ports.length);
    pass(req, res, isLogin ? [brokerPort] : [...ports.slice(turn), ...ports.slice(0, turn)]);
  });
  server.requestTimeout = 0;
  const explaining = createPlainServer(explainCertificate({ url: `https://${address}:${port}`, fingerprint }));
  const { front, stop } = onePort(server, explaining);
  front.listen(port, address);
  await once(front, 'listening');
  return {
    fingerprint,
    leave: (replicaPort) => {
      const at = ports.indexOf(replicaPort);
      if (at >= 0) ports.splice(at, 1);
    },
    stop,
  };
}
