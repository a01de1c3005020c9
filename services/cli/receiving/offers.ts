import type { BatonClient, IncomingTransfer, Transfer } from '../../../shared/client/index.ts';
import type { Opener } from './opening.ts';
import { looksOf } from '../../../shared/contract/vocabulary/device-names.ts';

/** The waiting offers, oldest first. Offers of connected senders come before the others, which may bring nothing. */
export interface Offers {
  /** Removes and returns the next offer that `isFit`. */
  next(isFit?: (offer: IncomingTransfer) => boolean): IncomingTransfer | undefined;
  /** Opens an offer, and puts it after the others. */
  add(offer: IncomingTransfer): void;
  /** Puts an opened offer after the others, because it is not taken now. */
  putBack(offer: IncomingTransfer): void;
  /** Puts an offer before the others. */
  putFirst(offer: IncomingTransfer): void;
  isThere(offer: IncomingTransfer): boolean;
  /** Returns a signal that aborts when the transfer is over, so that the user is no longer asked about it. */
  signalOf(id: string): AbortSignal;
}

const ENDED = ['DONE', 'FAILED', 'CANCELLED'];

/** Tells whether the device has this name. A name that looks the same counts, unless several devices have such names. */
export function isNamed(
  baton: BatonClient,
  { name, device_id: id }: Pick<Transfer['sender'], 'name' | 'device_id'>,
  wanted: string,
): boolean {
  if (name === wanted || id === wanted) return true;
  const alike = baton.devices.presence.filter((entry) => looksOf(entry.name) === looksOf(wanted));
  return looksOf(name) === looksOf(wanted) && alike.length <= 1;
}

/**
 * Collects offers; only those of `from` if it is given. `open` opens an offer, and returns null for one that is not taken.
 * `onChange`: an offer may be taken now.
 */
export function offersOf(
  baton: BatonClient,
  from: string | undefined,
  { open, onChange }: { open: Opener['open']; onChange: () => void },
): Offers {
  let waiting: IncomingTransfer[] = [];
  const ends = new Map<string, AbortController>();

  const isThere = ({ transfer: { sender } }: IncomingTransfer) =>
    baton.devices.presence.some(({ device_id: id, online }) => online && id === sender.device_id);

  const endOf = (id: string): AbortController => {
    const known = ends.get(id) ?? new AbortController();
    ends.set(id, known);
    return known;
  };

  /** Opens one offer after the other, so that they stay in their order. */
  let opening: Promise<void> = Promise.resolve();
  async function take(offer: IncomingTransfer): Promise<void> {
    const opened = await open(offer);
    if (opened === null || endOf(offer.id).signal.aborted) return;
    waiting.push(opened);
    onChange();
  }
  function add(offer: IncomingTransfer): void {
    opening = opening.then(() => take(offer));
  }

  baton.on('incoming', (offer) => {
    const { sender } = offer.transfer;
    if (from === undefined || isNamed(baton, sender, from)) add(offer);
  });
  baton.on('transfer', ({ transfer_id: id, state }) => {
    if (!ENDED.includes(state)) return;
    waiting = waiting.filter((offer) => offer.id !== id);
    endOf(id).abort();
  });
  baton.on('presence', onChange);

  return {
    next(isFit = () => true) {
      const fit = waiting.filter(isFit);
      const found = fit.find(isThere) ?? fit[0];
      waiting = waiting.filter((offer) => offer !== found);
      return found;
    },
    add,
    putBack: (offer) => void waiting.push(offer),
    putFirst: (offer) => void waiting.unshift(offer),
    isThere,
    signalOf: (id) => endOf(id).signal,
  };
}
