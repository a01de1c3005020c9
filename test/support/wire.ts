import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { ERRORS, type ErrorCode } from '../../shared/contract/errors.ts';
import type { Problem } from '../../shared/contract/vocabulary/problem.ts';

/** A request exactly as it goes over the wire: nothing is normalised, followed or repeated. */
export interface WireRequest {
  method?: string;
  /** With its query, percent-encoded as it is sent. */
  path: string;
  /** A list sends the header once for each value. Values are bytes as Latin-1: see `utf8Header`. */
  headers?: Record<string, string | string[]>;
  /** Bytes, or a value that is sent as JSON. */
  body?: unknown;
  /** Fields that are sent as a form instead. */
  form?: Record<string, string>;
  /** Sends the body in chunks, without Content-Length. */
  chunked?: boolean;
}

export interface WireAnswer {
  readonly method: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** '' for an event stream, which is closed as soon as it has begun. */
  readonly text: string;
  /** The body as JSON. */
  readonly body: unknown;
}

interface Target {
  url: string;
}

/** Returns the form in which header bytes pass through Node. */
export const utf8Header = (text: string): string => Buffer.from(text).toString('latin1');

function bytesOf(body: unknown): Buffer | null {
  if (body === undefined) return null;
  return Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Sends a request on its own connection, so that no test inherits a broken one from another. */
export function request(target: Target, { method = 'GET', path, headers, body, form, chunked }: WireRequest) {
  const bytes = form ? Buffer.from(new URLSearchParams(form).toString()) : bytesOf(body);
  const all: Record<string, string | string[]> = {
    ...(bytes !== null && { 'Content-Type': form ? 'application/x-www-form-urlencoded' : 'application/json' }),
    ...(bytes !== null && chunked !== true && { 'Content-Length': String(bytes.length) }),
    ...(chunked === true && { 'Transfer-Encoding': 'chunked' }),
    ...headers,
  };
  const { hostname, port } = new URL(target.url);
  // Keeps the connection alive, so that the server reads a refused body to its end and nobody resets the connection.
  const agent = new Agent({ keepAlive: true });
  return new Promise<WireAnswer>((resolve, reject) => {
    const sent = httpRequest({ agent, hostname, port, method, path, headers: all }, (response) => {
      const { statusCode: status = 0, headers: answered } = response;
      const finish = (text: string) => {
        agent.destroy();
        resolve({ method, status, headers: answered, text, body: parse(text) });
      };
      if (answered['content-type']?.startsWith('text/event-stream')) {
        sent.destroy();
        return finish('');
      }
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => finish(text));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(bytes ?? undefined);
  });
}

/**
 * Sends raw bytes that no client would send. Resolves to what came back until the server closed. If a server closes
 * without reading on, it resets the connection, and the response may be lost.
 */
export function sendBytes(target: Target, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(target.url);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.end(bytes));
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(received));
  });
}

/** Checks that the response is the complete problem document of this code (CONTRACT.md, "Errors"), and returns it. */
export function expectProblem(answer: WireAnswer, code: ErrorCode): Problem {
  const { status, title } = ERRORS[code];
  if (answer.method === 'HEAD') {
    expect({ status: answer.status, type: answer.headers['content-type'], text: answer.text }).toEqual({
      ...{ status, type: 'application/problem+json', text: '' },
    });
    return { code, status, title } as Problem;
  }
  const problem = answer.body as Problem;
  expect({ status: answer.status, code: problem?.code }).toEqual({ status, code });
  expect(answer.headers['content-type']).toBe('application/problem+json');
  const { errors, ...rest } = problem;
  expect(rest).toEqual({
    type: `/api/docs#error-${code}`,
    title,
    status,
    code,
    detail: expect.stringMatching(/./),
    request_id: answer.headers['x-request-id'],
  });
  for (const field of errors ?? []) expect(field).toEqual({ path: expect.any(String), message: expect.any(String) });
  if (status === 429 || status === 503) expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  return problem;
}
