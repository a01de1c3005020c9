import { isKeyProblem } from '../../../shared/client/sealing/key-problems.ts';
import { blobSource, type FileSource, type OutgoingTransfer } from '../../../shared/client/index.ts';
import { tellPreparing } from '../../../shared/client/transfers/preparing.ts';
import type { Parts } from '../engine/parts.ts';
import type { FilesItem } from '../history/database.ts';
import type { Held } from '../locks.ts';
import { stateOf } from '../history/history.ts';
import type { ChosenFile } from './choosing.ts';
import { digestFile, digested } from './digesting.ts';
import { filePieces } from './file-pieces.ts';
import { sealedPieces } from './sealed-pieces.ts';
import { laneOf } from '../outbox/file-lanes.ts';
import { keepOffered, keptSources } from '../outbox/kept-sources.ts';
import { makeLanes } from '../outbox/lanes.ts';
import { makePatience } from '../outbox/patience.ts';
import type { Queue, Waiting } from '../outbox/queue.ts';
import { failureOf, isTooOld, verdictOf } from '../outbox/verdict.ts';
import type { RunningFiles } from './running-files.ts';
import { resumeFiles, wayTo } from './ways.ts';

/** Low, because a browser opens six connections to one origin, and the stream has one of them. */
export const CONCURRENCY = 2;
/** Files up to this size fit in the relay, and may wait there for an absent receiver. */
const SMALL_BYTES = 8 * 1024 * 1024;

/** Returns sources whose bytes are read, digested and sealed outside the page where possible. */
const sourcesOf = (
  files: readonly ChosenFile[],
  onRead: (index: number, bytes: number) => void = () => {},
): FileSource[] =>
  files.map(({ file, name }, index) => ({
    ...blobSource(file, name),
    digest: (signal) => digestFile(file, signal, (bytes) => onRead(index, bytes)),
    pieces: () => filePieces(file),
    sealedPieces: (parts) => sealedPieces(file, parts),
  }));

/** Ends an item without sending it, unless it was offered meanwhile. */
const end = (queue: Queue, id: string, state: 'failed' | 'cancelled', error: string): Promise<void> =>
  queue.settle(id, (item) => {
    if (item.kind === 'files' && item.ref === '') Object.assign(item, { state, error });
  });

/** Notes the offer, and what protects it. False: the user has cancelled it meanwhile. */
async function noteOffer(
  queue: Queue,
  id: string,
  transfer: OutgoingTransfer,
  about: Pick<FilesItem, 'lock' | 'fileKey'>,
): Promise<boolean> {
  let isWanted = false;
  await queue.settle(id, (one) => {
    if (one.kind !== 'files') return;
    isWanted = one.state !== 'cancelled';
    Object.assign(one, { ...about, ref: transfer.id, error: null });
    if (one.state === 'preparing') one.state = stateOf(transfer.transfer);
  });
  return isWanted;
}

/** Decides what follows when files could not be offered. */
function makeFailures({ queue, readiness }: Parts) {
  const patience = makePatience(queue);

  /** Returns how long to wait before the next try; null when there is none. */
  async function failed(waiting: Waiting, error: unknown): Promise<number | null> {
    const failure = failureOf(error);
    if (isKeyProblem(failure)) return patience.wait(waiting.id, [waiting.id], failure.code);
    if (failure.outcome === 'none') await queue.release(waiting);
    const verdict = verdictOf(failure);
    if (failure.code === 'aborted') await end(queue, waiting.id, 'cancelled', failure.code);
    else if (verdict === 'refused') await end(queue, waiting.id, 'failed', failure.code);
    else {
      readiness.askFirst();
      const reason = verdict === 'stop' ? 'signed_out' : readiness.truthOf(failure.code);
      return patience.wait(waiting.id, [waiting.id], reason, failure.retryAfterMs);
    }
    return null;
  }

  return { patience, failed };
}

const sent = (item: FilesItem): void => {
  Object.assign(item, { state: 'done' } satisfies Partial<FilesItem>);
};

interface Attempt {
  waiting: Waiting;
  item: FilesItem;
  files: readonly ChosenFile[];
  /** The lock of the lane. */
  held: Held;
}

