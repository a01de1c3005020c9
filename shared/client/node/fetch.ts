import type { BatonClientOptions } from '../api.ts';

/** So much is handed to a connection at a time. */
const PART_BYTES = 256 * 1024;
/** Up to here a copy is less than a stream costs, and a refusal that comes before the end of it does not cost the connection. */
const WHOLE_BYTES = 1024 * 1024;

function partsOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = bytes.subarray(at, at + PART_BYTES);
        at += part.length;
        if (part.length > 0) controller.enqueue(part);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * The platform's `fetch`, for programs that send large files: the platform copies what it is given whole, and the copies stay
 * until memory is short. `makeBatonClient({ fetch: leanFetch, ... })`.
 */
export const leanFetch: NonNullable<BatonClientOptions['fetch']> = (url, init) => {
  const { body } = init;
  if (!(body instanceof Uint8Array) || body.length <= WHOLE_BYTES) return globalThis.fetch(url, init);
  const headers = new Headers(init.headers);
  headers.set('Content-Length', String(body.length));
  const sent = { ...init, headers, body: partsOf(body as Uint8Array<ArrayBuffer>), duplex: 'half' };
  return globalThis.fetch(url, sent);
};
