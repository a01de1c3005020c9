import type { Off, Progress, RunningTransfer } from '../api.ts';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { pauseMs } from '../time/backoff.ts';
import type { Caller } from '../http/caller.ts';
import { type Clock, pause } from '../time/clock.ts';
import { abortedBy, failureOf } from '../errors/failure.ts';
import { makeMeter, type Measured, type Meter } from './progress.ts';
import type { Transfer } from '../wire.ts';

const BASE_MS = 250;
const CAP_MS = 8_000;

const ENDED = ['DONE', 'FAILED', 'CANCELLED'];
export const hasEnded = ({ state }: Pick<Transfer, 'state'>): boolean => ENDED.includes(state);

/** The step of a transfer, which never goes back. It may change between the active states. */
const stepOf = (transfer: Transfer): number =>
  hasEnded(transfer) ? 3 : transfer.state === 'PENDING' ? 0 : transfer.state === 'ACCEPTED' ? 1 : 2;

/** True if `next` was read before `known`. Its time decides only within a step, because a clock may be set back. */
const isOlder = (next: Transfer, known: Transfer): boolean =>
  (stepOf(next) - stepOf(known) || next.updated_at - known.updated_at) < 0;

type Step = 'acceptTransfer' | 'p2pTransfer' | 'relayTransfer' | 'completeTransfer';

/** The common part of both sides of a running transfer: its state as last heard, its progress, pausing, waiting, its end. */
export interface Run {
  readonly id: string;
  readonly transfer: Transfer;
  readonly meter: Meter;
  /** Aborted, with the reason, when the transfer does not continue here. */
  readonly signal: AbortSignal;
  readonly done: Promise<Transfer>;
  /** Takes the state of the transfer from the service. */
  update(transfer: Transfer): void;
  /** Reads the transfer again. */
  refresh(): Promise<Transfer>;
  /** Takes a step of the transfer, and tries until the service answers. Throws `invalid_transition`, `not_found`. */
  act(step: Step): Promise<void>;
  /** Resolves when `isSo` is true for the known transfer. Rejects when the run is over. */
  until(isSo: (transfer: Transfer) => boolean): Promise<void>;
  /** Resolves when the transfer is not paused. */
  unpaused(): Promise<void>;
  /** Returns a signal that aborts at the next pause. */
  pauseSignal(): AbortSignal;
  /** Waits after `failures` failed attempts, or until there is a reason to try at once. */
  backOff(failures: number, atLeastMs?: number | null): Promise<void>;
  /** Waits `ms`, or until there is a reason to try at once. */
  rest(ms: number): Promise<void>;
  /** Ends all waits, because something has changed. */
  nudge(): void;
  /** Checks the conditions of `until` again. */
  wake(): void;
  /** Retries a repeatable call until it gets a response. */
  insist<T>(work: () => Promise<T>): Promise<T>;
  /** Stops the transfer here; the other side is not told. */
  stop(reason: BatonClientError): void;
  /** Fails the transfer; both sides are told. */
  fail(error: BatonClientError): Promise<void>;
  readonly controls: Pick<RunningTransfer, 'pause' | 'resume' | 'cancel' | 'onProgress'>;
}

interface Parts {
  transfer: Transfer;
  caller: Caller;
  clock: Clock;
  files: readonly Measured[];
  /** The party that runs here. */
  side: Side;
  /** The signals of the client and of the caller. */
  signals: readonly (AbortSignal | undefined)[];
  onProblem: (error: unknown) => void;
  onOver: () => void;
}

export type Side = 'sender' | 'receiver';

/** Returns a credible code: only a receiver rejects, and a device that reports `peer_offline` is not away itself. */
function codeOf({ state, error, receiver }: Transfer, byOther: boolean): BatonClientError['code'] {
  const code = error?.code;
  const isCancelled = state === 'CANCELLED';
  const isRejected = code === 'rejected' && isCancelled && error?.by_device_id === receiver.device_id;
  if (isRejected || code === 'digest_mismatch' || (code === 'peer_offline' && !byOther)) return code;
  return isCancelled ? 'cancelled' : 'failed';
}

function sentenceOf(code: BatonClientError['code'], byOther: boolean): string {
  if (code === 'rejected') return byOther ? 'The other device refused the transfer' : 'The transfer was refused';
  if (code === 'cancelled') return byOther ? 'The other device cancelled the transfer' : 'The transfer was cancelled';
  if (code === 'peer_offline') return 'The other device was not connected in time';
  if (code === 'digest_mismatch') return 'Other bytes arrived than were offered';
  return byOther ? 'The other device could not finish' : 'The transfer failed';
}

/**
 * Returns how an incomplete transfer ended. Blames the other side only if the service says that it ended the transfer.
 */
function endOf(transfer: Transfer, side: Side): BatonClientError {
  const { error } = transfer;
  const other = side === 'sender' ? transfer.receiver : transfer.sender;
  const byOther = (error?.by_device_id ?? null) === other.device_id;
  const code = codeOf(transfer, byOther);
  const said = error === null || error.code === code ? '' : ` (${error.code})`;
  const message = `${sentenceOf(code, byOther)}${said}`;
  return new BatonClientError(code, message, { byOther });
}

