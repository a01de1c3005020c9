import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';

const PATIENCE_MS = 10_000;

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Sends one request as it stands, on a connection of its own: nothing is normalised, followed or repeated.
 * `{status, headers, text, body}`; `status` is 0 when nothing came, and `failure` then says why.
 * `onOpen(response, sent)` takes the answer over as soon as its head is there. `keepOpen` leaves the request unfinished.
 */
export function makeAsk({ base, insecure }) {
  const { protocol, hostname, port } = new URL(base);
  const send = protocol === 'https:' ? overHttps : overHttp;
  return ({ method = 'GET', path, headers = {}, body, keepOpen = false, onOpen, patienceMs = PATIENCE_MS }) =>
    new Promise((resolve) => {
      const failed = (failure) => resolve({ status: 0, headers: {}, text: '', body: undefined, failure });
      const sent = send({
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port,
        method,
        path,
        headers,
        agent: false,
        rejectUnauthorized: !insecure,
      });
      const impatience = setTimeout(() => {
        failed(`no answer within ${patienceMs / 1000} s`);
        sent.destroy();
      }, patienceMs);
      sent.on('error', (error) => {
        clearTimeout(impatience);
        failed(error.message || error.code);
      });
      sent.on('response', (response) => {
        if (onOpen !== undefined) {
          clearTimeout(impatience);
          response.on('error', () => undefined);
          resolve(onOpen(response, sent));
          return;
        }
        // Of a stream that nobody asked to watch the head is the answer.
        if ((response.headers['content-type'] ?? '').startsWith('text/event-stream')) {
          clearTimeout(impatience);
          response.on('error', () => undefined);
          sent.destroy();
          resolve({ status: response.statusCode, headers: response.headers, text: '', body: undefined });
          return;
        }
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
        response.on('error', (error) => failed(error.message));
        response.on('close', () => {
          clearTimeout(impatience);
          sent.destroy();
          resolve({ status: response.statusCode, headers: response.headers, text, body: parsed(text) });
        });
      });
      if (body !== undefined) sent.write(body);
      if (keepOpen) sent.flushHeaders();
      else sent.end();
    });
}
