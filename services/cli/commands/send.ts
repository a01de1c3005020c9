import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { BatonClient, Device, FileSource, OutgoingTransfer, Transfer } from '../../../shared/client/index.ts';
import { offeredNames } from '../../../shared/client/files/names.ts';
import type { Claim } from '../../../shared/client/node.ts';
import { type Context, deviceNamed, untilOver } from '../context.ts';
import { CliError, failureOf, usageError } from '../failure.ts';
import { oneLine, sizeOf } from '../output.ts';
import { showProgress } from '../progress.ts';
import { namesOf } from '../receiving/names.ts';
import { offer } from '../sending/offering.ts';
import { filesOf, keyOf, NOTHING_ODD, type Odd, sayOdd, type Source, sourcesOf } from '../sending/sources.ts';
import { OVER, sayUnsent } from '../sending/unsent.ts';
import { type BegunSend, makeUnfinishedSends, type Unfinished } from '../unfinished.ts';
import { hasFiles } from '../sealing.ts';

/** The most files of one offer. */
const FILES_A_TRANSFER = 1_000;

/** Device types with a program that unpacks the small files of a folder. A browser gets them one by one. */
const UNPACKING: readonly Device['type'][] = ['linux', 'macos', 'windows'];

interface SendOptions {
  to?: string;
  name?: string;
  exclude?: string[];
  leave?: boolean;
  continue?: boolean;
}

const folderOf = ({ settings }: Context): string => join(settings.folder, 'sends');

function sendsOf(context: Context) {
  const folder = folderOf(context);
  return makeUnfinishedSends(folder, () => readdir(folder).catch(() => []));
}

/** Stores standard input until it is sent, because a pipe has no length and the offer needs one. */
async function spoolInput(context: Context, path: string): Promise<void> {
  if (process.stdin.isTTY) context.output.note('Reading from the terminal; end with Ctrl-D.');
  try {
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }), { signal: context.signal });
  } catch (error) {
    await rm(path, { force: true });
    throw context.signal.aborted ? context.signal.reason : error;
  }
}

interface Followed {
  baton: BatonClient;
  transfer: OutgoingTransfer;
  sources: readonly Source[];
  entry: Unfinished;
  claim: Claim;
  /** The changed names, and the files that are not sent. */
  odd: Odd;
  /** True: the command ends when everything is in the relay. */
  leave: boolean;
}

function sayDone(
  { output }: Context,
  done: Transfer,
  sent: readonly Pick<FileSource, 'name' | 'size'>[],
  odd: Odd,
): void {
  const lines = sent.map((file) => `${oneLine(file.name)}  ${sizeOf(file.size)}`);
  const result = {
    transfer_id: done.transfer_id,
    state: done.state,
    files: sent.length,
    bytes: sent.reduce((sum, { size }) => sum + size, 0),
    ...odd,
  };
  output.result(result, [...lines, `Sent to ${oneLine(done.receiver.name)}.`].join('\n'));
}

/** Waits for the end, and reports what happens meanwhile. */
async function follow(
  context: Context,
  { baton, transfer, sources, entry, claim, odd, leave }: Followed,
): Promise<void> {
  const { output } = context;
  const over = untilOver(context, baton);
  const sends = sendsOf(context);
  const name = oneLine(transfer.transfer.receiver.name);
  const sent = filesOf(sources);
  if (!transfer.receiverOnline) {
    output.note(`${name} is not connected. What fits is left for it; it takes the rest when it comes.`);
  }
  const hide = showProgress(transfer, output);
  try {
    if (leave) {
      await Promise.race([transfer.uploaded, over]);
      hide();
      const files = sent.length;
      return output.result(
        { transfer_id: transfer.id, state: transfer.transfer.state, files, ...odd },
        `Left ${files} ${files === 1 ? 'file' : 'files'} for ${name}.`,
      );
    }
    const done = await Promise.race([transfer.done, over]);
    // Reported first: a program that is killed in between reports it again, but does not send again.
    sayDone(context, done, sent, odd);
    await sends.remove(transfer.id);
    claim.remove();
  } catch (error) {
    hide();
    const failure = failureOf(error);
    if (['aborted', 'signed_out', 'superseded'].includes(failure.code)) {
      output.note('Stopped. The same command, or `baton send --continue`, goes on with it.');
      throw error;
    }
    await sends.remove(entry.transferId);
    claim.remove();
    const { status, code } = failure;
    const names = sent.map((file) => file.name);
    throw new CliError(`${failure.message} Not sent to ${name}: ${namesOf(names)}.`, { status, code, notSent: names });
  } finally {
    claim.release();
  }
}

