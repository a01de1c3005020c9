import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BatonClient, IncomingTransfer, RunningTransfer } from '../../../shared/client/index.ts';
import { type ReceiveRecords, receiveRecords } from '../../../shared/client/node.ts';
import { type Context, untilOver } from '../context.ts';
import { CliError, failureOf, usageError } from '../failure.ts';
import { oneLine } from '../output.ts';
import { makeProgressLine } from '../progress.ts';
import { sayLeft } from '../receiving/left.ts';
import { namesOf } from '../receiving/names.ts';
import { offersOf } from '../receiving/offers.ts';
import { GOES_ON, type ReceiveOptions, take } from '../receiving/take.ts';

/**
 * Transfers are taken beside each other, so that a sender that was interrupted keeps nobody waiting: `AT_ONCE` that move, and
 * any number that do not. With --once, and for standard output, one at a time: one that does not move gives way to one whose
 * sender is connected, and is gone on with later.
 */
const AT_ONCE = 4;
/** Whoever brings nothing for so long is waited for, and that is said. */
const STILL_MS = 3_000;
/** What another program of this device takes may be free later: that one may be ended. */
const AGAIN_MS = 2_000;
/** After so long one that gave way may have something again. */
const RETRY_MS = 15_000;
/** What is offered when this program starts is announced within so long: then one of them is chosen. */
const SETTLE_MS = 300;

const CONCURRENCY = { alone: 8, beside: 2 };

interface Active {
  offer: IncomingTransfer;
  running: RunningTransfer | null;
  stop: AbortController;
  isStill: boolean;
  bytes: number;
  timer: NodeJS.Timeout | null;
}