/** Offers the waiting files, one attempt at a time. `letGo` is called with the id of an item that the receiver has. */
function makeOffers(parts: Parts, running: RunningFiles, letGo: (itemId: string) => void) {
  const { client, entry, history, queue, readiness, tabs } = parts;
  /** Aborts the making of digests, which happens before there is a transfer to cancel. */
  const preparing = new Map<string, AbortController>();
  const { patience, failed } = makeFailures(parts);

  /** Makes an offer. Resolves when it is made, or is no longer wanted. */
  async function offer({ waiting, item, files, held: lane }: Attempt, signal: AbortSignal) {
    const way = await wayTo(parts, item);
    await queue.tell([item.id], null);
    const to = { device_id: item.thread };
    const told = tellPreparing(client, to, { files: files.length, totalBytes: item.totalBytes });
    // The report ends with the cancelling, even if reading stops later.
    signal.addEventListener('abort', told.end, { once: true });
    let transfer: OutgoingTransfer;
    let about: Parameters<typeof noteOffer>[3] = {};
    try {
      const bar = running.prepare(item, told.read);
      const sources = await digested(sourcesOf(files, bar.read), signal).finally(bar.end);
      const ready = await way.ready(waiting, sources);
      const held = await queue.hold(item.id, entry.deviceId, ready.envelope);
      if (held === null) return;
      about = ready.about;
      await readiness.requireSession();
      // Another tab leads, and offers them, because this one was frozen for a while.
      if (!(await lane.isOurs()) || !(await tabs.stillLeads())) return;
      transfer = await ready.send({
        ...{ concurrency: CONCURRENCY, signal, idempotencyKey: held.key, retries: 0 },
        ...(ready.bytes <= SMALL_BYTES && { offlineMs: null }),
      });
    } finally {
      told.end();
    }
    running.follow(item.id, transfer, (one) => {
      letGo(one.id);
      sent(one);
    });
    if (await noteOffer(queue, item.id, transfer, about)) {
      await keepOffered(history, item, transfer.id, files);
    } else await transfer.cancel();
    await history.sources.forget(item.id);
  }

  return {
    stop: (id: string): void => preparing.get(id)?.abort(),

    /** Returns how long to wait before the next try; null when there is none. */
    async attempt(one: Attempt): Promise<number | null> {
      const { waiting, item } = one;
      const reason = await readiness.look();
      if (reason !== null) return patience.wait(item.id, [item.id], reason);
      const stopping = new AbortController();
      preparing.set(item.id, stopping);
      try {
        await offer(one, stopping.signal);
        patience.worked(item.id);
        return null;
      } catch (error) {
        return await failed(waiting, error);
      } finally {
        preparing.delete(item.id);
      }
    },
  };
}

/**
 * Returns the next item of a lane that was not tried yet. The line is read again, because the user may change its order.
 */
async function nextOf({ history, queue }: Parts, lane: string, tried: ReadonlySet<string>) {
  for (const waiting of await queue.all()) {
    if (waiting.kind !== 'files' || tried.has(waiting.id)) continue;
    const item = await history.item(waiting.id);
    if (item?.kind !== 'files') await queue.remove(waiting.id);
    else if (laneOf(item) === lane) return { waiting, item };
  }
  return null;
}

/** Sends the waiting files, and resumes what another page of this browser was sending. */
export function makeSendingFiles(parts: Parts, running: RunningFiles) {
  const { entry, history, queue, tabs } = parts;
  /** The chosen files until the receiver has them, as long as this page is open. */
  const inHand = new Map<string, readonly ChosenFile[]>();
  /** Transfers that are about to run here. */
  const resuming = new Set<string>();
  const offers = makeOffers(parts, running, (itemId) => inHand.delete(itemId));

  async function step(waiting: Waiting, item: FilesItem, held: Held): Promise<number | null> {
    if (isTooOld(waiting, entry.deviceId)) {
      await end(queue, item.id, 'failed', 'maybe_sent');
      return null;
    }
    const files = inHand.get(item.id) ?? (await keptSources(history, item));
    if (typeof files !== 'string') return offers.attempt({ waiting, item, files, held });
    // The item waits for the user, and blocks no other.
    await queue.tell([item.id], `${files}_again`);
    return null;
  }

  async function work(lane: string, held: Held): Promise<number | null> {
    const tried = new Set<string>();
    for (let next = await nextOf(parts, lane, tried); next !== null; next = await nextOf(parts, lane, tried)) {
      if (!(await held.isOurs()) || !(await tabs.stillLeads())) return null;
      tried.add(next.waiting.id);
      const waitMs = await step(next.waiting, next.item, held);
      if (waitMs !== null) return waitMs;
    }
    return null;
  }

  const lanes = makeLanes(`baton-outbox-files-${entry.userId}`, work);

  async function run(id: string): Promise<void> {
    const item = await history.item(id);
    if (item?.kind === 'files') void lanes.run(laneOf(item));
  }

  return {
    isWaiting: queue.has,

    /** Sends the files that a tab chose; null: the kept ones. */
    async send(itemId: string, files: readonly ChosenFile[] | null): Promise<void> {
      if (files !== null) inHand.set(itemId, files);
      await run(itemId);
    },

    /** Sends all waiting files. */
    async sendAll(): Promise<void> {
      if (!tabs.isLeading.value) return;
      for (const { id, kind } of await queue.all()) if (kind === 'files') await run(id);
    },

    /** Stops an item before it is offered. */
    async stop(itemId: string): Promise<void> {
      offers.stop(itemId);
      await end(queue, itemId, 'cancelled', 'aborted');
      await history.sources.forget(itemId);
    },

    async goOn(transferId: string, files: readonly ChosenFile[]): Promise<void> {
      const item = await history.byRef(transferId);
      if (item?.kind !== 'files' || running.has(transferId)) return;
      // The user may choose its files again while the app resumes it by itself.
      if (!(await tabs.stillLeads()) || running.has(transferId) || resuming.has(transferId)) return;
      resuming.add(transferId);
      try {
        const transfer = await resumeFiles(parts, item, sourcesOf(files), { concurrency: CONCURRENCY });
        running.follow(item.id, transfer, sent);
      } finally {
        resuming.delete(transferId);
      }
    },
  };
}
