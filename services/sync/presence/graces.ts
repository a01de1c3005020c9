import type { LocalStreams } from '../streams/local-streams.ts';
import type { Stream } from '../streams/stream/stream.ts';

/** Accounts that wait to be reconciled when a grace is over, and which of their devices that is for. */
export class Graces {
  readonly #streams: Pick<LocalStreams, 'find'>;
  /** Devices whose streams here have ended, and when the grace of the latest is over; null: whoever is back. */
  readonly #waiting = new Map<string, Map<string, number> | null>();

  constructor(streams: Pick<LocalStreams, 'find'>) {
    this.#streams = streams;
  }

  /** A stream of this device has closed: its grace ends in so many ms. */
  begin({ account, device }: Pick<Stream, 'account' | 'device'>, inMs: number): void {
    const devices = this.#waiting.get(account);
    const endsAtMs = performance.now() + inMs;
    if (devices === undefined) this.#waiting.set(account, new Map([[device, endsAtMs]]));
    else devices?.set(device, endsAtMs);
  }

  /** The account is to be reconciled for more than these devices, or nobody knows for which. */
  insist(account: string): void {
    this.#waiting.set(account, null);
  }

  /**
   * A grace may be over. Null: the account has to be reconciled now. Else the ms after which to ask again; 0: never, since
   * each of the devices has an open stream here again, and the store its route. So it is online, as the attach of that
   * stream has announced where it was not known.
   */
  leftMs(account: string): number | null {
    const devices = this.#waiting.get(account) ?? null;
    for (const { device, readySent, isOver } of this.#streams.find(account)?.streams ?? []) {
      if (readySent && !isOver) devices?.delete(device);
    }
    const leftMs = devices === null ? 0 : Math.min(...devices.values()) - performance.now();
    if (devices !== null && devices.size > 0 && leftMs > 0) return leftMs;
    this.#waiting.delete(account);
    return devices?.size === 0 ? 0 : null;
  }
}
