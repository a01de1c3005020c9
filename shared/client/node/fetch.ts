import type { BatonClientOptions } from '../api.ts';

/** The size of the parts that a connection gets at a time. */
const PART_BYTES = 256 * 1024;
/** Up to this size a copy costs less than a stream, and a refusal before the end does not cost the connection. */
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
 * Calls the platform's `fetch`, for programs that send large files. The platform copies a body that it gets whole, and the
 * copies stay until memory is short. Usage: `makeBatonClient({ fetch: leanFetch, ... })`.
 */
export const leanFetch: NonNullable<BatonClientOptions['fetch']> = (url, init) => {
  const { body } = init;
  if (!(body instanceof Uint8Array) || body.length <= WHOLE_BYTES) return globalThis.fetch(url, init);
  const headers = new Headers(init.headers);
  headers.set('Content-Length', String(body.length));
  const sent = { ...init, headers, body: partsOf(body as Uint8Array<ArrayBuffer>), duplex: 'half' };
  return globalThis.fetch(url, sent);
};
