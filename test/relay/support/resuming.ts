import { createReadStream, statSync } from 'node:fs';
import type { TestDevice } from '../../support/device.ts';
import { type Curl, curlDown, curlUp } from './curl.ts';

const AGAIN_MS = 60;

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** One side of a transfer. It goes on until the transfer is over, on any available replica. */
export interface Side {
  /** The running `curl`, if there is one. */
  current: Curl | null;
  done: Promise<void>;
  /** The results of its requests, in order. */
  readonly story: string[];
  stop(): void;
}

interface SideParts {
  device: TestDevice;
  transferId: string;
  /** Returns a replica that may be asked now. */
  replica: () => { url: string };
  path: string;
  size: number;
  /** More arguments for `curl`. */
  more?: string[];
}

/** Sends what is missing from the offset that the replica tells, until it is told to stop. */
export function keepSending({ device, transferId, replica, path, size }: SideParts): Side {
  let isStopped = false;
  const side: Side = { current: null, done: Promise.resolve(), story: [], stop };
  function stop(): void {
    isStopped = true;
    side.current?.kill();
  }
  const once = async () => {
    const { url } = replica();
    const { body } = await device.on({ url }).call('getTransfer', { params: { transfer_id: transferId } });
    const [upload] = body.transfer.uploads ?? [];
    if (upload === undefined || upload.offset >= size) return;
    const more = ['--max-time', '60'];
    const sending = curlUp(url + upload.upload_url, device.headers, '-', { offset: upload.offset, more });
    side.current = sending;
    const from = createReadStream(path, { start: upload.offset });
    sending.process.stdin?.on('error', () => from.destroy());
    from.pipe(sending.process.stdin as NodeJS.WritableStream);
    const { code, out } = await sending.done;
    from.destroy();
    side.story.push(`up ${upload.upload_url.slice(-2)} from ${upload.offset}: ${code} ${out.trim().slice(-200)}`);
  };
  side.done = (async () => {
    while (!isStopped) {
      await once().catch((error: unknown) => side.story.push(`up: ${String(error)}`));
      await delay(AGAIN_MS);
    }
  })();
  return side;
}

/** Runs `curl -C -` until the whole file is there. */
export function keepReceiving({ device, transferId, replica, path, size, more = [] }: SideParts): Side {
  let isStopped = false;
  const side: Side = { current: null, done: Promise.resolve(), story: [], stop };
  function stop(): void {
    isStopped = true;
    side.current?.kill();
  }
  side.done = (async () => {
    while (!isStopped && sizeOf(path) < size) {
      const url = `${replica().url}/api/relay/${transferId}/0/0`;
      const from = sizeOf(path);
      side.current = curlDown(url, device.headers, path, ['--max-time', '60', ...more]);
      const { code, out } = await side.current.done;
      side.story.push(`down from ${from} to ${sizeOf(path)}: ${code} ${out.trim().slice(-120)}`);
      if (sizeOf(path) < size) await delay(AGAIN_MS);
    }
  })();
  return side;
}