/** Returns a reason as the service takes it, without the codes that it uses by itself. */
const reasonOf = (reason = 'failed') => (['rejected', 'cancelled', 'failed'].includes(reason) ? {} : { reason });

export function makeRun({ caller, clock, files: measured, signals, onProblem, onOver, ...parts }: Parts): Run {
  const id = parts.transfer.transfer_id;
  const params = { transfer_id: id };
  const controller = new AbortController();
  const { signal } = controller;
  const meter = makeMeter(measured, clock, onProblem);
  const watchers = new Set<() => void>();
  const resting = new Set<() => void>();
  let { transfer } = parts;
  let isPaused = false;
  let pausing = new AbortController();
  let settle: { resolve: (transfer: Transfer) => void; reject: (error: BatonClientError) => void };
  const done = new Promise<Transfer>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // A caller that does not use `done` must not cause an unhandled rejection.
  done.catch(() => {});

  const wake = () => {
    for (const watcher of [...watchers]) watcher();
  };
  const nudge = () => {
    for (const go of [...resting]) go();
  };

  function over(finish: () => void, reason: BatonClientError): void {
    if (signal.aborted) return;
    given.removeEventListener('abort', forget);
    controller.abort(reason);
    wake();
    meter.end();
    finish();
    onOver();
  }

  const stop = (reason: BatonClientError) => over(() => settle.reject(reason), reason);
  // Each run has its own signal, because Node warns about many listeners on one.
  const given = AbortSignal.any(signals.filter((one) => one !== undefined));
  const forget = () => stop(abortedBy(given));
  given.addEventListener('abort', forget, { once: true });
  if (given.aborted) forget();

  function update(next: Transfer): void {
    if (signal.aborted || isOlder(next, transfer)) return;
    const { files, ...others } = next;
    transfer = { ...others, files: files ?? transfer.files ?? [] };
    if (!hasEnded(transfer)) return wake();
    const reason = endOf(transfer, parts.side);
    const isDone = transfer.state === 'DONE';
    over(() => (isDone ? settle.resolve(transfer) : settle.reject(reason)), reason);
  }

  /** Resolves when `isSo` is true, which is checked at every change. Rejects when the run is over. */
  function untilSo(isSo: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!signal.aborted && !isSo()) return;
        watchers.delete(look);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      watchers.add(look);
      look();
    });
  }

  async function ask(what: Step | 'getTransfer'): Promise<Transfer> {
    const { body } = await caller.call(what, { params, signal });
    update(body.transfer);
    return body.transfer;
  }

  async function refresh(): Promise<Transfer> {
    try {
      const read = await ask('getTransfer');
      // A store that lost its primary may have lost a step of this side, which is taken again.
      if (parts.side === 'receiver') return read.state === 'PENDING' ? await ask('acceptTransfer') : read;
      return stepOf(read) < 2 && read.mode !== transfer.mode ? await ask('relayTransfer') : read;
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code !== 'not_found') throw failure;
      const gone = new BatonClientError('transfer_gone', 'The transfer is gone', { cause: error });
      stop(gone);
      throw gone;
    }
  }

  const backOff = (failures: number, atLeastMs: number | null = null): Promise<void> =>
    rest(pauseMs(failures, atLeastMs, BASE_MS, CAP_MS));

  function rest(ms: number): Promise<void> {
    let go = () => {};
    const begin = (end: () => void) => resting.add((go = end));
    return pause(ms, signal, clock, begin).finally(() => resting.delete(go));
  }

  async function insist<T>(work: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await work();
      } catch (error) {
        const failure = failureOf(error);
        if (signal.aborted || failure.action !== 'retry') throw failure;
        await backOff(failures, failure.retryAfterMs);
      }
    }
  }

  const act = async (step: Step): Promise<void> => void (await insist(() => ask(step)));

  async function fail(error: BatonClientError): Promise<void> {
    // The transfer may have ended meanwhile, or be gone, which explains a refusal.
    if (error.status) await refresh().catch(() => {});
    if (signal.aborted) return;
    const body = reasonOf(error.code);
    // Reported once, with a short timeout, because the run is over in any case.
    const told = caller.call('failTransfer', { params, body, timeoutMs: 5_000 }).catch(onProblem);
    stop(error);
    await told;
  }

  return {
    ...{ id, meter, signal, done, update, refresh, act, backOff, rest, nudge, wake, insist, stop, fail },
    get transfer() {
      return transfer;
    },
    until: (isSo) => untilSo(() => isSo(transfer)),
    unpaused: () => untilSo(() => !isPaused),
    pauseSignal: () => pausing.signal,
    controls: {
      onProgress: (listener: (progress: Progress) => void): Off => meter.onProgress(listener),
      pause() {
        if (isPaused) return;
        isPaused = true;
        meter.paused(true);
        pausing.abort(new BatonClientError('aborted', 'Paused', { action: 'retry' }));
      },
      resume() {
        if (!isPaused) return;
        isPaused = false;
        pausing = new AbortController();
        meter.paused(false);
        wake();
      },
      async cancel(reason) {
        const { body } = await insist(() => caller.call('cancelTransfer', { params, body: reasonOf(reason) }));
        update(body.transfer);
      },
    },
  };
}
