import { v7 as uuidv7 } from 'uuid';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { type InitTransfer, isFinal, type Transfer } from '../../../shared/contract/transfers.ts';
import type { Operation } from '../http/handler.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import type { OwePushes } from '../push/owing.ts';
import { findFileFlaws } from './file-names.ts';
import type { FileOf, PhaseReport, StoredTransfer, TransferAction, TransferStore } from './store.ts';

/** A file as the relay has to know it. */
export interface RelayedFile {
  role: 'sender' | 'receiver';
  state: string;
  relayInUse: boolean;
  name: string;
  size: number;
  /** Null before its first byte. */
  generation: number | null;
  /** Where that began; the size once the receiver has it all. */
  base: number;
}

type Generations = ReadonlyMap<number, number>;

const generationsOf = ({ generations }: Pick<StoredTransfer, 'generations'>): Generations =>
  new Map([...generations].map(([index, { generation }]) => [index, generation]));

interface TransfersParts {
  store: TransferStore;
  isDeadChannel: (channel: string) => boolean;
  /** Notes, before the write, that the account has something due when the transfer expires. */
  noteDue: (account: string) => Promise<void>;
  owePushes: OwePushes;
  onState: (state: string) => void;
  /** It has ended, and with it what the relay keeps of it. May be repeated. */
  dropRelayed: (account: string, transferId: string, generations: Generations) => Promise<void>;
  /** How far the uploads are in the relay; without those of which it has nothing. */
  relayOffsets: (transferId: string, generations: Generations) => Promise<ReadonlyMap<number, number>>;
  onFailure: (task: string, error: unknown) => void;
}

const PAGE = 50;

/** The transfer as one of its parties sees it: with its files, and its own side of the relay. */
function viewFor(deviceId: string, stored: StoredTransfer, offsets?: ReadonlyMap<number, number>): Transfer {
  const { openJson, files, relayInUse, generations } = stored;
  const transfer = { ...JSON.parse(`${openJson}}`), files: JSON.parse(files) } as Transfer & { files: object[] };
  if (!relayInUse) return transfer;
  const urls = transfer.files.map((_, index) => {
    const { generation, base } = generations.get(index) ?? { generation: 0, base: 0 };
    return { index, url: `/api/relay/${transfer.transfer_id}/${index}/${generation}`, base };
  });
  if (deviceId !== transfer.sender.device_id) {
    return { ...transfer, downloads: urls.map(({ index, url }) => ({ index, download_url: url })) };
  }
  const offsetOf = (index: number, base: number) => offsets?.get(index) ?? base;
  const uploads = urls.map(({ index, url, base }) => ({ index, upload_url: url, offset: offsetOf(index, base) }));
  return { ...transfer, uploads };
}

/** Lists leave long lists of files out. */
function briefly(transfer: Transfer): Transfer {
  if (transfer.file_count <= LIMITS.filesInEvents) return transfer;
  const { files: _files, uploads: _uploads, downloads: _downloads, ...brief } = transfer;
  return brief;
}

function checkInit({ files, sealed }: InitTransfer): void {
  const errors = findFileFlaws(files);
  if (sealed !== undefined && Buffer.byteLength(sealed) > LIMITS.sealedBytes) {
    errors.push({ path: '/body/sealed', message: `is over ${LIMITS.sealedBytes} bytes` });
  }
  const [first] = errors;
  if (first) throw new BatonError('invalid_request', `${first.path} ${first.message}`, { errors });
}

/** What the store has against an offer is its target: the device itself. */
function namingTarget({ to }: InitTransfer, error: unknown): unknown {
  if (!(error instanceof BatonError && error.code === 'invalid_request')) return error;
  const flaw = { path: to === undefined ? '/body/to_device_id' : '/body/to', message: 'is the device itself' };
  return new BatonError('invalid_request', `${flaw.path} ${flaw.message}`, { errors: [flaw] });
}

