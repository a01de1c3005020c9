import type { BatonClient, IncomingTransfer, Transfer } from '../../../shared/client/index.ts';
import { looksOf } from '../../../shared/contract/vocabulary/device-names.ts';

/**
 * The offers that wait to be taken, oldest first. One whose sender is connected goes before one whose sender is not: that one
 * may bring nothing.
 */
export interface Offers {
  /** The next one, when there is one that `isFit`. */
  next(isFit?: (offer: IncomingTransfer) => boolean): IncomingTransfer | undefined;
  /** It is not taken here now, and comes behind the others. */
  putBack(offer: IncomingTransfer): void;
  /** It is the next one. */
  putFirst(offer: IncomingTransfer): void;
  isThere(offer: IncomingTransfer): boolean;
  /** Aborted when it is over: nobody need be asked any more. */
  signalOf(id: string): AbortSignal;
}

const ENDED = ['DONE', 'FAILED', 'CANCELLED'];

/** A name that looks the same is the same, unless several devices have such names. */
export function isNamed(
  baton: BatonClient,
  { name, device_id: id }: Pick<Transfer['sender'], 'name' | 'device_id'>,
  wanted: string,
): boolean {
  if (name === wanted || id === wanted) return true;
  const alike = baton.devices.presence.filter((entry) => looksOf(entry.name) === looksOf(wanted));
  return looksOf(name) === looksOf(wanted) && alike.length <= 1;
}

/** Those of `from` alone where it is said. `onChange`: something may be taken now. */
export function offersOf(baton: BatonClient, from: string | undefined, onChange: () => void): Offers {
  let waiting: IncomingTransfer[] = [];
  const ends = new Map<string, AbortController>();

  const isThere = ({ transfer: { sender } }: IncomingTransfer) =>
    baton.devices.presence.some(({ device_id: id, online }) => online && id === sender.device_id);

  const endOf = (id: string): AbortController => {
    const known = ends.get(id) ?? new AbortController();
    ends.set(id, known);
    return known;
  };

  baton.on('incoming', (offer) => {
    const { sender } = offer.transfer;
    if (from !== undefined && !isNamed(baton, sender, from)) return;
    waiting.push(offer);
    onChange();
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
    putBack: (offer) => void waiting.push(offer),
    putFirst: (offer) => void waiting.unshift(offer),
    isThere,
    signalOf: (id) => endOf(id).signal,
  };
}
