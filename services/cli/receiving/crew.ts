import type { BatonClient, IncomingTransfer, RunningTransfer } from '../../../shared/client/index.ts';
import type { ReceiveRecords } from '../../../shared/client/node.ts';
import { watchPreparing } from '../../../shared/client/transfers/preparing.ts';
import { type Context, untilOver } from '../context.ts';
import { CliError, failureOf } from '../failure.ts';
import { deviceNameOf, oneLine, sizeOf } from '../output.ts';
import { makeProgressLine, type ProgressLine } from '../progress.ts';
import { namesOf } from './names.ts';
import { isNamed, type Offers, offersOf } from './offers.ts';
import { makeOpener, type Opener } from './opening.ts';
import { fits, makeFullPauses, unpackBytesOf, WaitsForSpace } from './space.ts';
import { GOES_ON, type ReceiveOptions, take } from './take.ts';

/**
 * Takes several transfers at a time, so that an interrupted sender does not block others: `AT_ONCE` that move, and any
 * number that do not. With --once, and for standard output, it takes one at a time. A transfer that does not move gives way
 * to one whose sender is connected, and is resumed later.
 */
const AT_ONCE = 4;
/** After this time without bytes the program reports that it waits for the sender. */
const STILL_MS = 3_000;
/** After this time a transfer that gave way is tried again. */
const RETRY_MS = 15_000;
/** After this time a transfer of another program is tried again, because that program may have ended. */
const AGAIN_MS = 2_000;
/** Offers that exist at the start are announced within this time. Then one of them is chosen. */
const SETTLE_MS = 300;

const CONCURRENCY = { output: 1, alone: 8, beside: 2 };

/** A transfer that is taken. */
interface Active {
  readonly offer: IncomingTransfer;
  readonly stop: AbortController;
  running: RunningTransfer | null;
  isStill: boolean;
  bytes: number;
  timer: NodeJS.Timeout | null;
}

interface Crew {
  readonly context: Context;
  readonly baton: BatonClient;
  readonly options: ReceiveOptions;
  readonly records: ReceiveRecords;
  readonly line: ProgressLine;
  readonly offers: Offers;
  readonly opener: Opener;
  readonly isOnce: boolean;
  readonly active: Map<string, Active>;
  /** Transfers that another program has, with the timer of the next check. */
  readonly elsewhere: Map<string, NodeJS.Timeout>;
  /** Transfers that were reported to the user as taken by another program. */
  readonly told: Set<string>;
  /** Transfers of which the user has read that they go on. */
  readonly goingOn: Set<string>;
  /** Returns the pause of a transfer that found a full disk. */
  readonly pauseWhenFull: ReturnType<typeof makeFullPauses>;
  /** Transfers that were taken since all were tried last. */
  readonly tried: Set<string>;
  /** The transfer that the user is asked about. One question at a time, so that no answer is taken for another question. */
  asking: Active | null;
  isSettled: boolean;
  settling: NodeJS.Timeout | null;
  isOver: boolean;
  /** Ends `sayPreparing`. */
  unwatch: () => void;
  readonly end: { resolve: () => void; reject: (error: unknown) => void };
}

const note = ({ line, context }: Crew, text: string): void => line.aside(() => context.output.note(text));

const interrupted = (): CliError => new CliError('Interrupted.', { code: 'aborted' });

function say(crew: Crew, id: string, { code, message, notReceived = [] }: CliError): void {
  note(crew, message);
  crew.context.output.result({ transfer_id: id, error: { code, message }, not_received: notReceived }, null);
}

function finish(crew: Crew, settle: () => void): void {
  if (crew.isOver) return;
  crew.isOver = true;
  crew.unwatch();
  for (const timer of crew.elsewhere.values()) clearTimeout(timer);
  if (crew.settling) clearTimeout(crew.settling);
  for (const one of crew.active.values()) {
    one.stop.abort(interrupted());
    if (one.timer) clearTimeout(one.timer);
  }
  settle();
}

/** Stops a transfer that does not move in favour of another one. It is resumed later. */
function giveWay({ active, offers, options, tried }: Crew): boolean {
  const [one] = active.values();
  if (one === undefined || !one.isStill || (options.dir === '-' && one.bytes > 0)) return false;
  const better = offers.next((offer) => offers.isThere(offer) && !tried.has(offer.id));
  if (better === undefined) return false;
  offers.putFirst(better);
  one.stop.abort(interrupted());
  return true;
}

