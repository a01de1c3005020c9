import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

/** An answer in place of the right one; a number is a status alone. */
export type Scripted =
  | number
  | {
      readonly status?: number;
      readonly headers?: Record<string, string>;
      readonly body?: string | object;
      /**
       * `silent`: never answers. `stalled`: headers, then nothing. `endless`: a body without end. `huge`: one of 64 MiB.
       * `reset`: breaks the connection.
       */
      readonly manner?: 'silent' | 'stalled' | 'endless' | 'huge' | 'reset';
    };

type Response = ServerResponse | Http2ServerResponse;

const HUGE_BYTES = 67_108_864;
const CHUNK = Buffer.alloc(16_384, 'x');

/** Writes as fast as the other side takes it. Resolves to the bytes written when it took all or went away. */
async function pour(res: Response, most: number): Promise<number> {
  // The two kinds of response have the same methods, with other types.
  const out = res as ServerResponse;
  let bytes = 0;
  while (bytes < most && !out.destroyed && out.writable) {
    bytes += CHUNK.byteLength;
    if (out.write(CHUNK)) await new Promise((resolve) => setImmediate(resolve));
    else
      await new Promise<void>((resolve) => {
        const go = () => {
          out.off('drain', go).off('close', go);
          resolve();
        };
        out.once('drain', go).once('close', go);
      });
  }
  if (!out.destroyed) out.end();
  return bytes;
}

/** What a fake was told to answer, and what it has poured out. */
export class Script {
  readonly #queue: Scripted[] = [];
  readonly #pours: Promise<number>[] = [];

  /** These are the next answers, in this order. */
  next(...answers: Scripted[]): void {
    this.#queue.push(...answers);
  }

  /** The bytes of `huge` and `endless` bodies that were written before the other side had enough. */
  async poured(): Promise<number> {
    const each = await Promise.all(this.#pours);
    return each.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Takes the next answer and gives it. Returns its status, 0 for none at all; null when nothing was written. */
  play(res: Response): number | null {
    const scripted = this.#queue.shift();
    if (scripted === undefined) return null;
    const answer = typeof scripted === 'number' ? { status: scripted } : scripted;
    this.#give(res as ServerResponse, answer);
    return answer.manner === 'silent' || answer.manner === 'reset' ? 0 : (answer.status ?? 200);
  }

  #give(res: ServerResponse, { status = 200, headers = {}, body, manner }: Exclude<Scripted, number>): void {
    if (manner === 'silent') return;
    if (manner === 'reset') {
      res.destroy();
      return;
    }
    res.writeHead(status, { ...headers, ...(manner === 'huge' && { 'content-length': String(HUGE_BYTES) }) });
    if (manner === 'stalled') {
      res.write('{"');
      return;
    }
    if (manner === 'endless' || manner === 'huge') {
      const most = manner === 'huge' ? HUGE_BYTES : Number.POSITIVE_INFINITY;
      this.#pours.push(pour(res, most));
      return;
    }
    res.end(typeof body === 'object' ? JSON.stringify(body) : body);
  }
}
