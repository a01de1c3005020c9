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
 * Makes a function that sends one request unchanged, on its own connection. Nothing is normalised, followed or repeated.
 * It resolves to `{status, headers, text, body}`. `status` is 0 when no response came, and `failure` then says why.
 * `onOpen(response, sent)` takes over the response when its head has come. `keepOpen` leaves the request unfinished.
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
        // If nobody watches a stream, its head is the response.
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