/** Files between two devices of an account: who offers what to whom, and how far it got. The bytes go elsewhere. */
export function makeTransfers(parts: TransfersParts) {
  const { store, isDeadChannel, noteDue, owePushes, onState, dropRelayed, relayOffsets, onFailure } = parts;
  const waiting = new Map<string, NodeJS.Timeout>();

  /** What is left of it in the relay is dropped when its time is over. */
  function onEnded(account: string, transferId: string, stored: Pick<StoredTransfer, 'generations'>): void {
    const failed = (error: unknown) => onFailure('relay cleanup', error);
    dropRelayed(account, transferId, generationsOf(stored)).catch(failed);
  }

  /** Forwards the newest phase of a transfer when its turn comes; one timer a transfer. */
  function forwardLater({ account, deviceId }: DeviceCaller, transferId: string, inMs: number): void {
    if (waiting.has(transferId)) return;
    const forward = async () => {
      waiting.delete(transferId);
      const { waitMs } = await store.tell(account, deviceId, transferId, { phase: null });
      if (waitMs > 0) forwardLater({ account, deviceId }, transferId, waitMs);
    };
    const timer = setTimeout(() => {
      forward().catch((error: unknown) => {
        // It ended meanwhile: its last state was told.
        if (!(error instanceof BatonError && error.status < 500)) onFailure('forward phase', error);
      });
    }, inMs);
    waiting.set(transferId, timer);
  }

  /** With how far each file has come in the relay; without the relay's store the transfer can still be shown. */
  async function shownTo(deviceId: string, transferId: string, stored: StoredTransfer): Promise<Transfer> {
    const view = viewFor(deviceId, stored);
    if (view.uploads === undefined || isFinal(view.state)) return view;
    const offsets = await relayOffsets(transferId, generationsOf(stored)).catch(() => new Map<number, number>());
    return viewFor(deviceId, stored, offsets);
  }

  return {
    /** `receiver_online` is exact at this moment: a live stream on a live replica, without the grace of presence. */
    async init({ account, deviceId }: DeviceCaller, wanted: InitTransfer, operation: Operation) {
      checkInit(wanted);
      const files = wanted.files.map(({ name, size, type, sha256 }, index) => ({
        ...{ index, name, size },
        ...{ type: type ?? null, sha256: sha256 ?? null },
      }));
      await noteDue(account);
      const offer = {
        target: wanted.to === undefined ? `=${wanted.to_device_id}` : `~${wanted.to}`,
        transferId: uuidv7(),
        files: JSON.stringify(files),
        fileCount: files.length,
        totalBytes: files.reduce((sum, { size }) => sum + size, 0),
        sealed: wanted.sealed ?? null,
        operation,
      };
      const { stored, receiver, routes } = await owePushes(account, (pushes) =>
        store.init(account, deviceId, offer, pushes),
      ).catch((error: unknown) => {
        throw namingTarget(wanted, error);
      });
      onState('PENDING');
      const online = routes.some(
        (device, i) => i % 2 === 1 && device === receiver && !isDeadChannel(routes[i - 1] as string),
      );
      return { transfer: viewFor(deviceId, stored), receiver_online: online };
    },

    async act(
      { account, deviceId }: DeviceCaller,
      transferId: string,
      action: TransferAction,
      { phase, reason }: { phase?: string | undefined; reason?: string | undefined } = {},
    ): Promise<Transfer> {
      const codes: Partial<Record<TransferAction, string>> = {
        fail: 'failed',
        cancel: 'cancelled',
        reject: 'rejected',
      };
      const code = codes[action] === undefined ? undefined : (reason ?? phase ?? codes[action]);
      const error = code === undefined ? null : { code, detail: null };
      const stored = await store.act(account, { deviceId, transferId, action, phase, error });
      const transfer = await shownTo(deviceId, transferId, stored);
      onState(transfer.state);
      if (isFinal(transfer.state)) onEnded(account, transferId, stored);
      return transfer;
    },

    /** Forwarded at most four times a second with the newest winning, on all replicas together. */
    async tell(actor: DeviceCaller, transferId: string, report: PhaseReport): Promise<Transfer> {
      const { stored, waitMs } = await store.tell(actor.account, actor.deviceId, transferId, report);
      if (waitMs > 0) forwardLater(actor, transferId, waitMs);
      return viewFor(actor.deviceId, stored);
    },

    /** For the relay, through which bytes pass of which nobody tells: its time begins anew. */
    async keep({ account, deviceId }: DeviceCaller, { transferId }: FileOf): Promise<void> {
      await store.tell(account, deviceId, transferId, { phase: null });
    },

    /** The receiver has stored a file of the relay up to here: progress, told as a phase is. */
    async acknowledged(actor: DeviceCaller, { transferId, index }: FileOf, bytes: number): Promise<void> {
      const report = { phase: null, acknowledged: { index, bytes } };
      const { waitMs } = await store.tell(actor.account, actor.deviceId, transferId, report);
      if (waitMs > 0) forwardLater(actor, transferId, waitMs);
    },

    async get({ account, deviceId }: DeviceCaller, transferId: string): Promise<Transfer> {
      return shownTo(deviceId, transferId, await store.read(account, deviceId, transferId));
    },

    /** For the relay. Throws `not_found`, `not_a_party`. */
    async relayFile({ account, deviceId }: DeviceCaller, { transferId, index }: FileOf) {
      const stored = await store.read(account, deviceId, transferId);
      const { sender, state } = JSON.parse(`${stored.openJson}}`) as Transfer;
      const file = (JSON.parse(stored.files) as { name: string; size: number }[])[index];
      if (file === undefined) throw new BatonError('not_found');
      const { generation, base } = stored.generations.get(index) ?? { generation: null, base: 0 };
      const role = sender.device_id === deviceId ? 'sender' : 'receiver';
      return {
        role,
        state,
        relayInUse: stored.relayInUse,
        name: file.name,
        size: file.size,
        generation,
        base,
      } as RelayedFile;
    },

    setGeneration: store.setGeneration,
    setDelivered: store.setDelivered,

    /** Newest first. Reads on until `limit` match or there are no more. */
    async list(
      { account, deviceId }: DeviceCaller,
      {
        state,
        limit = 50,
        cursor = '',
      }: { state?: string | undefined; limit?: number | undefined; cursor?: string | undefined },
    ) {
      const transfers: Transfer[] = [];
      for (let after = cursor; ; ) {
        const page = await store.list(account, deviceId, after, PAGE);
        const read = await Promise.all(page.map((entry) => readListed({ account, deviceId }, entry)));
        for (const [i, transfer] of read.entries()) {
          after = page[i] as string;
          if (transfer && (state === undefined || transfer.state === state)) transfers.push(briefly(transfer));
          if (transfers.length === limit) return { transfers, next_cursor: after };
        }
        if (page.length < PAGE) return { transfers, next_cursor: null };
      }
    },

    /** What a stream of this device that starts at `position` is owed beside the log, as JSON. */
    async owed({ account, deviceId }: DeviceCaller, position: string): Promise<string[]> {
      const ids = await store.owed(account, deviceId, position);
      const read = await Promise.all(ids.map((id) => readListed({ account, deviceId }, `-${id}`)));
      return read
        .filter((transfer) => transfer !== null && transfer.state === 'PENDING')
        .map((transfer) => JSON.stringify({ transfer: briefly(transfer as Transfer), redelivered: true }));
    },

    /** Ends everything live that a device takes part in: it was signed out. May be repeated. */
    async cancelAllOf(account: string, deviceId: string): Promise<void> {
      for (let after = ''; ; ) {
        const page = await store.list(account, deviceId, after, PAGE);
        for (const entry of page) await cancelListed({ account, deviceId }, entry);
        if (page.length < PAGE) return;
        after = page.at(-1) as string;
      }
    },

    /**
     * Removes all transfers of an account, live ones after their parties were told, with what the relay has of them.
     * Throws when some of it may be left; then it has to be repeated.
     */
    async eraseAll(account: string): Promise<void> {
      for (const transferId of await store.all(account)) {
        const stored = await cancelled(account, transferId);
        if (stored !== null) await dropRelayed(account, transferId, generationsOf(stored));
        await store.erase(account, transferId);
      }
    },

    /** What the due mechanism runs when a transfer's time is over. */
    async expire(account: string, fact: string): Promise<void> {
      const transferId = fact.slice('transfer:'.length);
      const generations = await store.expire(account, transferId);
      if (generations) onEnded(account, transferId, { generations });
    },

    stop(): void {
      for (const timer of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };

  /** A transfer that has ended, now or before; null when it is gone. */
  async function cancelled(account: string, transferId: string): Promise<StoredTransfer | null> {
    const error = { code: 'erased', detail: null };
    try {
      return await store.act(account, { deviceId: '', transferId, action: 'cancel', phase: undefined, error });
    } catch (refusal) {
      if (refusal instanceof BatonError && refusal.code === 'not_found') return null;
      throw refusal;
    }
  }

  async function cancelListed({ account, deviceId }: DeviceCaller, entry: string): Promise<void> {
    const transferId = entry.slice(entry.indexOf('-') + 1);
    const error = { code: 'device_removed', detail: null };
    try {
      const stored = await store.act(account, { deviceId, transferId, action: 'cancel', phase: undefined, error });
      onEnded(account, transferId, stored);
      onState('CANCELLED');
    } catch (refusal) {
      // It has ended, or is gone.
      if (!(refusal instanceof BatonError && refusal.status < 500)) throw refusal;
    }
  }

  /** Null when it expired between the list and the read. */
  async function readListed({ account, deviceId }: DeviceCaller, entry: string): Promise<Transfer | null> {
    try {
      return viewFor(deviceId, await store.read(account, deviceId, entry.slice(entry.indexOf('-') + 1)));
    } catch (error) {
      if (error instanceof BatonError && error.code === 'not_found') return null;
      throw error;
    }
  }
}

export type Transfers = ReturnType<typeof makeTransfers>;