function mayTakeAnother({ isOnce, active }: Crew): boolean {
  if (isOnce) return active.size === 0;
  return [...active.values()].filter(({ isStill }) => !isStill).length < AT_ONCE;
}

function waitForOffers(crew: Crew): void {
  if (crew.isSettled) return;
  crew.settling ??= setTimeout(() => {
    crew.isSettled = true;
    pump(crew);
  }, SETTLE_MS);
}

/** Takes the transfers that may be taken now. */
function pump(crew: Crew): void {
  const { offers, isOnce, active } = crew;
  if (isOnce && active.size > 0 && giveWay(crew)) return;
  while (!crew.isOver && crew.asking === null && mayTakeAnother(crew)) {
    const offer = offers.next(crew.isSettled ? undefined : offers.isThere);
    if (offer === undefined) return waitForOffers(crew);
    void begin(crew, offer);
  }
}

/** Begins to wait for bytes again. */
function watch(crew: Crew, one: Active): void {
  if (one.timer) clearTimeout(one.timer);
  one.isStill = false;
  if (crew.isOver) return;
  one.timer = setTimeout(() => {
    one.isStill = true;
    const { sender, files = [] } = one.offer.transfer;
    const away = crew.offers.isThere(one.offer) ? '' : ', which is not connected';
    note(crew, `Waiting for ${oneLine(sender.name)}${away}: ${namesOf(files.map(({ name }) => name))}.`);
    one.timer = setTimeout(() => {
      crew.tried.clear();
      pump(crew);
    }, RETRY_MS);
    pump(crew);
  }, STILL_MS);
}

function onRunning(crew: Crew, one: Active, running: RunningTransfer): void {
  one.running = running;
  one.bytes = running.progress.bytes;
  watch(crew, one);
  running.onProgress(({ bytes }) => {
    if (bytes === one.bytes) return;
    one.bytes = bytes;
    watch(crew, one);
  });
  if (crew.asking === one) crew.asking = null;
  pump(crew);
}

/** Offers a transfer again when it may be free, and `isTime`, unless it is over. */
function lookLater(
  crew: Crew,
  id: string,
  isTime: () => Promise<boolean> = async () => true,
  pauseMs: number = AGAIN_MS,
): void {
  const { baton, offers, elsewhere, context } = crew;
  const again = async () => {
    elsewhere.delete(id);
    if (offers.signalOf(id).aborted) return;
    if (!(await isTime())) return lookLater(crew, id, isTime, pauseMs);
    const offer = await baton.transfers.incoming(id, { signal: context.signal });
    if (['DONE', 'FAILED', 'CANCELLED'].includes(offer.transfer.state)) return;
    offers.add(offer);
  };
  const onUnknown = (error: unknown) => {
    // The service no longer knows a transfer that is long over.
    if (!crew.isOver && !['not_found', 'not_a_party'].includes(failureOf(error).code)) {
      lookLater(crew, id, isTime, pauseMs);
    }
  };
  const onTime = () => void again().catch(onUnknown);
  if (!crew.isOver) elsewhere.set(id, setTimeout(onTime, pauseMs));
}

function onFailed(crew: Crew, one: Active, error: unknown): void {
  const { id } = one.offer;
  const failure = failureOf(error);
  if (one.stop.signal.aborted) return crew.offers.putBack({ ...one.offer, isAccepted: true });
  if (failure.code === 'taken') {
    if (!crew.told.has(id)) say(crew, id, failure);
    crew.told.add(id);
    return lookLater(crew, id);
  }
  if (failure instanceof WaitsForSpace && !crew.isOnce) {
    if (!crew.told.has(id)) say(crew, id, failure);
    crew.told.add(id);
    const pauseMs = crew.pauseWhenFull(id, one.running?.progress.bytes ?? 0);
    return lookLater(crew, id, () => hasSpaceFor(crew, one), pauseMs);
  }
  if (crew.isOnce || [...GOES_ON, 'usage'].includes(failure.code)) return finish(crew, () => crew.end.reject(error));
  say(crew, id, failure);
}

