import { timeOrderedId } from '../../../shared/service-kit/random-id.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { type InitTransfer, isFinal } from '../../../shared/contract/modules/transfers.ts';
import { checkSealed } from '../../../shared/service-kit/sealed-text.ts';
import type { Operation } from '../../../shared/service-kit/operation.ts';
import { tellSeveral } from '../devices/several-names.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import { packFiles } from './file-list.ts';
import { findFileFlaws } from './file-names.ts';
import { makeListing } from './listing.ts';
import type { FileOf, PhaseReport, StoredTransfer, TransferAction, TransferStore } from './store.ts';
import { headOf, viewFor } from './view.ts';

/** A file as the relay needs it. */
export interface RelayedFile {
  role: 'sender' | 'receiver';
  state: string;
  relayInUse: boolean;
  name: string;
  size: number;
  /** Generation in the relay; null before its first byte. */
  generation: number | null;
  /** Offset at which that generation began; the size once the receiver has all of the file. */
  base: number;
}

type Generations = ReadonlyMap<number, number>;

const generationsOf = ({ generations }: Pick<StoredTransfer, 'generations'>): Generations =>
  new Map([...generations].map(([index, { generation }]) => [index, generation]));

interface TransfersParts {
  store: TransferStore;
  isDeadChannel: (channel: string) => boolean;
  /** Called when a transfer has come to this state from another one. */
  onState: (state: string) => void;
  /** Drops the files of an ended transfer from the relay. May be repeated. */
  dropRelayed: (account: string, transferId: string, generations: Generations) => Promise<void>;
  /** Returns the offsets of the uploads in the relay, without files of which it has nothing. */
  relayOffsets: (transferId: string, generations: Generations) => Promise<ReadonlyMap<number, number>>;
  onFailure: (task: string, error: unknown) => void;
}

/** Transfers that are read at once when a device is signed out. */
const PAGE = 50;

const SEALED = { field: 'sealed', most: LIMITS.sealedBytes, tooLong: { code: 'body_too_large' } } as const;

function checkInit({ files, sealed }: InitTransfer): void {
  if (sealed !== undefined) checkSealed(sealed, SEALED);
  const errors = findFileFlaws(files);
  const [first] = errors;
  if (first) throw new BatonError('invalid_request', `${first.path} ${first.message}`, { errors });
}

/** Names the target in `invalid_request` of the store, which means that the target is the device itself. */
function namingTarget({ to }: InitTransfer, error: unknown): unknown {
  if (!(error instanceof BatonError && error.code === 'invalid_request')) return error;
  const flaw = { path: to === undefined ? '/body/to_device_id' : '/body/to', message: 'is the device itself' };
  return new BatonError('invalid_request', `${flaw.path} ${flaw.message}`, { errors: [flaw] });
}

/**
 * Makes the rules of transfers of files between two devices of an account: who offers which files to whom, and how far
 * each transfer is. The bytes go elsewhere. Transfers are passed on as JSON, as the store has them.
 */
