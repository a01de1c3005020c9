import { NoAnswerError } from '../errors/no-answer.ts';
import type { Wanted } from '../transfers/peer-module.ts';
import { parseWord, TELL_BYTES, WINDOW_BYTES } from './words.ts';
import type { Run } from '../transfers/transfer-run.ts';

/** No message of an honest sender is longer, and none comes when so much waits. */
const MOST_MESSAGE_BYTES = 256 * 1024;
const MOST_WAITING_BYTES = WINDOW_BYTES + MOST_MESSAGE_BYTES;

interface Fetching extends Wanted {
  /** Up to where it has come, and up to where it was taken. */
  came: number;
  took: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface FetchingParts {
  channel: RTCDataChannel;
  run: Run;
  onMisbehaved: () => void;
}

export interface Fetcher {
  fetch(wanted: Wanted): Promise<void>;
  /** A file that came this way is whole, and safe. */
  stored(index: number): void;
  /** What was wanted and has not come does not come this way. */
  end(): void;
}

const closed = (): NoAnswerError => new NoAnswerError('network', new Error('The path between the devices is closed'));

/** Asks for files over a channel, and hands on what comes, as fast as it is taken. */
export function fetchFiles({ channel, run, onMisbehaved }: FetchingParts): Fetcher {
  /** In the order in which they were wanted, which is that in which they come. */
  const wanted: Fetching[] = [];
  const waiting: { of: Fetching; bytes: Uint8Array }[] = [];
  let current: Fetching | null = null;
  let waitingBytes = 0;
  let tookBytes = 0;
  let toldBytes = 0;
  let isTaking = false;
  let isOver = false;

  function say(word: object): void {
    if (!isOver && channel.readyState === 'open') channel.send(JSON.stringify(word));
  }

  /** Whoever wanted it asks another way from where it is: what is being taken now counts. */
  function rejectAll(): void {
    for (const one of wanted.splice(0)) one.reject(closed());
  }

  function end(): void {
    isOver = true;
    waiting.length = 0;
    if (!isTaking) rejectAll();
  }

  async function takeOne({ of, bytes }: { of: Fetching; bytes: Uint8Array }): Promise<void> {
    await run.unpaused();
    if (isOver) return;
    await of.take(bytes);
    waitingBytes -= bytes.length;
    tookBytes += bytes.length;
    of.took += bytes.length;
    const isWhole = of.took === of.size;
    if (isWhole || tookBytes - toldBytes >= TELL_BYTES) {
      toldBytes = tookBytes;
      say({ say: 'took', file: of.index, at: of.took, bytes: tookBytes });
    }
    if (!isWhole) return;
    wanted.splice(wanted.indexOf(of), 1);
    of.resolve();
  }

  async function takeAll(): Promise<void> {
    if (isTaking) return;
    isTaking = true;
    for (let next = waiting.shift(); next !== undefined && !isOver; next = waiting.shift()) {
      try {
        await takeOne(next);
      } catch (error) {
        // Whoever wanted it ends the transfer.
        next.of.reject(error);
        end();
      }
    }
    isTaking = false;
    if (isOver) rejectAll();
  }

  /** False: an honest sender does not send this now. */
  function takeBytes(data: ArrayBuffer): boolean {
    if (current === null || data.byteLength === 0 || data.byteLength > MOST_MESSAGE_BYTES) return false;
    if (data.byteLength > current.size - current.came) return false;
    waitingBytes += data.byteLength;
    if (waitingBytes > MOST_WAITING_BYTES) return false;
    current.came += data.byteLength;
    waiting.push({ of: current, bytes: new Uint8Array(data) });
    if (current.came === current.size) current = null;
    void takeAll();
    return true;
  }

  function takeWord(data: unknown): boolean {
    const word = parseWord(data);
    const next = wanted.find(({ came, size }) => came < size);
    const isNext = word?.say === 'file' && current === null && next?.index === word.file && next.offset === word.at;
    if (isNext) current = next;
    return isNext;
  }

  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (isOver) return;
    const isFine = data instanceof ArrayBuffer ? takeBytes(data) : takeWord(data);
    if (!isFine) onMisbehaved();
  });

  return {
    end,
    stored: (index) => say({ say: 'stored', file: index }),
    fetch(one) {
      return new Promise((resolve, reject) => {
        if (isOver) return reject(closed());
        wanted.push({ ...one, came: one.offset, took: one.offset, resolve, reject });
        say({ say: 'want', file: one.index, at: one.offset });
      });
    },
  };
}
