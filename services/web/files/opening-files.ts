import type { IncomingTransfer, Transfer } from '../../../shared/client/index.ts';
import { shared } from '../engine/shared-state.ts';
import type { Parts } from '../engine/parts.ts';
import type { FilesItem } from '../history/database.ts';
import { failureOf } from '../outbox/verdict.ts';
import { keyState } from '../sealing/key-state.ts';
import { makeChange } from './running-files.ts';

/** After this time a service or a browser that did not respond is asked again. */
const RETRY_MS = 5_000;

type Found =
  | { kind: 'opened'; offer: IncomingTransfer; lock: FilesItem['lock'] }
  /** It cannot be opened now. `isSoon`: only because the service or the browser did not respond. */
  | { kind: 'waits'; isSoon: boolean }
  /** It can never be opened here; the code says why. */
  | { kind: 'refused'; code: string };

/** Judges why an offer is not opened. Keys that are gone do not come back: others take their place. */
function judged(error: unknown): Found {
  const { action, code } = failureOf(error);
  return code === 'keys_lost' ? { kind: 'refused', code } : { kind: 'waits', isSoon: action === 'retry' };
}

async function find(keys: Parts['keys'], offer: IncomingTransfer): Promise<Found> {
  const sealing = await keys.ifKeyed();
  if ((offer.transfer.sealed ?? null) === null) {
    return { kind: 'opened', offer, lock: sealing === null ? undefined : 'open' };
  }
  if (sealing === null) return { kind: 'refused', code: 'cannot_open' };
  const found = await sealing.openOffer(offer);
  if (found.kind === 'opened') return { ...found, lock: 'sealed' };
  if (found.kind === 'waits') return judged(found.problem);
  if (found.kind === 'refused') return { kind: 'refused', code: found.problem.code };
  return { ...found, kind: 'opened', lock: 'open' };
}

/** One opening of an offer, and the end of the offer if it came meanwhile. */
interface Opening {
  readonly id: string;
  ended: Transfer | null;
}

/**
 * Opens the offers to this browser before its user sees them. `onOpened` gets each one that can be taken, and its
 * protection, which is missing if this browser has no keys. `onEnded` gets each one that ended while it was opened.
 */
export function makeOpeningFiles(
  { client, history, keys }: Parts,
  onOpened: (offer: IncomingTransfer, lock: FilesItem['lock']) => Promise<void>,
  onEnded: (transfer: Transfer) => Promise<void>,
) {
  const change = makeChange({ history });
  /** The offers that cannot be opened now. */
  const waiting = new Map<string, IncomingTransfer>();
  /** The openings under way: an offer may be opened twice at once. */
  const opening = new Set<Opening>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Takes an offer that can never be opened: its user sees why, and its sender is told. */
  async function refuse({ id, transfer }: IncomingTransfer, code: string): Promise<void> {
    const item = await history.offered(transfer, 'refused');
    await change(item.id, (one) => Object.assign(one, { state: 'failed', error: code }));
    // It may have ended meanwhile, and then nobody needs to be told.
    const sealing = await keys.ifKeyed();
    const told = sealing?.refuseFiles(id) ?? client.transfers.cancel(id, 'cannot_open');
    await told.catch(() => {});
  }

  async function openOnce(offer: IncomingTransfer): Promise<void> {
    const found = await find(keys, offer).catch(judged);
    waiting.delete(offer.id);
    if (found.kind === 'opened') return onOpened(found.offer, found.lock);
    if (found.kind === 'refused') return refuse(offer, found.code);
    waiting.set(offer.id, offer);
    await history.offered(offer.transfer, 'waits');
    if (!found.isSoon) return;
    clearTimeout(timer);
    timer = setTimeout(openAgain, RETRY_MS);
  }

  async function open(offer: IncomingTransfer): Promise<void> {
    const one: Opening = { id: offer.id, ended: null };
    opening.add(one);
    await openOnce(offer).finally(() => opening.delete(one));
    if (one.ended === null) return;
    // The history now has the offer as it was before its end.
    waiting.delete(offer.id);
    await onEnded(one.ended);
  }

  function openAgain(): void {
    for (const offer of waiting.values()) void open(offer).catch(() => {});
  }

  let known = '';
  shared.subscribe(({ ringNumber, connection }) => {
    const now = `${ringNumber} ${connection === 'online'}`;
    if (now !== known) openAgain();
    known = now;
  });
  keyState.subscribe(openAgain);

  return {
    open,
    /** Forgets an offer that has ended. */
    forget(transfer: Transfer): void {
      waiting.delete(transfer.transfer_id);
      for (const one of opening) if (one.id === transfer.transfer_id) one.ended = transfer;
    },
  };
}
