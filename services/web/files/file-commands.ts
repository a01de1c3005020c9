import { isKeyProblem } from '../../../shared/client/sealing/key-problems.ts';
import {
  BatonClientError,
  type IncomingTransfer,
  type OpenSink,
  type Transfer,
  type TransferFile,
} from '../../../shared/client/index.ts';
import type { Parts } from '../engine/parts.ts';
import { isPassing } from '../engine/repeated.ts';
import type { FilesItem } from '../history/database.ts';
import { errorOf, stateOf } from '../history/history.ts';
import { forgetOrphan, keptSources } from '../outbox/kept-sources.ts';
import { failureOf, verdictOf } from '../outbox/verdict.ts';
import { tellOfArrival, tellOfOffer } from '../push/telling.ts';
import { keyState } from '../sealing/key-state.ts';
import { isAlways } from './always.ts';
import { dropArchives, keptFile, openKept, removeKept, whyNoFiles } from './kept-files.ts';
import { makeOpeningFiles } from './opening-files.ts';
import { codeOf, makeChange, makeRunningFiles, type RunningFiles } from './running-files.ts';
import { CONCURRENCY, makeSendingFiles } from './sending-files.ts';

const isUnfinished = ({ state }: FilesItem): boolean => ['preparing', 'offered', 'active'].includes(state);

/** Tells whether files in this state move no more. */
const isEnd = (state: FilesItem['state']): boolean => !['offered', 'active'].includes(state);

/** The states of files that this browser has received, or does not want. */
const OVER = ['done', 'cancelled', 'refused'];

const received = (item: FilesItem): void => {
  Object.assign(item, { state: 'done', kept: 'here' } satisfies Partial<FilesItem>);
};

/** Takes files that are offered to this device. */
function makeReceivingFiles(parts: Parts, running: RunningFiles, onTransfer: (transfer: Transfer) => Promise<void>) {
  const { client, entry, history, tabs } = parts;
  const change = makeChange({ history });
  /** The offers with the names of their senders. */
  const offers = new Map<string, IncomingTransfer>();
  const opened = async (offer: IncomingTransfer, lock: FilesItem['lock']): Promise<void> => {
    offers.set(offer.id, offer);
    await history.offered(offer.transfer, lock);
    // Anybody could have written what is not encrypted, so the user of a browser with keys is asked.
    const isTrusted = lock !== 'open' && (await isAlways(history, offer.transfer.sender.device_id));
    if (offer.isAccepted || isTrusted) await accept(offer.id).catch(() => {});
    else tellOfOffer(offer.transfer);
  };
  const opening = makeOpeningFiles(parts, opened, (transfer) => {
    offers.delete(transfer.transfer_id);
    return onTransfer(transfer);
  });

  async function find(transferId: string): Promise<IncomingTransfer> {
    if (!offers.has(transferId)) await opening.open(await client.transfers.incoming(transferId));
    const found = offers.get(transferId);
    if (found === undefined) throw new BatonClientError('cannot_open', 'Not opened', { action: 'tell-user' });
    return found;
  }

  /** Tells the service the end of a transfer once more. Its store lost that end with its primary. */
  async function endAgain(item: FilesItem, offer: IncomingTransfer): Promise<void> {
    if (item.state !== 'done') return void (await client.transfers.cancel(offer.id));
    const isHere = async ({ index, size }: TransferFile) =>
      (await keptFile(entry.userId, offer.id, index))?.size === size;
    // Files that were saved and removed cannot be read again.
    if (!(await Promise.all((offer.transfer.files ?? []).map(isHere))).every(Boolean)) return;
    offer.accept((file, signal) => openKept(entry.userId, offer.id, file, signal)).done.catch(() => {});
  }

  async function accept(transferId: string): Promise<void> {
    const why = await whyNoFiles();
    if (why !== null) throw new BatonClientError(why, 'No file system', { action: 'tell-user' });
    // Without this request a browser that runs out of space may delete the stored files.
    void navigator.storage.persist?.().catch(() => false);
    const offer = await find(transferId);
    if (running.has(transferId)) return;
    const item = await history.offered(offer.transfer);
    if (item.kind === 'files' && OVER.includes(item.state)) return endAgain(item, offer);
    const open: OpenSink = (file, signal) => openKept(entry.userId, transferId, file, signal);
    // Another tab receives them, because this one was frozen for a while. Or this one does: the user may accept them while they
    // are accepted without asking.
    if (!(await tabs.stillLeads()) || running.has(transferId)) return;
    const taking = offer.accept(open, { concurrency: CONCURRENCY });
    running.follow(item.id, taking, received);
    if (item.kind === 'files') taking.done.then(() => tellOfArrival(offer.transfer, item)).catch(() => {});
    await change(item.id, (one) => {
      if (one.state === 'offered') one.state = 'active';
    });
  }

  return {
    accept,
    refuse: async (transferId: string): Promise<void> =>
      (offers.get(transferId) ?? (await client.transfers.incoming(transferId))).reject(),
    onOffer: opening.open,
    onEnd: (transfer: Transfer): void => {
      offers.delete(transfer.transfer_id);
      opening.forget(transfer);
    },
  };
}

type Sending = ReturnType<typeof makeSendingFiles>;