/** Divides the sources into pieces of a thousand files, the most that an offer takes. */
const piecesOf = (sources: readonly Source[]): Source[][] =>
  Array.from({ length: Math.ceil(sources.length / FILES_A_TRANSFER) }, (_, piece) =>
    sources.slice(piece * FILES_A_TRANSFER, (piece + 1) * FILES_A_TRANSFER),
  );

async function goOn(context: Context, baton: BatonClient, entry: Unfinished, leave: boolean): Promise<void> {
  const claim = sendsOf(context).claim(entry.transferId);
  if (claim === null) throw new CliError('Another program sends this now.', { code: 'taken' });
  try {
    await goOnWith(context, baton, entry, { claim, leave });
  } finally {
    claim.release();
  }
}

async function goOnWith(
  context: Context,
  baton: BatonClient,
  entry: Unfinished,
  { claim, leave }: { claim: Claim; leave: boolean },
): Promise<void> {
  const { signal } = context;
  let piece: Source[] | undefined;
  let odd = NOTHING_ODD;
  try {
    const { sources, ...found } = await sourcesOf(entry);
    odd = found;
    const key = await keyOf(entry.to, entry.paths, sources);
    piece = piecesOf(sources).find((_, index) => entry.key === `${key}-${index}`);
    if (piece === undefined) throw new CliError('The files have changed since. Send them anew.');
  } catch (error) {
    await giveUp(context, baton, entry);
    claim.remove();
    throw error;
  }
  const transfer = await baton.transfers.resume(entry.transferId, piece, { signal, offlineMs: null });
  context.output.note('Going on where it stopped.');
  await follow(context, { baton, transfer, sources: piece, entry, claim, odd, leave });
}

/** Cancels a transfer that nobody can resume, so that the receiver need not wait. */
async function giveUp(context: Context, baton: BatonClient, entry: Unfinished): Promise<void> {
  await baton.transfers
    .cancel(entry.transferId, 'source_failed', { signal: context.signal })
    .catch((error: unknown) => {
      if (!OVER.includes(failureOf(error).code)) throw error;
    });
  await sendsOf(context).remove(entry.transferId);
}

/** Drops earlier sends of files that have changed since, because they cannot be resumed. */
async function dropChanged(
  context: Context,
  baton: BatonClient,
  { to, paths, excludes }: Asked,
  key: string,
): Promise<void> {
  const sends = sendsOf(context);
  for (const entry of await sends.list()) {
    const isSame =
      entry.to === to &&
      entry.spool === null &&
      isDeepStrictEqual([entry.paths, entry.excludes ?? []], [paths, excludes]);
    if (!isSame || entry.key.startsWith(`${key}-`)) continue;
    const claim = sends.claim(entry.transferId);
    if (claim === null) continue;
    context.output.note('The files have changed since this was interrupted. They are sent anew.');
    await giveUp(context, baton, entry);
    claim.remove();
  }
}

