import { type Dispatcher, request } from 'undici';

/** The longest error of a provider has some 500 bytes. */
const MOST_BYTES = 4_096;
/** The time limit for the body of a response after its status has arrived. */
const BODY_MS = 1_000;

export interface ProviderAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** At most 4 KiB. It is cut short if the body was longer or did not come in time. */
  readonly body: string;
}

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string | Buffer;
  dispatcher: Dispatcher;
  signal: AbortSignal;
}

async function readSome(body: Dispatcher.ResponseData['body']): Promise<string> {
  const tooSlow = setTimeout(() => body.destroy(), BODY_MS);
  const chunks: Buffer[] = [];
  try {
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      // Leaving the loop closes the connection.
      if (bytes >= MOST_BYTES) break;
    }
  } catch {
    // Only the status matters, so a body that broke off is cut short.
  } finally {
    clearTimeout(tooSlow);
  }
  return Buffer.concat(chunks).subarray(0, MOST_BYTES).toString('utf8');
}

/** Sends one request and follows no redirect. Rejects when no status comes. */
export async function post({ url, headers, body, dispatcher, signal }: Post): Promise<ProviderAnswer> {
  const answer = await request(url, { method: 'POST', headers, body, dispatcher, signal });
  const retryAfter = answer.headers['retry-after'];
  return {
    status: answer.statusCode,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
    body: await readSome(answer.body),
  };
}
