import { BatonError } from '../../../../shared/contract/errors.ts';
import type { RelayedFile } from '../../transfers/transfers.ts';
import type { ByteRange } from '../requests/headers.ts';
import type { RelayParts } from '../relay-parts.ts';
import type { Asked, RelayRequest } from '../requests/relay-request.ts';
import { watch } from '../requests/watch.ts';
import { Download } from './download.ts';
import { type Answer, Receiver } from './receiver.ts';
import { ReceiverGone, Source } from './source.ts';

/** How long a receiver waits for a sender that was asked to go back. */
const REWIND_MS = 30_000;

/** How long a receiver waits before it asks for a rewind again after a request without effect. */
const REWIND_AGAIN_SECONDS = 5;

/**
 * The requests that read. A request that waits for an upload to begin is known only to the account, and costs a socket.
 */
export class Downloads {
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  /** Writes a part of a file to its end. Throws only before the headers were written. */
  async run(asked: Asked, wanted: { known: RelayedFile; range: ByteRange }, answer: Answer): Promise<void> {
    const { requests, store, transfers, generations, notifier, metrics, windowBytes, stallMs, scheduler } = this.#parts;
    const { asker, file } = asked;
    const { known, range } = wanted;
    const { res } = answer;
    const leave = requests.admit('down', asker.account);
    const request = notifier.newRequest(asked);
    let moved = 0;
    const onBytes = (bytes: number) => {
      moved += bytes;
      metrics.relay_bytes_total.inc({ direction: 'down' }, bytes);
    };
    const receiver = new Receiver({ answer, range, stallMs, scheduler, onBytes });
    const source = new Source({ ...this.#parts, request, known, range, isGone: () => res.destroyed });
    const { size } = known;
    const download = new Download({ request, res, size, source, receiver, store, notifier, windowBytes });
    const running = {
      asker,
      file,
      bufferedBytes: () => res.writableLength,
      waitsSinceMs: () => download.waitsSinceMs,
      notify: () => download.notify(),
      end: (error: BatonError) => {
        download.stop(error);
        if (receiver.hasBegun) res.destroy();
      },
    };
    const unwatch = watch({
      request,
      role: 'receiver',
      generations,
      transfers,
      end: running.end,
      moved: () => moved,
      renewPlace: () => source.renew(),
      everyMs: Math.min(stallMs, store.idleMs / 4),
    });
    try {
      await requests.during('down', running, async () => {
        try {
          await this.#pass(request, { download, source, size });
          return undefined;
        } catch (error) {
          return this.#fail(error, receiver, res);
        }
      });
    } finally {
      unwatch();
      leave();
      this.#leave(request);
    }
  }

  async #pass(
    { file }: RelayRequest,
    { download, source, size }: { download: Download; source: Source; size: number },
  ) {
    const { generations, onFailure } = this.#parts;
    if (!(await download.run(REWIND_MS))) {
      const again = { retryAfterSeconds: REWIND_AGAIN_SECONDS };
      throw new BatonError('range_not_available', 'The sender was asked for these bytes, and did not come', again);
    }
    if (!download.isComplete) return;
    const delivered = generations.delivered(file, source.generation, size);
    await delivered.catch((error: unknown) => onFailure('relay delivered', error));
  }

  /**
   * Cuts a response that has begun: the receiver goes on from what it has. Returns the error. If the response has not
   * begun and the receiver is still there, throws the error instead.
   */
  #fail(error: unknown, { hasBegun }: Receiver, res: Answer['res']): unknown {
    const isGone = error instanceof ReceiverGone;
    if (!hasBegun && !isGone) throw error;
    res.destroy();
    const isExpected = isGone || (error instanceof BatonError && error.code !== 'internal');
    if (!isExpected) this.#parts.onFailure('relay download', error);
    return error;
  }

  #leave(request: RelayRequest): void {
    const { store } = this.#parts;
    // A failure does little harm: the next request notifies one that is gone, or a reservation stays for some minutes.
    store.leave(request, 'r').catch(() => undefined);
    store.unread(request).catch(() => undefined);
  }
}
