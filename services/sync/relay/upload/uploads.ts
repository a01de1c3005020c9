import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { MISMATCHING_OFFSET } from '../../../../shared/contract/modules/relay.ts';
import type { RelayedFile } from '../../transfers/transfers.ts';
import { readAppendHeaders } from '../requests/headers.ts';
import type { RelayParts } from '../relay-parts.ts';
import type { Asked, RelayRequest } from '../requests/relay-request.ts';
import type { Extent } from '../store.ts';
import { watch } from '../requests/watch.ts';
import { Upload } from './upload.ts';

/** How much of a file is in the store. */
export interface Progress {
  end: number;
  size: number;
}

/** The generation and the offset at which a sender goes on. */
interface Target {
  generation: number;
  offset: number;
}

/** A body that is received. */
interface Body extends Target {
  req: IncomingMessage;
  size: number;
  /** Offset up to which the receiver has taken bytes. */
  taken: number;
}

const NOT_BEGUN = { generation: 0, end: 0 };

const offsetMismatch = (expected: number, provided: number): BatonError =>
  new BatonError('offset_mismatch', `The upload goes on at ${expected}`, {
    headers: { 'Upload-Offset': String(expected) },
    members: { type: MISMATCHING_OFFSET, 'expected-offset': expected, 'provided-offset': provided },
  });

const wrongLength = (size: number): BatonError =>
  new BatonError('upload_length_mismatch', `The file was declared with ${size} bytes`);

/** Throws unless the upload goes on there. */
function checkGoesOn(present: Pick<Extent, 'generation' | 'end'>, { generation, offset }: Target): void {
  if (present.generation !== generation) throw new BatonError('upload_gone');
  if (present.end !== offset) throw offsetMismatch(present.end, offset);
}

/** The requests that send. */
export class Uploads {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** How far the upload of a generation is. Throws `upload_gone` for one that is over. */
  async progress(asked: Asked, generation: number): Promise<Progress> {
    const known = await this.#parts.generations.known(asked, 'sender');
    const present = await this.#find(asked, known);
    if (present.generation !== generation) throw new BatonError('upload_gone');
    return { end: present.end, size: known.size };
  }

  /** Takes the body of a request; resolves to how far the upload is then. */
  async append(asked: Asked, generation: number, req: IncomingMessage): Promise<Progress> {
    const { requests } = this.#parts;
    requests.checkOpen();
    const leave = requests.admit('up', asked.asker.account);
    try {
      return await this.#append(asked, generation, req);
    } finally {
      leave();
    }
  }

  async #append(asked: Asked, generation: number, req: IncomingMessage): Promise<Progress> {
    const { generations, notifier } = this.#parts;
    const known = await generations.known(asked, 'sender');
    const { size } = known;
    const { offset, completes, length } = readAppendHeaders(req);
    const target = { generation, offset };
    // A request that cannot begin leaves nothing behind.
    if (known.generation === null) checkGoesOn(NOT_BEGUN, target);
    const announced = length === null ? null : offset + length;
    if (announced !== null && (announced > size || (completes && announced < size))) {
      // The offset is checked first: if the offset is wrong, the length may be right.
      checkGoesOn(await this.#find(asked, known), target);
      throw wrongLength(size);
    }
    const request = notifier.newRequest(asked);
    const taken = await this.#enter(request, known, target);
    const end = await this.#receive(request, { req, generation, offset, size, taken });
    if (completes && end !== size) throw wrongLength(size);
    return { end, size };
  }

  /** Returns how far a file is now. Makes nothing for a file that has not begun. */
  async #find(asked: Asked, known: RelayedFile): Promise<Pick<Extent, 'generation' | 'end'>> {
    return known.generation === null ? NOT_BEGUN : this.#parts.generations.find(asked, known);
  }

  /** Begins to send; resolves to what the receiver has taken. A request without bytes takes no reservation. */
  async #enter(request: RelayRequest, known: RelayedFile, { generation, offset }: Target): Promise<number> {
    const { generations, quota } = this.#parts;
    const { file } = request;
    const { size } = known;
    // An empty file has nothing to store.
    if (size === 0) {
      checkGoesOn({ generation: known.generation ?? 0, end: 0 }, { generation, offset });
      return 0;
    }
    const hasBytes = offset < size;
    const isNew = hasBytes && (await quota.reserve(file));
    try {
      const entry = { side: 'w', from: offset, generation, keepsAlive: hasBytes } as const;
      const extent = await generations.enter(request, known, entry);
      checkGoesOn(extent, { generation, offset });
      return extent.taken;
    } catch (error) {
      if (isNew) await quota.release(file.account, [file]);
      throw error;
    }
  }

  /** Receives a body; resolves to the offset up to which the file is in the store. */
  async #receive(request: RelayRequest, body: Body): Promise<number> {
    const { store, metrics, stallMs, transfers, generations, requests } = this.#parts;
    const { asker, file } = request;
    let moved = 0;
    const onBytes = (bytes: number) => {
      moved += bytes;
      metrics.relay_bytes_total.inc({ direction: 'up' }, bytes);
    };
    const upload = new Upload({ ...this.#parts, ...body, request, onBytes });
    const running = {
      asker,
      file,
      bufferedBytes: () => upload.bufferedBytes,
      waitsSinceMs: () => null,
      notify: () => upload.notify(),
      end: (error: BatonError) => upload.stop(error),
    };
    const unwatch = watch({
      request,
      role: 'sender',
      generations,
      transfers,
      end: running.end,
      moved: () => moved,
      renewPlace: body.offset < body.size ? () => store.reserve(file) : null,
      everyMs: Math.min(stallMs, store.idleMs / 4),
    });
    await requests.during('up', running, async () => {
      try {
        await upload.run();
      } catch (error) {
        throw await this.#whyEnded(error, request, { generation: body.generation, offset: upload.end });
      } finally {
        unwatch();
        // A failure does no harm: the next request notifies a request that is gone.
        store.leave(request, 'w').catch(() => undefined);
      }
    });
    return upload.end;
  }

  /** Returns the error for a sender whose upload did not reach its end. */
  async #whyEnded(error: unknown, asked: Asked, { generation, offset }: Target): Promise<unknown> {
    if (!(error instanceof BatonError)) return error;
    if (error.code === 'window_full') {
      const headers = { 'Upload-Offset': String(offset) };
      return new BatonError('window_full', undefined, { ...error.extras, headers });
    }
    if (error.code !== 'upload_gone') return error;
    const { generations } = this.#parts;
    try {
      const extent = await generations.find(asked, await generations.known(asked, 'sender'));
      return extent.generation === generation ? offsetMismatch(extent.end, offset) : error;
    } catch (reason) {
      return reason;
    }
  }
}
