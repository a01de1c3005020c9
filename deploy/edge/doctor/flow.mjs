import { connect as overTcp } from 'node:net';
import { connect as overTls } from 'node:tls';

/*
 * Checks whether bytes pass as they come, and for long enough.
 */

const READY_MS = 5_000;
const EARLY_ANSWER_MS = 5_000;
const LONG_POLL_MS = 25_000;
const HALF_HEADER_MS = 30_000;

/** Watches a stream: when `ready` came, and whether a ping, silence or its end followed. */
function watchStream({ ask, session }) {
  const started = Date.now();
  return ask({
    path: '/api/hub/events?name=Doctor',
    headers: { ...session, 'Accept-Encoding': 'gzip, br' },
    onOpen: (response, sent) =>
      new Promise((resolve) => {
        const seen = { status: response.statusCode, headers: response.headers, readyMs: null };
        let [text, timer] = ['', null];
        const finish = (how) => {
          clearTimeout(timer);
          sent.destroy();
          resolve({ ...seen, how, text });
        };
        timer = setTimeout(() => finish('silent'), READY_MS);
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
          if (seen.readyMs === null && /^event: ready$/m.test(text)) {
            seen.readyMs = Date.now() - started;
            clearTimeout(timer);
            const heartbeatMs = Number(/"heartbeat_ms":(\d+)/.exec(text)?.[1] ?? 15_000);
            timer = setTimeout(() => finish('silent'), 1.5 * heartbeatMs + 2_000);
          }
          if (/^event: ping$/m.test(text)) finish('pinged');
        });
        response.on('close', () => finish('cut'));
      }),
  });
}

async function probeStream({ ask, session, report }) {
  const stream = await watchStream({ ask, session });
  if (stream.status !== 200) {
    report(false, 'the event stream opens', [stream.failure ?? `answered ${stream.status}`]);
    return;
  }
  const encoding = stream.headers['content-encoding'];
  report(encoding === undefined, 'the event stream is not compressed', [`Content-Encoding: ${encoding}`]);
  report(stream.readyMs !== null, 'the event stream is not buffered', [
    `nothing of it came within ${READY_MS / 1000} s: switch response buffering off`,
  ]);
  if (stream.readyMs === null) return;
  report(stream.how === 'pinged', 'the event stream outlives a heartbeat', [
    stream.how === 'cut'
      ? 'it was cut before the first ping: its read timeout must be five heartbeats'
      : 'the ping did not pass: something holds it back',
  ]);
}

/** The replica refuses this request without reading its body. An edge that collects bodies first stays silent. */
async function probeUpload({ ask, session, report }) {
  const headers = { ...session, 'Content-Type': 'text/plain', 'Content-Length': '1000' };
  const early = await ask({
    method: 'POST',
    path: '/api/message',
    headers,
    body: 'x',
    keepOpen: true,
    patienceMs: EARLY_ANSWER_MS,
  });
  report(early.status !== 0 && early.status < 500, 'request bodies are not collected first', [
    `${early.failure ?? `answered ${early.status}`} while the body was on its way: switch request buffering off`,
  ]);
  const path = '/api/relay/01920000-0000-7000-8000-000000000001/0/1';
  const large = { ...session, 'Content-Type': 'application/partial-upload', 'Content-Length': String(2 ** 33) };
  const { status } = await ask({ method: 'PATCH', path, headers: large, body: 'x', keepOpen: true });
  report(status !== 413, 'an upload may have any size', ['answered 413: take the limit of the body away']);
}

/** Checks the longest response that is waited for on purpose. */
async function probeLongPoll({ ask, report }) {
  const what = 'a long poll of 25 s is waited for';
  const body = JSON.stringify({ device_name: 'Doctor', device_type: 'browser' });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
  const begun = await ask({ method: 'POST', path: '/api/auth/qr/start', headers, body });
  if (begun.status !== 201) {
    report(null, what, [`no sign-in could be begun (${begun.status} ${begun.body?.code ?? ''})`]);
    return;
  }
  const { request_id: id, poll_secret: secret } = begun.body;
  const polled = await ask({
    path: `/api/auth/qr/status?request_id=${id}&wait_ms=${LONG_POLL_MS}`,
    headers: { 'X-Poll-Secret': secret },
    patienceMs: LONG_POLL_MS + 10_000,
  });
  report(polled.status === 202, what, [
    `${polled.failure ?? `answered ${polled.status}`}: raise the read timeout above 25 s`,
  ]);
}

/** Checks that a client that begins a request and never ends it cannot hold a connection for ever. */
function probeHalfHeader({ base, insecure, report }) {
  const { protocol, hostname, port } = new URL(base);
  const host = hostname.replace(/^\[|\]$/g, '');
  const at = { host, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  const socket =
    protocol === 'https:' ? overTls({ ...at, servername: host, rejectUnauthorized: !insecure }) : overTcp(at);
  return new Promise((resolve) => {
    const finish = (ended) => {
      clearTimeout(timer);
      socket.destroy();
      report(ended || 'warn', 'half a request is not waited for', [
        `it was still open after ${HALF_HEADER_MS / 1000} s: lower the timeout of request headers`,
      ]);
      resolve();
    };
    const timer = setTimeout(() => finish(false), HALF_HEADER_MS);
    socket.on('error', () => finish(true));
    socket.on('close', () => finish(true));
    socket.resume().write(`GET / HTTP/1.1\r\nHost: ${hostname}\r\nX-Doctor: `);
  });
}

/** Runs all probes. With `quick` it leaves out those that take longer than a heartbeat. */
export async function probeFlow({ ask, base, insecure, session, quick, report }) {
  const slow = quick ? [] : [probeLongPoll({ ask, report }), probeHalfHeader({ base, insecure, report })];
  if (session === null) report(null, 'the event stream and uploads', ['need a session']);
  else await Promise.all([probeStream({ ask, session, report }), probeUpload({ ask, session, report })]);
  await Promise.all(slow);
  if (quick) report(null, 'timeouts', ['left out by --quick']);
}
