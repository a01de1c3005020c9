import { parseJson } from '../http/parse-json.ts';
import { limitsOf, type Pipe } from './pipe.ts';
import { MOST_MESSAGE_BYTES, WINDOW_BYTES } from './words.ts';

/*
 * Several channels as one pipe (services/decisions, 42). Each message is a frame:
 *
 *   kind (1 byte) | number (4) | how many frames of the other side came in order (4) | content
 *
 * A frame goes over any open channel. The receiver puts frames back into the order of their numbers. The sender keeps each
 * frame until the other side has counted it, and sends the frames of a lost channel again over those that are left.
 */

const HEADER_BYTES = 9;
const WORD = 0;
const BYTES = 1;
const SIGNAL = 2;
/** The content of a word or a signal. A description of a connection with one channel has less than 4 KiB. */
const MOST_TEXT_BYTES = 16 * 1024;
/** How far a frame may be ahead of those that came in order: a full window of the smallest messages, and as much again. */
const MOST_AHEAD = 16 * 1024;
/** Smaller frames are not worth the memory of a whole message. */
const LARGE_BYTES = 32 * 1024;
/** A sender of bytes stops this far before that limit, because words and signals do not wait. */
const AHEAD_RESERVE = 1024;

type Kind = typeof WORD | typeof BYTES | typeof SIGNAL;

export interface Bundle {
  readonly pipe: Pipe;
  /** How many channels are open. */
  readonly size: number;
  /** Lets a channel join. */
  add(channel: RTCDataChannel): void;
  /** Drops a lost channel. Its frames go over the channels that are left. */
  drop(channel: RTCDataChannel): void;
  /** Sends a signal, in order with everything else. */
  signal(about: object): void;
}

interface BundleParts {
  /** The size of the messages of every channel. */
  messageBytes: number;
  onSignal: (about: unknown) => void;
  onMisbehaved: () => void;
  /** Called after each message of bytes that is sent, with their sum. */
  onSent?: (bytes: number) => void;
}

interface Kept {
  frame: Uint8Array<ArrayBuffer>;
  on: RTCDataChannel | null;
}

interface Early {
  kind: number;
  content: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function makeBundle({ messageBytes, onSignal, onMisbehaved, onSent }: BundleParts): Bundle {
  const channels = new Set<RTCDataChannel>();
  /** Frames that the other side has not counted, in their order. */
  const kept = new Map<number, Kept>();
  const early = new Map<number, Early>();
  let earlyBytes = 0;
  /** The memory of counted frames, each of the size of a whole message. */
  const spare: ArrayBuffer[] = [];
  let nextOut = 0;
  let counted = 0;
  let nextIn = 0;
  let sentBytes = 0;
  let take: (data: unknown) => void = () => {};
  let onReady = () => {};

  /** Returns the open channel with the fewest unsent bytes. */
  function findChannel(): RTCDataChannel | null {
    let found: RTCDataChannel | null = null;
    for (const channel of channels) {
      if (channel.readyState !== 'open') continue;
      if (found === null || channel.bufferedAmount < found.bufferedAmount) found = channel;
    }
    return found;
  }

  /** Sends a kept frame. Without an open channel it waits for `drop`, or is lost with the whole path. */
  function transmit(one: Kept): void {
    const channel = findChannel();
    one.on = channel;
    new DataView(one.frame.buffer).setUint32(5, nextIn);
    channel?.send(one.frame);
  }

  /** Returns memory for a frame. That of a counted frame is filled again, because a channel copies what it sends. */
  function takeMemory(length: number): Uint8Array<ArrayBuffer> {
    if (length < LARGE_BYTES || length > messageBytes) return new Uint8Array(length);
    return new Uint8Array(spare.pop() ?? new ArrayBuffer(messageBytes), 0, length);
  }

  function post(kind: Kind, content: Uint8Array): void {
    const frame = takeMemory(HEADER_BYTES + content.length);
    frame[0] = kind;
    new DataView(frame.buffer).setUint32(1, nextOut);
    frame.set(content, HEADER_BYTES);
    const one = { frame, on: null };
    kept.set(nextOut, one);
    nextOut += 1;
    transmit(one);
  }

  /** Forgets the frames that came. False: the other side counts frames that it cannot have. */
  function count(came: number): boolean {
    if (came > nextOut) return false;
    // An older count may come later, over another channel.
    for (; counted < came; counted += 1) {
      const { frame } = kept.get(counted) as Kept;
      if (frame.buffer.byteLength === messageBytes) spare.push(frame.buffer);
      kept.delete(counted);
    }
    return true;
  }

  function isAllowed({ kind, content }: Early): boolean {
    if (kind === BYTES) return content.length > 0 && earlyBytes + content.length <= WINDOW_BYTES + MOST_MESSAGE_BYTES;
    return (kind === WORD || kind === SIGNAL) && content.length <= MOST_TEXT_BYTES;
  }

  function handOn({ kind, content }: Early): void {
    if (kind === BYTES) take(content);
    else if (kind === WORD) take(decoder.decode(content));
    else onSignal(parseJson(decoder.decode(content)));
  }

  /** Takes a frame. False: an honest side does not send it. */
  function receive(data: unknown): boolean {
    if (!(data instanceof ArrayBuffer) || data.byteLength < HEADER_BYTES) return false;
    const header = new DataView(data);
    const number = header.getUint32(1);
    const one = { kind: header.getUint8(0), content: new Uint8Array(data, HEADER_BYTES) };
    if (!count(header.getUint32(5)) || number >= nextIn + MOST_AHEAD || !isAllowed(one)) return false;
    // A frame that was sent again after its channel was lost may have come before.
    if (number < nextIn || early.has(number)) return true;
    early.set(number, one);
    earlyBytes += one.content.length;
    for (let next = early.get(nextIn); next !== undefined; next = early.get(nextIn)) {
      early.delete(nextIn);
      earlyBytes -= next.content.length;
      nextIn += 1;
      handOn(next);
    }
    return true;
  }

  function setLimits(): void {
    const { goOnAt } = limitsOf(Math.max(1, channels.size));
    for (const channel of channels) channel.bufferedAmountLowThreshold = goOnAt;
  }

  /** Sends again the frames that went over a lost channel, and those that found no channel. */
  function resend(lost: RTCDataChannel | null): void {
    for (const one of kept.values()) if (one.on === lost || one.on === null) transmit(one);
    onReady();
  }

  const pipe: Pipe = {
    messageBytes: messageBytes - HEADER_BYTES,
    get isReady() {
      const { pauseAbove } = limitsOf(Math.max(1, channels.size));
      const channel = findChannel();
      return channel !== null && channel.bufferedAmount <= pauseAbove && nextOut - counted < MOST_AHEAD - AHEAD_RESERVE;
    },
    send(data) {
      if (typeof data === 'string') return post(WORD, encoder.encode(data));
      post(BYTES, data);
      sentBytes += data.length;
      onSent?.(sentBytes);
    },
    listen(taker, ready) {
      take = taker;
      onReady = ready;
    },
  };

  return {
    pipe,
    get size() {
      return channels.size;
    },
    add(channel) {
      channels.add(channel);
      setLimits();
      channel.addEventListener('bufferedamountlow', () => onReady());
      channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
        if (channels.has(channel) && !receive(data)) onMisbehaved();
        else onReady();
      });
      resend(null);
    },
    drop(channel) {
      if (!channels.delete(channel)) return;
      setLimits();
      resend(channel);
    },
    signal: (about) => post(SIGNAL, encoder.encode(JSON.stringify(about))),
  };
}