export function makeTransfers(parts: TransfersParts) {
  const { store, isDeadChannel, onState, dropRelayed, relayOffsets, onFailure } = parts;
  const waiting = new Map<string, NodeJS.Timeout>();

  /** Drops an ended transfer from the relay. If this fails, the relay drops the rest when its time is over. */
  function onEnded(account: string, transferId: string, stored: Pick<StoredTransfer, 'generations'>): void {
    const failed = (error: unknown) => onFailure('relay cleanup', error);
    dropRelayed(account, transferId, generationsOf(stored)).catch(failed);
  }

  /** Forwards the newest phase of a transfer in `inMs`, with one timer for each transfer. */
  function forwardLater({ account, deviceId }: DeviceCaller, transferId: string, inMs: number): void {
    if (waiting.has(transferId)) return;
    const forward = async () => {
      waiting.delete(transferId);
      const { waitMs } = await store.tell(account, deviceId, transferId, { phase: null });
      if (waitMs > 0) forwardLater({ account, deviceId }, transferId, waitMs);
    };
    const timer = setTimeout(() => {
      forward().catch((error: unknown) => {
        // The transfer ended meanwhile, and an event carried its last state.
        if (!(error instanceof BatonError && error.status < 500)) onFailure('forward phase', error);
      });
    }, inMs);
    waiting.set(transferId, timer);
  }

  /**
   * Returns the view of a transfer with the offset of each upload in the relay. When the relay's store is away, that is
   * the offset at which the generation began.
   */
  async function shownTo(deviceId: string, transferId: string, stored: StoredTransfer): Promise<string> {
    const { state, sender } = headOf(stored);
    const uploads = stored.relayInUse && stored.files !== null && sender.device_id === deviceId;
    if (!uploads || isFinal(state)) return viewFor(deviceId, stored);
    const offsets = await relayOffsets(transferId, generationsOf(stored)).catch(() => new Map<number, number>());
    return viewFor(deviceId, stored, offsets);
  }

  return {
    /**
     * Offers files. `isOnline` is exact at this moment: a live stream on a live replica, without the grace of presence.
     */
    async init(
      { account, deviceId }: DeviceCaller,
      wanted: InitTransfer,
      { operation, isGuest }: { operation: Operation; isGuest: boolean },
    ) {
      checkInit(wanted);
      const transferId = timeOrderedId();
      const offer = {
        target: wanted.to === undefined ? `=${wanted.to_device_id}` : `~${wanted.to}`,
        transferId,
        files: packFiles(wanted.files),
        sealed: wanted.sealed ?? null,
        isGuest,
        operation,
      };
      const { stored, receiver, routes } = await store
        .init(account, deviceId, offer)
        .catch(tellSeveral)
        .catch((error: unknown) => {
          throw namingTarget(wanted, error);
        });
      // A repeated request is answered with the transfer of the first one.
      if (headOf(stored).transfer_id === transferId) onState('PENDING');
      const isOnline = routes.some(({ channel, device }) => device === receiver && !isDeadChannel(channel));
      return { transfer: viewFor(deviceId, stored), isOnline };
    },

    async act(
      { account, deviceId }: DeviceCaller,
      transferId: string,
      action: TransferAction,
      { phase, reason }: { phase?: string | undefined; reason?: string | undefined } = {},
    ): Promise<string> {
      const codes: Partial<Record<TransferAction, string>> = {
        fail: 'failed',
        cancel: 'cancelled',
        reject: 'rejected',
      };
      const code = codes[action] === undefined ? undefined : (reason ?? phase ?? codes[action]);
      const error = code === undefined ? null : { code, detail: null, by_device_id: deviceId };
      const { stored, isNew } = await store.act(account, { deviceId, transferId, action, phase, error });
      const { state } = headOf(stored);
      if (isNew) onState(state);
      const transfer = await shownTo(deviceId, transferId, stored);
      if (isFinal(state)) onEnded(account, transferId, stored);
      return transfer;
    },

    /** Records a report, which is forwarded at most four times a second over all replicas together. The newest wins. */
    async tell(actor: DeviceCaller, transferId: string, report: PhaseReport): Promise<string> {
      const { stored, waitMs } = await store.tell(actor.account, actor.deviceId, transferId, report);
      if (waitMs > 0) forwardLater(actor, transferId, waitMs);
      return viewFor(actor.deviceId, stored);
    },

    /** Renews the time of a transfer for the relay, because no phase may come while bytes pass. */
    async keep({ account, deviceId }: DeviceCaller, { transferId }: FileOf): Promise<void> {
      await store.tell(account, deviceId, transferId, { phase: null });
    },

    /**
     * Records that the receiver has stored a file of the relay up to here. This is progress, and is forwarded like a
     * phase.
     */
    async acknowledged(actor: DeviceCaller, { transferId, index }: FileOf, bytes: number): Promise<void> {
      const report = { phase: null, acknowledged: { index, bytes } };
      const { waitMs } = await store.tell(actor.account, actor.deviceId, transferId, report);
      if (waitMs > 0) forwardLater(actor, transferId, waitMs);
    },

    async get({ account, deviceId }: DeviceCaller, transferId: string): Promise<string> {
      return shownTo(deviceId, transferId, await store.read(account, deviceId, transferId));
    },

    /** Reads a file for the relay. Throws `not_found`, `not_a_party`. */
    relayFile: ({ account, deviceId }: DeviceCaller, file: FileOf): Promise<RelayedFile> =>
      store.file(account, deviceId, file),

    beginGeneration: store.beginGeneration,
    rewindGeneration: store.rewindGeneration,
    notifySender: store.notifySender,
    setDelivered: store.setDelivered,

    ...makeListing(store),

    /** Ends every live transfer of a device that was signed out, and clears its list. May be repeated. */
    async cancelAllOf(account: string, deviceId: string): Promise<void> {
      for (let after = ''; ; ) {
        const page = await store.list(account, deviceId, after, PAGE);
        for (const entry of page) await cancelListed({ account, deviceId }, entry);
        await store.unlist(account, deviceId, page);
        if (page.length < PAGE) return;
        after = page.at(-1) as string;
      }
    },

    /**
     * Removes all transfers of an account and their files in the relay; cancels live ones first. Throws when some may
     * be left; then it has to be repeated.
     */
    async eraseAll(account: string): Promise<void> {
      for (const transferId of await store.all(account)) {
        const stored = await cancelled(account, transferId);
        if (stored !== null) await dropRelayed(account, transferId, generationsOf(stored));
        await store.erase(account, transferId);
      }
    },

    /** Runs the job of a transfer whose time is over. */
    async expire(account: string, job: string): Promise<void> {
      const transferId = job.slice('transfer:'.length);
      const expired = await store.expire(account, transferId);
      if (expired?.wasLive) onState('FAILED');
      if (expired) onEnded(account, transferId, expired);
    },

    stop(): void {
      for (const timer of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };

  async function cancel(account: string, deviceId: string, transferId: string, error: object): Promise<StoredTransfer> {
    const { stored, isNew } = await store.act(account, { deviceId, transferId, action: 'cancel', error });
    if (isNew) onState('CANCELLED');
    return stored;
  }

  /** Cancels a live transfer; resolves to the ended transfer, or null when it is gone. */
  async function cancelled(account: string, transferId: string): Promise<StoredTransfer | null> {
    const error = { code: 'erased', detail: null, by_device_id: null };
    try {
      return await cancel(account, '', transferId, error);
    } catch (refusal) {
      if (refusal instanceof BatonError && refusal.code === 'not_found') return null;
      throw refusal;
    }
  }

  async function cancelListed({ account, deviceId }: DeviceCaller, entry: string): Promise<void> {
    const transferId = entry.slice(entry.indexOf('-') + 1);
    const error = { code: 'device_removed', detail: null, by_device_id: null };
    try {
      onEnded(account, transferId, await cancel(account, deviceId, transferId, error));
    } catch (refusal) {
      // The transfer has ended, or is gone.
      if (!(refusal instanceof BatonError && refusal.status < 500)) throw refusal;
    }
  }
}

export type Transfers = ReturnType<typeof makeTransfers>;
