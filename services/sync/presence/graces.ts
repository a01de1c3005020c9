import type { LocalStreams } from '../streams/local-streams.ts';
import type { Stream } from '../streams/stream/stream.ts';

/** Accounts that wait to be reconciled when a grace is over, and which of their devices that is for. */
export class Graces {
  readonly #streams: Pick<LocalStreams, 'find'>;
  /** Devices whose streams here have ended; null: it is reconciled whoever is back. */
  readonly #waiting = new Map<string, Set<string> | null>();

  constructor(streams: Pick<LocalStreams, 'find'>) {
    this.#streams = streams;
  }

  /** A stream of this device has closed. */
  begin({ account, device }: Pick<Stream, 'account' | 'device'>): void {
    const devices = this.#waiting.get(account);
    if (devices === undefined) this.#waiting.set(account, new Set([device]));
    else devices?.add(device);
  }

  /** The account is to be reconciled for more than these devices, or nobody knows for which. */
  insist(account: string): void {
    this.#waiting.set(account, null);
  }

  /**
   * The wait is over. True: nothing has to be reconciled, since each of the devices has an open stream here again, and the
   * store its route. So it is online, as the attach of that stream has announced where it was not known.
   */
  endNeedless(account: string): boolean {
    const devices = this.#waiting.get(account) ?? null;
    this.#waiting.delete(account);
    if (devices === null) return false;
    for (const { device, readySent, isOver } of this.#streams.find(account)?.streams ?? []) {
      if (readySent && !isOver) devices.delete(device);
    }
    return devices.size === 0;
  }
}