/** Keeps the history in step with the transfers of the service. */
function makeComparing({ client, entry, history }: Parts, running: RunningFiles, sending: Sending) {
  const change = makeChange({ history });

  /** Applies the service's state of a transfer to the history. A transfer that runs here reports its own end. */
  async function onTransfer(transfer: Transfer): Promise<void> {
    const id = transfer.transfer_id;
    const item = await history.byRef(id);
    const state = stateOf(transfer);
    const isOver = isEnd(state);
    if (item?.kind !== 'files' || item.state === state || item.state === 'done') return;
    // A transfer that runs here may be offered anew after the store lost a step.
    if (running.has(id) && (isOver || state === 'offered')) return;
    // The event may have been under way when the transfer ended.
    if (!isOver && !isUnfinished(item)) return;
    await change(item.id, (one) => {
      one.state = state;
      one.error = errorOf(transfer, one.isMine);
      if (isOver) delete one.fileKey;
    });
    if (!isOver || item.isMine || item.kept !== 'nothing') return;
    // A worker may still write the file. Removing the item removes it too.
    await removeKept(entry.userId, id).catch(() => {});
  }

  /** Finds how a transfer that was not over went on while this browser was away. */
  async function lookAgain({ id, ref }: FilesItem): Promise<void> {
    if (running.has(ref) || (ref === '' && (await sending.isWaiting(id)))) return;
    const end = (error: string) =>
      change(id, (one) => {
        // It may have been offered, or have ended, meanwhile.
        if (one.ref === ref && isUnfinished(one)) Object.assign(one, { state: 'failed', error });
      });
    if (ref === '') return end('interrupted');
    try {
      await onTransfer(await client.transfers.get(ref));
    } catch (error) {
      if (codeOf(error) !== 'not_found') throw error;
      await end('transfer_gone');
    }
  }

  return { onTransfer, lookAgain };
}

/**
 * Finds what a notification is about, and resolves to false if there is nothing to show. The stream does not tell a page
 * that has just begun about files that are no longer offered, so they come to the history here.
 */
async function findNotified(
  { client, entry, history, keys }: Parts,
  onOffer: (offer: IncomingTransfer) => Promise<void>,
  transferId: string,
): Promise<boolean> {
  if ((await history.byRef(transferId)) !== undefined) return true;
  try {
    const transfer = await client.transfers.get(transferId);
    const state = stateOf(transfer);
    if (transfer.receiver.device_id !== entry.deviceId || state === 'done') return false;
    if (!isEnd(state)) await onOffer(await client.transfers.incoming(transferId));
    // The service no longer has what opens their names.
    else if ((transfer.sealed ?? null) !== null) await history.offered(transfer, 'waits');
    else await history.offered(transfer, (await keys.ifKeyed()) === null ? undefined : 'open');
    return true;
  } catch (error) {
    const failure = failureOf(error);
    if (verdictOf(failure) === 'refused') return false;
    throw failure;
  }
}

/** Makes the commands of the leading tab for files. */
export function makeFileCommands(parts: Parts) {
  const { client, history, readiness, tabs } = parts;
  const running = makeRunningFiles(parts);
  const sending = makeSendingFiles(parts, running);
  const { onTransfer, lookAgain } = makeComparing(parts, running, sending);
  const receiving = makeReceivingFiles(parts, running, onTransfer);

  async function cancel(itemId: string): Promise<void> {
    const item = await history.item(itemId);
    if (item === undefined) return;
    if (item.ref === '') return sending.stop(itemId);
    const handle = running.get(item.ref);
    if (handle === undefined) await client.transfers.cancel(item.ref);
    else await handle.cancel();
  }

  tabs.command('find', (transferId: string) => findNotified(parts, receiving.onOffer, transferId));
  tabs.command('send-files', sending.send);
  const sendAll = (): void => void sending.sendAll().catch(() => {});
  readiness.watch(sendAll);
  // Calls it at once, too.
  keyState.subscribe(sendAll);
  tabs.command('accept', receiving.accept);
  tabs.command('refuse', receiving.refuse);
  tabs.command('cancel', cancel);
  tabs.command('pause', (transferId: string) => running.steer(transferId, 'pause'));
  tabs.command('resume', (transferId: string) => running.steer(transferId, 'resume'));
  tabs.command('go-on', sending.goOn);

  return {
    onOffer: receiving.onOffer,
    async onTransfer(transfer: Transfer): Promise<void> {
      if (isEnd(stateOf(transfer))) receiving.onEnd(transfer);
      await onTransfer(transfer);
    },

    /**
     * Resumes what this browser was sending when it was closed, as far as it still has the files, and learns how everything
     * else that is not over went on. What runs here is left alone. Rejects when the service could not be asked about one of
     * them; the next call goes on with that one.
     */
    async goOn(): Promise<void> {
      const failures: unknown[] = [];
      for (const transferId of await history.sources.all()) {
        if (await forgetOrphan(history, transferId)) continue;
        const item = await history.byRef(transferId);
        // The outbox sends files that are not offered yet.
        if (item?.kind !== 'files') continue;
        if (!isUnfinished(item)) {
          await history.sources.forget(transferId);
          continue;
        }
        const here = await keptSources(history, item);
        // The user has to allow it, or to choose them again.
        if (typeof here === 'string') continue;
        await sending.goOn(transferId, here).catch(async (error: unknown) => {
          const failure = failureOf(error);
          if (verdictOf(failure) === 'refused' && !isKeyProblem(failure)) await history.sources.forget(transferId);
          else failures.push(failure);
        });
      }
      for (const item of await history.unfinished()) {
        await lookAgain(item).catch((error: unknown) => void failures.push(failureOf(error)));
      }
      const taken = (await history.withBytes(null)).map(({ ref }) => ref);
      await dropArchives(parts.entry.userId, taken);
      const passing = failures.find(isPassing);
      if (passing !== undefined) throw passing;
    },
  };
}
