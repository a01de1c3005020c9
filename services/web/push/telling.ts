import type { Message, Transfer } from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import type { FilesItem } from '../history/database.ts';
import { isRefused } from '../history/history.ts';
import { serverNow } from '../server-time.ts';
import { registerWorker } from './registration.ts';

/*
 * The service pushes no message that an open page has taken. If nobody looks at the page, the leading tab tells the service
 * worker, which shows the message like a push.
 */

/** The service has pushed a message that is older than this and was not acknowledged (contract, "message"). */
const PUSHED_AFTER_MS = 15_000;
/** How long the service puts off the push of an offer to a device with a stream (services/sync/push/README.md). */
const OFFER_PUSHED_AFTER_MS = 300_000;

interface Said {
  type: 'message' | 'transfer' | 'arrived';
  id: string;
  from: string;
  count: number;
  text?: string;
}

const isSeen = (): boolean => document.visibilityState === 'visible' && document.hasFocus();

function tell(said: Said): void {
  if (isSeen()) return;
  void registerWorker().then((worker) => worker?.active?.postMessage({ type: 'tell', said: { v: 1, ...said } }));
}

const isOlderThan = (ms: number, at: number): boolean => serverNow() - at > ms;

/** Tells of a message that this browser has taken and opened. */
export async function tellOfMessage(
  { history }: Pick<Parts, 'history'>,
  { message_id: id, from_name: from, created_at: at }: Message,
): Promise<void> {
  if (isSeen() || isOlderThan(PUSHED_AFTER_MS, at)) return;
  const item = await history.byRef(id);
  if (item?.kind === 'message' && !isRefused(item)) tell({ type: 'message', id, from, count: 1, text: item.text });
}

/** Tells of files that wait for an answer of the user. */
export function tellOfOffer({ transfer_id: id, sender, created_at: at }: Transfer): void {
  if (!isOlderThan(OFFER_PUSHED_AFTER_MS, at)) tell({ type: 'transfer', id, from: sender.name, count: 1 });
}

/** Tells of files that have arrived. */
export function tellOfArrival(
  { transfer_id: id, sender }: Transfer,
  { fileCount }: Pick<FilesItem, 'fileCount'>,
): void {
  tell({ type: 'arrived', id, from: sender.name, count: fileCount });
}
