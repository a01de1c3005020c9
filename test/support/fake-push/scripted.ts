import type { ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import type { Writable } from 'node:stream';

/** A response that replaces the right one. A number is only a status. */
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
      /** Holds the response back until this resolves. The request already counts as received. */
      readonly until?: Promise<unknown>;
    };

type Response = ServerResponse | Http2ServerResponse;

const HUGE_BYTES = 67_108_864;
const CHUNK = Buffer.alloc(16_384, 'x');

/** Writes as fast as the other side reads. Resolves to the bytes written when it has read all or gone away. */
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

/** The responses that a fake is told to give, and the bytes that it has poured out. */
export class Script {
  readonly #queue: Scripted[] = [];
  readonly #pours: Promise<number>[] = [];

  /** Sets the next responses, in this order. */
  next(...answers: Scripted[]): void {
    this.#queue.push(...answers);
  }

  /** Resolves to the bytes of `huge` and `endless` bodies that were written before the other side had enough. */
  async poured(): Promise<number> {
    const each = await Promise.all(this.#pours);
    return each.reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Takes and gives the next response. Returns its status, 0 for no response, null when none was set. */
  play(res: Response): number | null {
    const scripted = this.#queue.shift();
    if (scripted === undefined) return null;
    return this.give(res, scripted);
  }

  /** Gives this response, whatever comes next. Returns its status, 0 for no response. */
  give(res: Response, scripted: Scripted): number {
    const { until, ...answer } = typeof scripted === 'number' ? { status: scripted } : scripted;
    const { status = 200, headers = {}, body, manner } = answer;
    if (until !== undefined) {
      void until.then(() => this.give(res, answer));
      return status;
    }
    // The two kinds of response have the same methods with different types.
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
