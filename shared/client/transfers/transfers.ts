import type { EventData } from '../../contract/events.ts';
import { LIMITS } from '../../contract/limits.ts';
import type {
  AcceptSettings,
  BatonClientOptions,
  ClientEvents,
  IncomingTransfer,
  OutgoingTransfer,
  RunningTransfer,
  SendSettings,
  Target,
  Transfers,
} from '../api.ts';
import type { ROUTES } from '../../contract/routes.ts';
import type { BodyOf } from '../../contract/vocabulary/route.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import type { Caller } from '../http/caller.ts';
import type { Clock } from '../time/clock.ts';
import { digestsOf } from '../files/digest.ts';
import type { Emitter } from '../emitter.ts';
import type { FileSource, OpenSink } from '../files/files.ts';
import { dateOf } from '../files/sources.ts';
import { mayGoDirect, type PeerModule, type PeerReceiving, type PeerSide } from './peer-module.ts';
import type { Measured } from './progress.ts';
import { makeReceiver, type Receiver } from './receiving.ts';
import { scriptSha256 } from '../files/sha256.ts';
import { makeRelaySender, type RelaySender } from './sending.ts';
import { targetOf } from '../account/target.ts';
import { hasEnded, makeRun, type Run, type Side } from './transfer-run.ts';
import { waitForReceiver } from './waiting-receiver.ts';
import { makeRepeated } from '../time/repeated.ts';
import type { PresenceEntry, Transfer, TransferPhase } from '../wire.ts';

/** Higher for a receiver, which stores some files while others come. */
const SENDING = 4;
const RECEIVING = 8;
/** More than a device can have transfers: a cursor that never ends is none. */
const MOST_PAGES = 64;

interface Parts {
  options: Pick<BatonClientOptions, 'sha256' | 'peerToPeer'>;
  caller: Caller;
  clock: Clock;
  emitter: Emitter<ClientEvents>;
  /** Aborted when the client is closed or signed out. */
  life: () => AbortSignal;
  start: () => void;
  presence: () => readonly PresenceEntry[];
  deviceId: () => string | null;
  onProblem: (error: unknown) => void;
}

export interface TransferModule {
  readonly api: Transfers;
  onIncoming(data: EventData<'transfer:incoming'>): void;
  onUpdated(data: EventData<'transfer:updated'>): void;
  onRewind(data: EventData<'relay:rewind'>): void;
  onSignal(data: EventData<'signal'>): void;
  /**
   * Called when the stream is open again, or the store is back. `anew`: the stream begins again, and missed events do not
   * follow.
   */
  onReady(anew: boolean): void;
}

interface Running {
  run: Run;
  handle: RunningTransfer;
  sender: RelaySender | null;
  receiver: Receiver | null;
  peer: PeerSide | null;
}

const refused = (message: string): BatonClientError => new BatonClientError('invalid_request', message);

