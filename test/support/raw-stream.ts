import { once } from 'node:events';
import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

/** An event stream as the bytes that come, for what a client does not show: `retry:`, ids, the end. */
export interface RawStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Everything received, once it matches. */
  until(pattern: RegExp): Promise<string>;
  /** Everything received, once the server has ended it. */
  ended(): Promise<string>;
  close(): void;
}

/** As of recorded streams. */
const PATIENCE_MS = 40_000;

const open = new Set<ClientRequest>();

/** For `afterEach`. */
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
  // Torn down by us or by the server in the middle: `ended` and `until` tell.
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