/** Resolves when the command is over: with --once after a transfer. */
function takeAll(
  context: Context,
  baton: BatonClient,
  options: ReceiveOptions,
  records: ReceiveRecords,
): Promise<void> {
  const { output, signal } = context;
  const line = makeProgressLine(output);
  const toOutput = options.dir === '-';
  const isOnce = options.once === true || toOutput;
  const active = new Map<string, Active>();
  const elsewhere = new Map<string, NodeJS.Timeout>();
  const told = new Set<string>();
  const tried = new Set<string>();
  let settling: NodeJS.Timeout | null = null;
  let isSettled = !isOnce;
  let isAsking = false;

  return new Promise((resolveAll, rejectAll) => {
    const note = (text: string) => line.aside(() => output.note(text));
    const offers = offersOf(baton, options.from, pump);

    function finish(settle: () => void): void {
      signal.removeEventListener('abort', stopAll);
      for (const timer of elsewhere.values()) clearTimeout(timer);
      if (settling) clearTimeout(settling);
      for (const one of active.values()) {
        one.stop.abort(new CliError('Interrupted.', { code: 'aborted' }));
        if (one.timer) clearTimeout(one.timer);
      }
      settle();
    }
    const stopAll = () => finish(() => rejectAll(signal.reason));
    signal.addEventListener('abort', stopAll, { once: true });

    /** One that does not move gives its place, and what it has is gone on with later. */
    function giveWay(): boolean {
      const [one] = active.values();
      if (one === undefined || !one.isStill || (toOutput && one.bytes > 0)) return false;
      const better = offers.next((offer) => offers.isThere(offer) && !tried.has(offer.id));
      if (better === undefined) return false;
      offers.putFirst(better);
      one.stop.abort(new CliError('Interrupted.', { code: 'aborted' }));
      return true;
    }

    function hasRoom(): boolean {
      if (isOnce) return active.size === 0;
      return [...active.values()].filter(({ isStill }) => !isStill).length < AT_ONCE;
    }

    function pump(): void {
      if (isOnce && active.size > 0 && giveWay()) return;
      while (!signal.aborted && !isAsking && hasRoom()) {
        const offer = offers.next(isSettled ? undefined : offers.isThere);
        if (offer === undefined) return settle();
        void begin(offer);
      }
    }

    function settle(): void {
      if (isSettled) return;
      settling ??= setTimeout(() => {
        isSettled = true;
        pump();
      }, SETTLE_MS);
    }

    function watch(one: Active): void {
      if (one.timer) clearTimeout(one.timer);
      one.isStill = false;
      one.timer = setTimeout(() => {
        one.isStill = true;
        const { sender, files = [] } = one.offer.transfer;
        const away = offers.isThere(one.offer) ? '' : ', which is not connected';
        note(`Waiting for ${oneLine(sender.name)}${away}: ${namesOf(files.map(({ name }) => name))}.`);
        one.timer = setTimeout(() => {
          tried.clear();
          pump();
        }, RETRY_MS);
        pump();
      }, STILL_MS);
    }

    function onRunning(one: Active, running: RunningTransfer): void {
      one.running = running;
      one.bytes = running.progress.bytes;
      watch(one);
      running.onProgress(({ bytes }) => {
        if (bytes === one.bytes) return;
        one.bytes = bytes;
        watch(one);
      });
      isAsking = false;
      pump();
    }

    /** It comes back when it may be free, unless it is over. */
    function lookLater(id: string): void {
      const again = async () => {
        elsewhere.delete(id);
        if (offers.signalOf(id).aborted) return;
        const offer = await baton.transfers.incoming(id, { signal });
        if (['DONE', 'FAILED', 'CANCELLED'].includes(offer.transfer.state)) return;
        offers.putBack(offer);
        pump();
      };
      const timer = setTimeout(() => void again().catch(() => undefined), AGAIN_MS);
      elsewhere.set(id, timer);
    }

    function onFailed(one: Active, error: unknown): void {
      const { id } = one.offer;
      const failure = failureOf(error);
      if (one.stop.signal.aborted) return offers.putBack({ ...one.offer, isAccepted: true });
      if (failure.code === 'taken') {
        if (!told.has(id)) say(id, failure, []);
        told.add(id);
        return lookLater(id);
      }
      if (isOnce || [...GOES_ON, 'usage'].includes(failure.code)) return finish(() => rejectAll(error));
      say(id, failure, (failure as { names?: string[] }).names ?? []);
    }

    function say(id: string, { code, message }: CliError, names: readonly string[]): void {
      note(message);
      output.result({ transfer_id: id, error: { code, message }, not_received: names }, null);
    }

    async function begin(offer: IncomingTransfer): Promise<void> {
      const one: Active = { offer, running: null, stop: new AbortController(), isStill: false, bytes: 0, timer: null };
      const reservedBytes = [...active.values()].reduce((sum, { running: run }) => sum + leftOf(run), 0);
      const concurrency = toOutput ? 1 : active.size === 0 ? CONCURRENCY.alone : CONCURRENCY.beside;
      active.set(offer.id, one);
      tried.add(offer.id);
      isAsking = options.yes !== true && !offer.isAccepted;
      let isDone = false;
      try {
        await take(offer, {
          ...{ context, options, records, line, concurrency, reservedBytes },
          signal: AbortSignal.any([signal, one.stop.signal]),
          ended: offers.signalOf(offer.id),
          onRunning: (running) => onRunning(one, running),
          fail: async (id) => void (await baton.transfers.cancel(id, 'sink_failed', { signal }).catch(() => undefined)),
        });
        isDone = true;
      } catch (error) {
        if (signal.aborted) return;
        onFailed(one, error);
      } finally {
        if (one.timer) clearTimeout(one.timer);
        active.delete(offer.id);
        isAsking = false;
      }
      if (isDone && isOnce) finish(resolveAll);
      else pump();
    }
    void untilOver(context, baton).catch((error: unknown) => finish(() => rejectAll(error)));
  });
}

const leftOf = (running: RunningTransfer | null): number =>
  running === null ? 0 : running.progress.totalBytes - running.progress.bytes;

/** Whether anything can be stored there is known before anything is offered. */
async function checkFolder(dir: string): Promise<void> {
  const folder = resolve(dir);
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new CliError(`Files cannot be stored in ${folder}: ${(error as Error).message}`, { code: 'sink_failed' });
  }
}

/** Takes what is offered until it is interrupted; with `once` the first transfer and no more. */
export async function receive(context: Context, options: ReceiveOptions) {
  const { output, settings, signal } = context;
  if (!options.yes && !process.stdin.isTTY) throw usageError('There is no terminal to ask on: say --yes.');
  if (options.dir === '-' && output.isJson) throw usageError('--dir - and --json both want standard output.');
  if (options.dir !== '-') await checkFolder(options.dir);
  const records = receiveRecords(join(settings.folder, 'receives'));
  await context.withClient(async (baton) => {
    await sayLeft(context, baton, records);
    const taking = takeAll(context, baton, options, records);
    baton.start();
    await Promise.race([baton.untilOnline({ signal }), taking]);
    output.note(
      options.dir === '-' ? 'Waiting for a file ...' : `Waiting for files; they go to ${resolve(options.dir)} ...`,
    );
    await taking;
  });
}