export function makeTransfers({ caller, clock, emitter, onProblem, ...parts }: Parts): TransferModule {
  const running = new Map<string, Running>();
  /** The transfers that were announced to the application, until they end. */
  const announced = new Set<string>();
  /** The transfers that ended since the last list was asked for, which may still name them. */
  const ended = new Set<string>();
  const makeHash = parts.options.sha256 ?? scriptSha256;
  const peers = (parts.options.peerToPeer as PeerModule | undefined) ?? null;
  const bounded = (concurrency: number) => Math.max(1, Math.min(LIMITS.relayFiles, Math.trunc(concurrency)));
  const of = (transferId: string) => ({ params: { transfer_id: transferId } });

  function runOf(transfer: Transfer, side: Side, files: readonly Measured[], signal: AbortSignal | undefined): Run {
    const id = transfer.transfer_id;
    const signals = [parts.life(), signal];
    const onOver = () => void running.delete(id);
    return makeRun({ transfer, side, caller, clock, files, signals, onProblem, onOver });
  }

  function handleOf(run: Run): RunningTransfer {
    return {
      id: run.id,
      get transfer() {
        return run.transfer;
      },
      get progress() {
        return run.meter.now;
      },
      done: run.done,
      ...run.controls,
    };
  }

  /** Keeps a running transfer. False: it ended before it began. */
  function keep(one: Running, transfer: Transfer): boolean {
    one.run.update(transfer);
    if (!one.run.signal.aborted) running.set(one.run.id, one);
    return running.has(one.run.id);
  }

  /** Reports a phase to other devices. A lost report does no harm. */
  const tell = (run: Run, phase: TransferPhase): void =>
    void caller.call('phaseTransfer', { ...of(run.id), body: { phase }, signal: run.signal }).catch(() => {});

  /** Does something once it is so, unless the run is over before. */
  const when = (run: Run, isSo: (transfer: Transfer) => boolean, work: () => unknown): void =>
    void run.until(isSo).then(work, () => {});

  function startSending(
    transfer: Transfer,
    sources: readonly FileSource[],
    settings: SendSettings,
    receiverOnline: boolean,
  ): OutgoingTransfer {
    // Another call for the same transfer may have had its response before. Two runs would send the same files twice.
    const known = running.get(transfer.transfer_id);
    if (known?.sender) return known.handle as OutgoingTransfer;
    const run = runOf(transfer, 'sender', sources, settings.signal);
    const { offlineMs = LIMITS.offlineReceiverMs } = settings;
    /** True: accepted, or left at the service for a receiver that nobody waits for. */
    const isInUse = () => {
      const { state, mode } = run.transfer;
      if (state === 'RELAY_ACTIVE') return peer?.isOpen !== true;
      return state === 'PENDING' && mode === 'relay' && offlineMs === null;
    };
    const shared = { run, caller, clock, sources };
    const sender = makeRelaySender({
      ...{ ...shared, isInUse },
      concurrency: bounded(settings.concurrency ?? SENDING),
    });
    const side = { ...shared, relay: sender, tell: (phase: TransferPhase) => tell(run, phase), onProblem };
    const peer = peers !== null && mayGoDirect(sources, settings) ? peers.sending(side) : null;
    const handle: OutgoingTransfer = Object.assign(handleOf(run), { receiverOnline, uploaded: sender.uploaded });
    if (!keep({ run, handle, sender, receiver: null, peer }, transfer)) return handle;
    parts.start();
    if (transfer.state === 'PENDING') {
      tell(run, receiverOnline ? 'waiting_accept' : 'waiting_peer');
      const onThere = () => {
        tell(run, 'waiting_accept');
        peer?.there();
      };
      const told = { emitter, isThere: receiverOnline, onThere, onProblem };
      if (offlineMs !== null) waitForReceiver({ ...parts, ...shared, ...told, offlineMs });
    }
    if (peer === null) {
      void sender.begin();
      // An accepted transfer needs the relay, and the store may have lost that it was chosen.
      when(run, ({ state }) => state === 'ACCEPTED', sender.begin);
    } else peer.begin({ isThere: receiverOnline, parks: offlineMs === null });
    when(run, isInUse, () => tell(run, 'relay_uploading'));
    return handle;
  }

  function makeIncoming(transfer: Transfer): IncomingTransfer {
    const id = transfer.transfer_id;
    return {
      id,
      transfer,
      isAccepted: transfer.state !== 'PENDING',
      accept: (open, settings = {}) => accept(transfer, open, settings),
      async reject(settings) {
        const { body } = await caller.call('rejectTransfer', { ...of(id), ...settings });
        onUpdated(body);
      },
    };
  }

  function accept(transfer: Transfer, open: OpenSink, settings: AcceptSettings): RunningTransfer {
    const known = running.get(transfer.transfer_id);
    if (known !== undefined) return known.handle;
    const run = runOf(transfer, 'receiver', transfer.files ?? [], settings.signal);
    let peer: PeerReceiving | null = null;
    const receiver = makeReceiver({
      ...{ run, caller, clock, open, onProblem, peer: () => peer },
      ...{ sha256: makeHash, concurrency: bounded(settings.concurrency ?? RECEIVING) },
    });
    const side = { run, caller, clock, tell: (phase: TransferPhase) => tell(run, phase), onProblem };
    if (settings.direct !== false) peer = peers?.receiving({ ...side, onOpen: receiver.nudge }) ?? null;
    const handle = handleOf(run);
    announced.add(run.id);
    if (!keep({ run, handle, sender: null, receiver, peer }, transfer)) return handle;
    parts.start();
    peer?.begin();
    receiver.begin();
    when(
      run,
      ({ state }) => state === 'RELAY_ACTIVE',
      () => tell(run, 'relay_downloading'),
    );
    return handle;
  }

  async function announce(transfer: Transfer): Promise<void> {
    const id = transfer.transfer_id;
    if (announced.has(id) || running.has(id) || hasEnded(transfer)) return;
    announced.add(id);
    try {
      const whole = transfer.files === undefined ? await api.get(id) : transfer;
      // The end may have been told while it was read.
      if (!hasEnded(whole) && announced.has(id)) emitter.emit('incoming', makeIncoming(whole));
    } catch (error) {
      announced.delete(id);
      throw error;
    }
  }

  function onUpdated({ transfer }: { transfer: Transfer }): void {
    running.get(transfer.transfer_id)?.run.update(transfer);
    if (hasEnded(transfer)) {
      announced.delete(transfer.transfer_id);
      ended.add(transfer.transfer_id);
    }
    emitter.emit('transfer', transfer);
  }

  /** Fetches the transfers of this device that are not over, offered and accepted, and announces them again. */
  const refetch = makeRepeated({ clock, life: parts.life, onProblem }, async () => {
    for (let page = {}, pages = 0; pages < MOST_PAGES; pages += 1) {
      ended.clear();
      const { transfers, next_cursor: cursor } = await api.list(page);
      for (const transfer of transfers) {
        if (hasEnded(transfer) || ended.has(transfer.transfer_id)) continue;
        onUpdated({ transfer });
        if (transfer.receiver.device_id === parts.deviceId()) await announce(transfer);
      }
      if (cursor === null) return;
      page = { cursor };
    }
  });

  const api: Transfers = {
    async send(to: Target, files, settings = {}) {
      const { signal, sealed, digest = true, idempotencyKey, retries } = settings;
      const either = signal === undefined ? parts.life() : AbortSignal.any([parts.life(), signal]);
      const hashes = digest ? await digestsOf(files, makeHash, either) : files.map(({ sha256 = null }) => sha256);
      // JSON leaves out what is undefined.
      const offered = files.map((file, i) => {
        const { name, size, type } = file;
        return { name, size, type, sha256: hashes[i] ?? undefined, ...dateOf(file) };
      });
      const body = { ...targetOf(to), files: offered, sealed } as BodyOf<typeof ROUTES.initTransfer>;
      const { body: made } = await caller.call('initTransfer', { body, signal, idempotencyKey, retries });
      try {
        await settings.onOffered?.(made.transfer);
      } catch (error) {
        // Nobody will send the files, so the receiver need not wait.
        await api.cancel(made.transfer.transfer_id, 'source_failed').catch(onProblem);
        throw error;
      }
      return startSending(made.transfer, files, settings, made.receiver_online);
    },
    async resume(transferId, files, settings = {}) {
      const known = running.get(transferId);
      if (known?.sender) return known.handle as OutgoingTransfer;
      const transfer = await api.get(transferId, settings);
      const isSame = (transfer.files ?? []).every(
        ({ index, name, size }) => files[index]?.name === name && files[index]?.size === size,
      );
      if (![null, transfer.sender.device_id].includes(parts.deviceId())) {
        throw refused('Another device sends this transfer');
      }
      if (transfer.file_count !== files.length || !isSame) throw refused('Other files than were offered');
      const isThere = parts
        .presence()
        .some(({ device_id, online }) => online && device_id === transfer.receiver.device_id);
      return startSending(transfer, files, settings, isThere);
    },
    async incoming(transferId, settings) {
      return makeIncoming(await api.get(transferId, settings));
    },
    async get(transferId, settings) {
      return (await caller.call('getTransfer', { ...of(transferId), ...settings })).body.transfer;
    },
    async list(page = {}, settings) {
      return (await caller.call('listTransfers', { query: page, ...settings })).body;
    },
    async cancel(transferId, reason, settings) {
      const body = { reason } as BodyOf<typeof ROUTES.cancelTransfer>;
      const answer = (await caller.call('cancelTransfer', { ...of(transferId), body, ...settings })).body;
      onUpdated(answer);
      return answer.transfer;
    },
  };

  return {
    api,
    onIncoming: ({ transfer }) => void announce(transfer).catch(refetch),
    onUpdated,
    onRewind({ transfer_id, index, upload_url, offset }) {
      running.get(transfer_id)?.sender?.rewind(index, upload_url, offset);
    },
    /** Answers an offer if no direct path can open, so that the sender uses the relay without waiting. */
    onSignal({ kind, from_device_id, transfer_id, payload }) {
      const one = running.get(transfer_id ?? '');
      if (one?.peer) return one.peer.take({ kind, payload });
      if (kind !== 'offer' || !one?.receiver) return;
      const body = { to_device_id: from_device_id, transfer_id: one.run.id, kind: 'bye' as const, payload: {} };
      caller.call('sendSignal', { body }).catch(onProblem);
    },
    onReady(anew) {
      if (anew) refetch();
      for (const { run, sender, receiver, peer } of running.values()) {
        sender?.nudge();
        receiver?.nudge();
        peer?.nudge();
        // The end may have been missed. A sender reads where its files continue, too.
        const read = sender && run.transfer.mode === 'relay' ? sender.locate : run.refresh;
        run.insist<unknown>(read).catch((error: unknown) => {
          if (!run.signal.aborted) onProblem(error);
        });
      }
    },
  };
}
