import type { LocalStreams } from '../streams/local-streams.ts';
import type { Stream } from '../streams/stream/stream.ts';

/** Accounts that wait to be reconciled when a grace is over, and the devices that have the grace. */
export class Graces {
  readonly #streams: Pick<LocalStreams, 'find'>;
  /**
   * Devices whose streams here have ended, and when the grace of the latest is over; null when the account is
   * reconciled even if they are back.
   */
  readonly #waiting = new Map<string, Map<string, number> | null>();

  constructor(streams: Pick<LocalStreams, 'find'>) {
    this.#streams = streams;
  }

  /** Begins the grace of a device whose stream has closed; it ends in `inMs`. */
  begin({ account, device }: Pick<Stream, 'account' | 'device'>, inMs: number): void {
    const devices = this.#waiting.get(account);
    const endsAtMs = performance.now() + inMs;
    if (devices === undefined) this.#waiting.set(account, new Map([[device, endsAtMs]]));
    else devices?.set(device, endsAtMs);
  }

  /** Makes sure that the account is reconciled, even if its devices are back. */
  insist(account: string): void {
    this.#waiting.set(account, null);
  }

  /**
   * Returns null when the account has to be reconciled now, because a grace is over. Else returns the ms after which to
   * ask again. 0 means never, because each of the devices has an open stream here again, and the store has its route.
   * Such a device is online, and the attach of that stream has announced that if it was not known.
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