/** Tells whether the disk has space for the rest of a transfer, beside what is running. */
function hasSpaceFor(crew: Crew, { running, offer }: Active): Promise<boolean> {
  const { options, context } = crew;
  const folders = { target: options.dir, records: context.settings.folder };
  const missing = offer.transfer.total_bytes - (running?.progress.bytes ?? 0);
  return fits(folders, missing + unpackBytesOf(offer.transfer) + reservedBytes(crew));
}

/** Returns the bytes of running transfers that have not arrived yet. */
const reservedBytes = ({ active }: Crew): number =>
  [...active.values()].reduce((sum, { running }) => {
    const { totalBytes = 0, bytes = 0 } = running?.progress ?? {};
    return sum + totalBytes - bytes;
  }, 0);

function concurrencyOf({ options, active }: Crew): number {
  if (options.dir === '-') return CONCURRENCY.output;
  return active.size === 0 ? CONCURRENCY.alone : CONCURRENCY.beside;
}

async function begin(crew: Crew, offer: IncomingTransfer): Promise<void> {
  const { context, baton, options, records, line, active, tried, opener } = crew;
  const { signal } = context;
  const one: Active = { offer, running: null, stop: new AbortController(), isStill: false, bytes: 0, timer: null };
  const about = {
    context,
    options,
    records,
    line,
    opener,
    goingOn: crew.goingOn,
    concurrency: concurrencyOf(crew),
    reservedBytes: reservedBytes(crew),
  };
  active.set(offer.id, one);
  tried.add(offer.id);
  if (options.yes !== true && (!offer.isAccepted || opener.mustAsk(offer.id))) crew.asking = one;
  let isDone = false;
  try {
    await take(offer, {
      ...about,
      signal: AbortSignal.any([signal, one.stop.signal]),
      ended: crew.offers.signalOf(offer.id),
      onRunning: (running) => onRunning(crew, one, running),
      fail: async (id, why) => void (await baton.transfers.cancel(id, why, { signal }).catch(() => undefined)),
    });
    isDone = true;
  } catch (error) {
    if (!crew.isOver) onFailed(crew, one, error);
  } finally {
    if (one.timer) clearTimeout(one.timer);
    active.delete(offer.id);
    if (crew.asking === one) crew.asking = null;
  }
  if (isDone && crew.isOnce) finish(crew, crew.end.resolve);
  else pump(crew);
}

/** Reports once that a device prepares files for this one. Returns a function that ends that. */
function sayPreparing(crew: Crew): () => void {
  const told = new Set<string>();
  const { baton, options } = crew;
  return watchPreparing(baton, (all) => {
    for (const { id, from, files, totalBytes } of all) {
      if (told.has(id) || (options.from !== undefined && !isNamed(baton, from, options.from))) continue;
      told.add(id);
      const what = `${files} ${files === 1 ? 'file' : 'files'} (${sizeOf(totalBytes)})`;
      note(crew, `${deviceNameOf(from.name)} is preparing ${what} ...`);
    }
  });
}

/** Takes offered transfers. With --once it resolves after the first; rejects when it is interrupted. */
export function takeAll(
  context: Context,
  { baton, url }: { baton: BatonClient; url: string },
  options: ReceiveOptions,
  records: ReceiveRecords,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const isOnce = options.once === true || options.dir === '-';
    const line = makeProgressLine(context.output);
    const opener = makeOpener({
      ...{ context, baton, url },
      plain: options.plain ? 'take' : options.yes ? 'leave' : 'ask',
      note: (text) => line.aside(() => context.output.note(text)),
      onMayOpen: (offer) => crew.offers.add(offer),
    });
    const offers = offersOf(baton, options.from, { open: opener.open, onChange: () => pump(crew) });
    const crew: Crew = {
      ...{ context, baton, options, records, isOnce, line, opener, offers },
      ...{ active: new Map(), elsewhere: new Map(), told: new Set(), tried: new Set() },
      ...{ goingOn: new Set(), pauseWhenFull: makeFullPauses(AGAIN_MS) },
      ...{
        asking: null,
        isSettled: !isOnce,
        settling: null,
        isOver: false,
        unwatch: () => {},
        end: { resolve, reject },
      },
    };
    crew.unwatch = sayPreparing(crew);
    untilOver(context, baton).catch((error: unknown) => finish(crew, () => reject(error)));
  });
}
