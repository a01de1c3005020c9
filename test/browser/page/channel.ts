/** Larger messages do not work between all browsers (RFC 8831, section 6.6, and what browsers announce). */
const MESSAGE_BYTES = 64 * 1024;
/** Chromium throws near 16 MB of unsent bytes. This limit keeps the wire busy and memory small. */
const PAUSE_ABOVE_BYTES = 2 * 1024 * 1024;
const GO_ON_AT_BYTES = 512 * 1024;

export interface Sent {
  /** The largest `bufferedAmount` that was seen. */
  readonly mostBufferedBytes: number;
  /** How often the sender waited for the channel. */
  readonly pauses: number;
}

export interface Received {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The time from the first message to the last one, in milliseconds. */
  readonly tookMs: number;
}

/** Resolves at the next event of this name. Rejects when the channel closes before. */
function nextOn(channel: RTCDataChannel, name: 'bufferedamountlow'): Promise<void> {
  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    const { signal } = settled;
    const settle = (done: () => void) => () => {
      settled.abort();
      done();
    };
    channel.addEventListener(name, settle(resolve), { signal });
    channel.addEventListener(
      'close',
      settle(() => reject(new Error('The data channel closed'))),
      { signal },
    );
  });
}

/**
 * Hands everything to an open channel, no faster than the channel takes it. The bytes may still be on their way
 * afterwards.
 */
export async function sendBytes(channel: RTCDataChannel, bytes: Uint8Array<ArrayBuffer>): Promise<Sent> {
  channel.bufferedAmountLowThreshold = GO_ON_AT_BYTES;
  let mostBufferedBytes = 0;
  let pauses = 0;
  for (let at = 0; at < bytes.length; at += MESSAGE_BYTES) {
    if (channel.bufferedAmount > PAUSE_ABOVE_BYTES) {
      pauses += 1;
      await nextOn(channel, 'bufferedamountlow');
    }
    channel.send(bytes.subarray(at, at + MESSAGE_BYTES));
    mostBufferedBytes = Math.max(mostBufferedBytes, channel.bufferedAmount);
  }
  return { mostBufferedBytes, pauses };
}

/** Resolves once `length` bytes came. Rejects when more came, or when the channel closes before. */
export function receiveBytes(channel: RTCDataChannel, length: number): Promise<Received> {
  const bytes = new Uint8Array(length);
  let at = 0;
  let startedAt = 0;
  return new Promise((resolve, reject) => {
    channel.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
      if (at === 0) startedAt = performance.now();
      if (at + data.byteLength > length) return reject(new Error(`More than the ${length} bytes that were announced`));
      bytes.set(new Uint8Array(data), at);
      at += data.byteLength;
      if (at === length) resolve({ bytes, tookMs: performance.now() - startedAt });
    });
    channel.addEventListener('close', () => reject(new Error(`The data channel closed after ${at} bytes`)));
  });
}
