import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import type { Writable } from 'node:stream';

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
      /** The answer is held back until this resolves; the request counts as received before. */
      readonly until?: Promise<unknown>;
    };

type Response = ServerResponse | Http2ServerResponse;

const HUGE_BYTES = 67_108_864;
const CHUNK = Buffer.alloc(16_384, 'x');

/** Writes as fast as the other side takes it. Resolves to the bytes written when it took all or went away. */
async function pour(out: Writable, most: number): Promise<number> {
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
    return this.give(res, scripted);
  }

  /** Gives this answer, whatever comes next. Returns its status, 0 for none at all. */
  give(res: Response, scripted: Scripted): number {
    const { until, ...answer } = typeof scripted === 'number' ? { status: scripted } : scripted;
    const { status = 200, headers = {}, body, manner } = answer;
    if (until !== undefined) {
      void until.then(() => this.give(res, answer));
      return status;
    }
    // The two kinds of response have the same methods, with other types.
    const [out, plain] = ['stream' in res ? res.stream : res, res as ServerResponse];
    if (manner === 'silent') return 0;
    if (manner === 'reset') {
      if ('stream' in res) res.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      else res.destroy();
      return 0;
    }
    plain.writeHead(status, { ...headers, ...(manner === 'huge' && { 'content-length': String(HUGE_BYTES) }) });
    if (manner === 'stalled') plain.write('{"');
    else if (manner === 'endless' || manner === 'huge')
      this.#pours.push(pour(out, manner === 'huge' ? HUGE_BYTES : Number.POSITIVE_INFINITY));
    else plain.end(typeof body === 'object' ? JSON.stringify(body) : body);
    return status;
  }
}
