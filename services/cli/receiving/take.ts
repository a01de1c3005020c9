import { resolve } from 'node:path';
import type { IncomingTransfer, OpenSink, RunningTransfer, Transfer } from '../../../shared/client/index.ts';
import {
  filesIn,
  folderSink,
  type ReceiveClaim,
  type ReceiveRecords,
  writableSink,
} from '../../../shared/client/node.ts';
import { askYesNo } from '../ask.ts';
import type { Context } from '../context.ts';
import { CliError, failureOf, sentenceOf } from '../failure.ts';
import { REFUSED_BETWEEN } from '../foreign-refusals.ts';
import { oneLine, sizeOf } from '../output.ts';
import type { ProgressLine } from '../progress.ts';
import { fileCountOf, namesOf, offered } from './names.ts';
import { notifyOfFiles } from './notifying.ts';
import type { Opener } from './opening.ts';
import { NOT_ENCRYPTED } from '../sealing.ts';
import { cannotFit, fitOf, isFull, NO_SPACE, stoppingWhenFull, WaitsForSpace, waitsForSpace } from './space.ts';

export interface ReceiveOptions {
  dir: string;
  from?: string;
  yes?: boolean;
  once?: boolean;
  hidden?: boolean;
  plain?: boolean;
  /** True: a notification of the desktop shows what was stored. */
  notify?: boolean;
}

/** The errors that end this program, or leave the transfer to another program, but do not end the transfer. */
export const GOES_ON = ['aborted', 'signed_out', 'superseded', 'taken', REFUSED_BETWEEN];

/** Tells whether a transfer that failed here so is resumed, by this program or by another one. */
const isLeft = (failure: CliError): boolean => GOES_ON.includes(failure.code) || failure instanceof WaitsForSpace;

/** Writes lines that follow each other directly in one go, because a line takes as long as storing half a small file. */
function inOneGo(say: (lines: string) => void): (line: string) => void {
  let lines: string[] = [];
  return (line) => {
    if (lines.push(line) > 1) return;
    queueMicrotask(() => {
      say(lines.join('\n'));
      lines = [];
    });
  };
}

export interface Taking {
  context: Context;
  options: ReceiveOptions;
  records: ReceiveRecords;
  line: ProgressLine;
  opener: Opener;
  /** Transfers of which the user has read that they go on. */
  goingOn: Set<string>;
  /** Stops the transfer here; it can be resumed. */
  signal: AbortSignal;
  /** Aborted when the transfer is over, regardless of who ended it. */
  ended: AbortSignal;
  /** How many files are received at a time. */
  concurrency: number;
  reservedBytes: number;
  onRunning: (running: RunningTransfer) => void;
  /** Ends the transfer for both sides, because it cannot be stored. The reason tells the sender why. */
  fail: (id: string, reason: 'sink_failed' | 'no_space') => Promise<void>;
}

/**
 * Decides whether to take an offer. False: the user refused it, and the sender was told. Throws if it cannot be taken.
 */
async function isWanted(offer: IncomingTransfer, taking: Taking): Promise<boolean> {
  const { options, context, signal, ended, line, reservedBytes, opener } = taking;
  const { transfer } = offer;
  const mustAsk = opener.mustAsk(offer.id);
  if (offer.isAccepted && !mustAsk) return true;
  const fit = options.dir === '-' ? 'now' : await fitOf(resolve(options.dir), transfer, reservedBytes);
  if (fit === 'later') throw waitsForSpace(transfer, options.dir);
  if (fit === 'never') {
    await taking.fail(offer.id, NO_SPACE);
    throw cannotFit(transfer, options.dir);
  }
  if (options.yes) return true;
  const either = AbortSignal.any([signal, ended]);
  const mark = mustAsk ? ` (${NOT_ENCRYPTED})` : '';
  const answer = line.aside(() => askYesNo(`${offered(transfer)}${mark}. Take it?`, either));
  const isYes = await answer.catch((error: unknown) => {
    if (!ended.aborted || signal.aborted) throw error;
    throw new CliError(`${offered(transfer)}: it was taken back.`, { code: 'cancelled' });
  });
  if (isYes) {
    opener.noteWanted(offer.id);
    return true;
  }
  await offer.reject({ signal });
  context.output.note('Refused.');
  return false;
}

/** Counts the stored files; a pack has several. */
function makeTally(transfer: Transfer) {
  const stored = new Map<number, number>();
  const paths: string[] = [];
  return {
    paths,
    add(index: number, path: string) {
      paths.push(path);
      stored.set(index, (stored.get(index) ?? 0) + 1);
    },
    missing: () =>
      (transfer.files ?? []).filter((file) => (stored.get(file.index) ?? 0) < filesIn(file)).map(({ name }) => name),
  };
}

/** Returns the sink. Standard output takes one file, because nobody could tell where one of several ends. */
function sinkOf(
  claim: ReceiveClaim,
  { options, context }: Taking,
  { onStored, waits }: { onStored: (index: number, path: string) => void; waits: () => CliError },
): OpenSink {
  if (options.dir === '-') return () => writableSink(context.output.bytes(), { end: false });
  const { hidden = false } = options;
  const open = folderSink(resolve(options.dir), ({ index }, path) => onStored(index, path), { claim, hidden });
  return stoppingWhenFull(open, waits);
}

/** Tells whether this device has received all of it, and the service has forgotten that. */
const wasReceived = ({ files = [] }: Transfer, claim: ReceiveClaim): boolean =>
  files.length > 0 && files.every((file) => claim.hasReceived(file));

