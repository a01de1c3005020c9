import { setTimeout as wait } from 'node:timers/promises';
import type { leanFetch } from '../../../shared/client/node.ts';
import { usageError } from '../failure.ts';

type Fetch = typeof leanFetch;

/** The size of the parts that leave at once. Small, so that a slow line does not see bursts. */
const PART_BYTES = 16 * 1024;
/** A piece of 512 KiB must leave within the 90 s that the library gives it, even with several receivers. */
const LEAST_BYTES_PER_SECOND = 32 * 1024;

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Reads a rate such as `500K` or `2M`, in bytes per second. Throws a usage error for any other text. */
export function bytesPerSecondOf(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([KMG]?)$/i.exec(text) ?? [];
  const rate = Math.floor(Number(number) * (UNITS[unit.toUpperCase()] as number));
  if (number !== '' && rate >= LEAST_BYTES_PER_SECOND && Number.isSafeInteger(rate)) return rate;
  throw usageError('--limit-rate takes bytes per second, at least 32K: 500K, 2M, 1G.');
}

/**
 * Makes a `fetch` that sends the bytes of files no faster than `bytesPerSecond`, all requests together. Requests with
 * other bodies are not slowed down. Time in which nothing is sent cannot be made up for later.
 */
export function limitedFetch(bytesPerSecond: number): Fetch {
  let freeAtMs = 0;

  async function take(bytes: number): Promise<void> {
    const now = performance.now();
    const startMs = Math.max(now, freeAtMs);
    freeAtMs = startMs + (bytes / bytesPerSecond) * 1_000;
    if (startMs > now) await wait(startMs - now);
  }

  function partsOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const part = bytes.subarray(at, at + PART_BYTES);
          at += part.length;
          if (part.length === 0) return controller.close();
          await take(part.length);
          controller.enqueue(part);
        },
      },
      { highWaterMark: 0 },
    );
  }

  return (url, init) => {
    const { body } = init;
    if (!(body instanceof Uint8Array)) return globalThis.fetch(url, init);
    const headers = new Headers(init.headers);
    headers.set('Content-Length', String(body.length));
    const sent = { ...init, headers, body: partsOf(body as Uint8Array<ArrayBuffer>), duplex: 'half' };
    return globalThis.fetch(url, sent);
  };
}
