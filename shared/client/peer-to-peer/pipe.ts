/** Chromium throws near 16 MB of unsent bytes. These limits keep the connections busy and memory small. */
const PAUSE_ABOVE_BYTES = 2 * 1024 * 1024;
const GO_ON_AT_BYTES = 512 * 1024;

/** The two directions of an open path: words are text, and come as text. */
export interface Pipe {
  /** The most bytes of a file that a message may have. */
  readonly messageBytes: number;
  /** False while enough bytes wait to be sent. */
  readonly isReady: boolean;
  /** Sends a message. It copies the bytes. A message for a closed path is dropped. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Hands on each message in order, and tells when the pipe is ready for more. */
  listen(take: (data: unknown) => void, onReady: () => void): void;
}

/** The limits of unsent bytes of each of `count` channels. */
export function limitsOf(count: number): { pauseAbove: number; goOnAt: number } {
  const pauseAbove = PAUSE_ABOVE_BYTES / count;
  return { pauseAbove, goOnAt: Math.min(GO_ON_AT_BYTES, pauseAbove / 2) };
}

/** Makes a pipe of one channel, as every version of this protocol has it. */
export function plainPipe(channel: RTCDataChannel, messageBytes: number): Pipe {
  const { pauseAbove, goOnAt } = limitsOf(1);
  channel.bufferedAmountLowThreshold = goOnAt;
  return {
    messageBytes,
    get isReady() {
      return channel.bufferedAmount <= pauseAbove;
    },
    send(data) {
      if (channel.readyState === 'open') channel.send(data as Uint8Array<ArrayBuffer>);
    },
    listen(take, onReady) {
      channel.addEventListener('bufferedamountlow', onReady);
      channel.addEventListener('message', ({ data }: MessageEvent<unknown>) =>
        take(data instanceof ArrayBuffer ? new Uint8Array(data) : data),
      );
    },
  };
}