/** Only acknowledges a transfer. Its files may have been moved since. */
async function acknowledge(offer: IncomingTransfer, claim: ReceiveClaim, taking: Taking): Promise<void> {
  const { context, line, signal, concurrency, onRunning } = taking;
  const { transfer, id } = offer;
  line.aside(() => context.output.note(`${offered(transfer)}: received before, and only acknowledged again.`));
  const stored: OpenSink = ({ size }) => ({ offset: size, isStored: true, write() {}, close() {} });
  const running = offer.accept(stored, { signal, concurrency });
  onRunning(running);
  try {
    await running.done;
    context.output.result({ transfer_id: id, from: transfer.sender, bytes: 0, files: [] }, null);
  } finally {
    await end(offer, running, claim);
  }
}

async function run(offer: IncomingTransfer, claim: ReceiveClaim, taking: Taking): Promise<void> {
  const { context, options, line, signal, concurrency } = taking;
  const { output } = context;
  const { transfer } = offer;
  const toFolder = options.dir !== '-';
  const isToldAgain = offer.isAccepted && taking.goingOn.has(offer.id);
  if (offer.isAccepted) taking.goingOn.add(offer.id);
  if ((options.yes || offer.isAccepted) && !isToldAgain) {
    line.aside(() => output.note(`${offered(transfer)}${offer.isAccepted ? ', going on' : ''}`));
  }
  const tally = makeTally(transfer);
  const say = inOneGo((lines) => output.result(null, lines));
  let opened = 0;
  const onStored = (index: number, path: string): void => {
    tally.add(index, path);
    if (!output.isJson && !process.stderr.isTTY) say(path);
  };
  const open = sinkOf(claim, taking, { onStored, waits: () => waitsForSpace(transfer, options.dir) });
  const running = offer.accept(
    (...args) => {
      opened += 1;
      return open(...args);
    },
    { signal, concurrency },
  );
  const hide = line.add(running, transfer.sender.name);
  taking.onRunning(running);
  try {
    const done = await running.done;
    hide();
    const { transfer_id: id, sender: from, total_bytes: bytes, sealed } = done;
    if (!toFolder) return output.note(`Received ${sizeOf(bytes)}.`);
    const text = process.stderr.isTTY ? tally.paths.join('\n') : null;
    line.aside(() =>
      output.result({ transfer_id: id, from, bytes, sealed: sealed !== null, files: tally.paths }, text),
    );
    if (options.notify) notifyOfFiles(output, from.name, tally.paths);
  } catch (error) {
    hide();
    const failure = failureOf(error);
    if (isLeft(failure)) throw failure;
    const reason = running.transfer.error?.code ?? '';
    throw notStored(
      saidBy(failure, reason),
      transfer,
      toFolder ? tally.missing() : (transfer.files ?? []).map(({ name }) => name),
    );
  } finally {
    // A sink that has begun to store ends its claim when it is closed.
    if (opened === 0 || !toFolder) await end(offer, running, claim);
  }
}

async function end({ transfer }: IncomingTransfer, running: RunningTransfer, claim: ReceiveClaim): Promise<void> {
  const failure = await running.done.then(
    () => null,
    (error: unknown) => failureOf(error),
  );
  if (failure === null) claim.finish(transfer.files ?? []);
  else if (isLeft(failure)) claim.release();
  else claim.remove();
}

/** Says what the sender meant by its reason. */
const saidBy = (failure: CliError, reason: string): CliError =>
  reason === 'source_failed'
    ? new CliError('The sender cannot read the files any more, or they have changed.', failure)
    : failure;

function notStored(failure: CliError, { sender }: Transfer, names: readonly string[]): CliError {
  const { status, code } = failure;
  const said = `${sentenceOf(failure.message)} Not received from ${oneLine(sender.name)}: ${namesOf(names)}.`;
  return new CliError(names.length === 0 ? failure.message : said, { status, code, notReceived: names });
}

/**
 * Prepares the taking. The sender hears at once of an error here. Null: the user refused the offer. Throws `taken` if
 * another program has the transfer.
 */
async function prepare(offer: IncomingTransfer, taking: Taking): Promise<ReceiveClaim | null> {
  const { records, options, signal } = taking;
  const { settings } = taking.context;
  const { transfer, id } = offer;
  let claim: ReceiveClaim | null = null;
  try {
    claim = records.claim(id);
    if (claim === null) {
      throw new CliError(`${offered(transfer)}: another program of this device takes it.`, { code: 'taken' });
    }
    if (options.dir === '-' && fileCountOf(transfer) > 1) {
      throw new CliError('Standard output takes one file, and these are several.');
    }
    if (wasReceived(transfer, claim)) return claim;
    if (!(await isWanted(offer, taking))) {
      claim.remove();
      return null;
    }
    signal.throwIfAborted();
    const files = (transfer.files ?? []).map((file) => ({ index: file.index, name: file.name, count: filesIn(file) }));
    claim.begin({ from: transfer.sender.name, folder: options.dir === '-' ? '-' : resolve(options.dir), files });
    return claim;
  } catch (error) {
    if (offer.isAccepted || isLeft(failureOf(error))) claim?.release();
    else claim?.remove();
    if (isFull(error)) throw waitsForSpace(transfer, settings.folder);
    if (!(error instanceof Error) || !('errno' in error)) throw error;
    await taking.fail(id, 'sink_failed');
    const failure = new CliError(`${offered(transfer)}: it cannot be stored: ${error.message}.`, {
      code: 'sink_failed',
    });
    throw notStored(
      failure,
      transfer,
      (transfer.files ?? []).map(({ name }) => name),
    );
  }
}

/**
 * Takes one offer. Throws `taken` if another program of this device has it, otherwise the failure with the names of the
 * files that are not stored.
 */
export async function take(offer: IncomingTransfer, taking: Taking): Promise<void> {
  const claim = await prepare(offer, taking);
  if (claim === null) return;
  await (wasReceived(offer.transfer, claim) ? acknowledge : run)(offer, claim, taking);
}