/** Resumes all sends one by one, so that a failure does not stop the others. */
async function continueAll(context: Context): Promise<void> {
  const sends = sendsOf(context);
  await context.withClient(async (baton) => {
    await sayUnsent({ context, baton, sends }, () => false);
    const entries = await sends.list();
    if (entries.length === 0) context.output.note('Nothing was interrupted.');
    else baton.start();
    const failures: unknown[] = [];
    for (const entry of entries) {
      try {
        await goOn(context, baton, entry, false);
      } catch (error) {
        if (context.signal.aborted) throw error;
        const { code, message, notSent } = failureOf(error);
        context.output.note(message);
        // The first failure ends the program. Further failures are reported as results.
        if (failures.length > 0) context.output.result({ error: { code, message }, not_sent: notSent ?? [] }, null);
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  });
}

interface Asked {
  to: string;
  paths: string[];
  packs: boolean;
  excludes: readonly string[];
  spool: Unfinished['spool'];
  /** Standard input, where it cannot have the requested name. */
  renamed: Odd['renamed'];
}

/** Offers or resumes the requested files, one piece after the other. */
async function sendPieces(
  context: Context,
  baton: BatonClient,
  { asked, leave, begun }: { asked: Asked; leave: boolean; begun: BegunSend },
): Promise<void> {
  const { signal } = context;
  const sends = sendsOf(context);
  // Connects in parallel with the next steps.
  baton.start();
  const online = baton.untilOnline({ signal });
  online.catch(() => {});
  const { to, paths, packs, excludes, spool } = asked;
  const { sources, ...found } = await sourcesOf(asked);
  const odd = { ...found, renamed: [...asked.renamed, ...found.renamed] };
  sayOdd(context, odd);
  if (sources.length === 0) throw usageError('There is no file in it.');
  const key = await keyOf(to, paths, sources);
  const earlier = await sends.list();
  if (spool === null) await dropChanged(context, baton, asked, key);
  await sayUnsent({ context, baton, sends }, (entry) => entry.key.startsWith(`${key}-`));
  await online;
  const pieces = piecesOf(sources);
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    const pieceKey = `${key}-${index}`;
    const before = spool === null ? earlier.find((entry) => entry.key === pieceKey) : undefined;
    // All pieces are recorded.
    if (before !== undefined && isLast) await sends.removeBegun(begun.id);
    if (before !== undefined && (await wentOn(context, baton, piece, before, leave))) continue;
    const about = { key: pieceKey, to, paths, spool, packs, excludes };
    await follow(context, {
      ...(await offer({ context, baton, sends, begun, isLast }, piece, about)),
      baton,
      sources: piece,
      odd: index === 0 ? odd : NOTHING_ODD,
      leave,
    });
  }
}

/** Sends files, folders and standard input to a device. The same command resumes an interrupted send. */
export async function send(context: Context, given: readonly string[], options: SendOptions) {
  if (options.continue) return await continueAll(context);
  if (options.to === undefined) throw usageError('Say to which device: --to NAME.');
  if (given.length === 0) throw usageError('Say what is to be sent: files, folders, or - for standard input.');
  const { to: wanted } = options;
  const sends = sendsOf(context);
  const paths = given.filter((path) => path !== '-').map((path) => resolve(path));
  if (hasFiles(context)) context.output.note('Files are not encrypted yet: the service can read these.');
  await context.withClient(async (baton) => {
    // Finds the receiver before a long pipe is read.
    const { device_id: to, name: toName, type } = await deviceNamed(baton, wanted, context.signal);
    const id = randomUUID();
    const input = join(folderOf(context), `${id}.input`);
    const called = offeredNames([(options.name ?? 'input').split('/')]);
    const spool = given.includes('-') ? { path: input, name: called.names[0] as string } : null;
    const begun = { id, to, toName, paths, spool, offering: null };
    const claim = sends.claim(id);
    try {
      await sends.keepBegun(begun);
      if (spool !== null) await spoolInput(context, spool.path);
      const renamed = spool === null ? [] : called.renamed;
      const { exclude: excludes = [] } = options;
      const asked = { to, paths, packs: UNPACKING.includes(type), excludes, spool, renamed };
      await sendPieces(context, baton, { asked, leave: options.leave === true, begun });
    } finally {
      const isKept = (await sends.list()).some((entry) => entry.spool?.path === input);
      if (!isKept) await rm(input, { force: true });
      // The next start checks whether an offer without a response arrived.
      const isUnsure = (await sends.listBegun()).some((one) => one.id === id && one.offering !== null);
      if (!isUnsure) await sends.removeBegun(id);
      claim?.remove();
    }
  });
}

/** Resumes a transfer. False: the transfer is gone or has ended, and the files are offered again. */
async function wentOn(
  context: Context,
  baton: BatonClient,
  sources: readonly Source[],
  entry: Unfinished,
  leave: boolean,
): Promise<boolean> {
  try {
    const transfer = await baton.transfers.get(entry.transferId, { signal: context.signal });
    if (transfer.state === 'DONE') {
      // Everything was in the relay when the command was interrupted, and the receiver has taken it since.
      await sendsOf(context).remove(entry.transferId);
      sayDone(context, transfer, filesOf(sources), NOTHING_ODD);
      return true;
    }
    if (['FAILED', 'CANCELLED'].includes(transfer.state)) throw new CliError('over', { code: 'transfer_gone' });
    await goOn(context, baton, entry, leave);
    return true;
  } catch (error) {
    if (!['not_found', 'transfer_gone'].includes(failureOf(error).code)) throw error;
    await sendsOf(context).remove(entry.transferId);
    return false;
  }
}
