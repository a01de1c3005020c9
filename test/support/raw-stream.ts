import { once } from 'node:events';
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

/** An event stream as raw bytes, for what a client does not show: `retry:`, ids, the end. */
export interface RawStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Resolves to everything received, once it matches. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves to everything received, once the server has ended the stream. */
  ended(): Promise<string>;
  close(): void;
}

/** The same as for recorded streams. */
const PATIENCE_MS = 40_000;

const open = new Set<ClientRequest>();

/** Closes all raw streams. For `afterEach`. */
export function closeRawStreams(): void {
  for (const sent of open) sent.destroy();
  open.clear();
}

export async function openRawStream(
  replica: { url: string },
  headers: Record<string, string>,
  query = '',
): Promise<RawStream> {
  const sent = request(`${replica.url}/api/hub/events${query}`, { headers, agent: false });
  open.add(sent);
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  // When the client or the server breaks the stream, `ended` and `until` report it.
  sent.on('error', () => undefined);
  response.on('error', () => undefined);
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const signal = () => AbortSignal.timeout(PATIENCE_MS);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    async until(pattern) {
      const limit = signal();
      while (!pattern.test(text)) await once(response, 'data', { signal: limit });
      return text;
    },
    async ended() {
      if (!response.readableEnded) await once(response, 'end', { signal: signal() });
      return text;
    },
    close: () => sent.destroy(),
  };
}
