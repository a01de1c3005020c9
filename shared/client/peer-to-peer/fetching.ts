import { NoAnswerError } from '../errors/no-answer.ts';
import type { Wanted } from '../transfers/peer-module.ts';
import type { Pipe } from './pipe.ts';
import { MOST_MESSAGE_BYTES, parseWord, TELL_BYTES, WINDOW_BYTES } from './words.ts';
import type { Run } from '../transfers/transfer-run.ts';

/** An honest sender sends none while this many bytes wait. */
const MOST_WAITING_BYTES = WINDOW_BYTES + MOST_MESSAGE_BYTES;

interface Fetching extends Wanted {
  /** The offset up to which bytes came, and the offset up to which they were taken. */
  came: number;
  took: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

interface FetchingParts {
  pipe: Pipe;
  run: Run;
  onMisbehaved: () => void;
}

export interface Fetcher {
  fetch(wanted: Wanted): Promise<void>;
  /** Tells the sender that a file that came this way is stored safely. */
  stored(index: number): void;
  /** Rejects the wanted files that have not come. */
  end(): void;
}

const closed = (): NoAnswerError => new NoAnswerError('network', new Error('The path between the devices is closed'));

/** Asks for files over a pipe, and hands on the bytes as fast as they are taken. */
export function fetchFiles({ pipe, run, onMisbehaved }: FetchingParts): Fetcher {
  /** The wanted files in the order of the requests, in which they also come. */
  const wanted: Fetching[] = [];
  const waiting: { of: Fetching; bytes: Uint8Array }[] = [];
  let current: Fetching | null = null;
  let waitingBytes = 0;
  let tookBytes = 0;
  let toldBytes = 0;
  let isTaking = false;
  let isOver = false;

  function say(word: object): void {
    if (!isOver) pipe.send(JSON.stringify(word));
  }

  /** Rejects all wanted files. Each is requested another way from its offset, which includes the bytes being taken now. */
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
        // The caller ends the transfer.
        next.of.reject(error);
        end();
      }
    }
    isTaking = false;
    if (isOver) rejectAll();
  }

  /** Takes bytes. False: an honest sender does not send them now. */
  function takeBytes(bytes: Uint8Array): boolean {
    if (current === null || bytes.length === 0 || bytes.length > MOST_MESSAGE_BYTES) return false;
    if (bytes.length > current.size - current.came) return false;
    waitingBytes += bytes.length;
    if (waitingBytes > MOST_WAITING_BYTES) return false;
    current.came += bytes.length;
    waiting.push({ of: current, bytes });
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

  function take(data: unknown): void {
    if (isOver) return;
    const isFine = data instanceof Uint8Array ? takeBytes(data) : takeWord(data);
    if (!isFine) onMisbehaved();
  }
  pipe.listen(take, () => {});

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
