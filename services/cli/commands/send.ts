import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BatonClient, Device, FileSource, OutgoingTransfer, Transfer } from '../../../shared/client/index.ts';
import { offeredNames } from '../../../shared/client/files/names.ts';
import type { Claim } from '../../../shared/client/node.ts';
import { type Context, deviceNamed, untilOver } from '../context.ts';
import { CliError, failureOf, usageError } from '../failure.ts';
import { oneLine, sizeOf } from '../output.ts';
import { showProgress } from '../progress.ts';
import { namesOf } from '../receiving/names.ts';
import { checkMayGoOn, dropChanged, giveUp, unlessPlain } from '../sending/earlier.ts';
import { offer } from '../sending/offering.ts';
import { resumeWith, type Sealer, sealerFor } from '../sending/sealer.ts';
import { filesOf, keyOf, NOTHING_ODD, type Odd, sayOdd, type Source, sourcesOf } from '../sending/sources.ts';
import { sayUnsent } from '../sending/unsent.ts';
import { type BegunSend, makeUnfinishedSends, type Unfinished } from '../unfinished.ts';
import { LOCK } from '../sealing.ts';

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
  plain?: boolean;
}

/** The client of a command, and the address of its service. */
interface Online {
  baton: BatonClient;
  url: string;
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
  { sent, odd, isSealed }: { sent: readonly Pick<FileSource, 'name' | 'size'>[]; odd: Odd; isSealed: boolean },
): void {
  const lines = sent.map((file) => `${oneLine(file.name)}  ${sizeOf(file.size)}`);
  const result = {
    transfer_id: done.transfer_id,
    state: done.state,
    files: sent.length,
    bytes: sent.reduce((sum, { size }) => sum + size, 0),
    sealed: isSealed,
    ...odd,
  };
  const lock = isSealed ? `${LOCK} ` : '';
  output.result(result, [...lines, `${lock}Sent to ${oneLine(done.receiver.name)}.`].join('\n'));
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
  const isSealed = entry.sealedKey !== undefined;
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
        { transfer_id: transfer.id, state: transfer.transfer.state, files, sealed: isSealed, ...odd },
        `Left ${files} ${files === 1 ? 'file' : 'files'} for ${name}.`,
      );
    }
    const done = await Promise.race([transfer.done, over]);
    // Reported first: a program that is killed in between reports it again, but does not send again.
    sayDone(context, done, { sent, odd, isSealed });
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
    const said = transfer.transfer.error?.code === 'cannot_open' ? CANNOT_OPEN : failure.message;
    throw new CliError(`${said} Not sent to ${name}: ${namesOf(names)}.`, { status, code, notSent: names });
  } finally {
    claim.release();
  }
}

const CANNOT_OPEN =
  'The other device could not open what was sealed for it: link it again (`baton keys link` there), and send again.';

/** Divides the sources into pieces of a thousand files, the most that an offer takes. */
const piecesOf = (sources: readonly Source[]): Source[][] =>
  Array.from({ length: Math.ceil(sources.length / FILES_A_TRANSFER) }, (_, piece) =>
    sources.slice(piece * FILES_A_TRANSFER, (piece + 1) * FILES_A_TRANSFER),
  );

async function goOn(context: Context, online: Online, entry: Unfinished, leave: boolean): Promise<void> {
  const claim = sendsOf(context).claim(entry.transferId);
  if (claim === null) throw new CliError('Another program sends this now.', { code: 'taken' });
  try {
    await goOnWith(context, online, entry, { claim, leave });
  } finally {
    claim.release();
  }
}

async function goOnWith(
  context: Context,
  online: Online,
  entry: Unfinished,
  { claim, leave }: { claim: Claim; leave: boolean },
): Promise<void> {
  const { baton } = online;
  let piece: Source[] | undefined;
  let odd = NOTHING_ODD;
  try {
    const { sources, ...found } = await sourcesOf(entry);
    odd = found;
    const key = await keyOf(entry.to, entry.paths, sources);
    piece = piecesOf(sources).find((_, index) => entry.key === `${key}-${index}`);
    if (piece === undefined) throw new CliError('The files have changed since. Send them anew.');
  } catch (error) {
    await giveUp({ context, baton, sends: sendsOf(context) }, entry);
    claim.remove();
    throw error;
  }
  const { transferId, sealedKey: key } = entry;
  const transfer = await resumeWith(context, online, { transferId, key }, piece);
  context.output.note('Going on where it stopped.');
  await follow(context, { baton, transfer, sources: piece, entry, claim, odd, leave });
}

/** Resumes all sends one by one, so that a failure does not stop the others. */
async function continueAll(context: Context, isPlain: boolean): Promise<void> {
  const sends = sendsOf(context);
  await context.withClient(async (baton, url) => {
    await sayUnsent({ context, baton, sends }, () => false);
    const entries = await sends.list();
    if (entries.length === 0) context.output.note('Nothing was interrupted.');
    else baton.start();
    const failures: unknown[] = [];
    for (const entry of entries) {
      try {
        await checkMayGoOn(context, url, entry, isPlain);
        await goOn(context, { baton, url }, entry, false);
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
  isPlain: boolean;
  /** Standard input, where it cannot have the requested name. */
  renamed: Odd['renamed'];
}

/** Offers or resumes the requested files, one piece after the other. */
async function sendPieces(
  context: Context,
  online: Online,
  { asked, sealer, leave, begun }: { asked: Asked; sealer: Sealer; leave: boolean; begun: BegunSend },
): Promise<void> {
  const { signal } = context;
  const { baton } = online;
  const sends = sendsOf(context);
  // Connects in parallel with the next steps.
  baton.start();
  const connected = baton.untilOnline({ signal });
  connected.catch(() => {});
  const { to, paths, packs, excludes, spool, isPlain } = asked;
  const { sources, ...found } = await sourcesOf(asked);
  const odd = { ...found, renamed: [...asked.renamed, ...found.renamed] };
  sayOdd(context, odd);
  if (sources.length === 0) throw usageError('There is no file in it.');
  const key = await keyOf(to, paths, sources);
  const earlier = await sends.list();
  if (spool === null) await dropChanged({ context, baton, sends }, asked, key);
  await sayUnsent({ context, baton, sends }, (entry) => entry.key.startsWith(`${key}-`));
  await connected;
  const pieces = piecesOf(sources);
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1;
    const pieceKey = `${key}-${index}`;
    const begunBefore = spool === null ? earlier.find((entry) => entry.key === pieceKey) : undefined;
    const before = await unlessPlain({ context, baton, sends }, begunBefore, sealer);
    // All pieces are recorded.
    if (before !== undefined && isLast) await sends.removeBegun(begun.id);
    if (before !== undefined && (await wentOn(context, online, piece, before, leave))) continue;
    const about = { key: pieceKey, to, paths, spool, packs, excludes, isPlain };
    await follow(context, {
      ...(await offer({ context, baton, sends, sealer, begun, isLast }, piece, about)),
      baton,
      sources: piece,
      odd: index === 0 ? odd : NOTHING_ODD,
      leave,
    });
  }
}

/** Sends files, folders and standard input to a device. The same command resumes an interrupted send. */
export async function send(context: Context, given: readonly string[], options: SendOptions) {
  if (options.continue) return await continueAll(context, options.plain === true);
  if (options.to === undefined) throw usageError('Say to which device: --to NAME.');
  if (given.length === 0) throw usageError('Say what is to be sent: files, folders, or - for standard input.');
  const { to: wanted, plain: isPlain = false } = options;
  const sends = sendsOf(context);
  const paths = given.filter((path) => path !== '-').map((path) => resolve(path));
  await context.withClient(async (baton, url) => {
    // Finds the receiver before a long pipe is read.
    const { device_id: to, name: toName, type } = await deviceNamed(baton, wanted, context.signal);
    const sealer = await sealerFor(context, { baton, url }, { to, isPlain });
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
      const asked = { to, paths, packs: UNPACKING.includes(type), excludes, spool, renamed, isPlain };
      await sendPieces(context, { baton, url }, { asked, sealer, leave: options.leave === true, begun });
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
  online: Online,
  sources: readonly Source[],
  entry: Unfinished,
  leave: boolean,
): Promise<boolean> {
  try {
    const transfer = await online.baton.transfers.get(entry.transferId, { signal: context.signal });
    if (transfer.state === 'DONE') {
      // Everything was in the relay when the command was interrupted, and the receiver has taken it since.
      await sendsOf(context).remove(entry.transferId);
      const isSealed = entry.sealedKey !== undefined;
      sayDone(context, transfer, { sent: filesOf(sources), odd: NOTHING_ODD, isSealed });
      return true;
    }
    if (['FAILED', 'CANCELLED'].includes(transfer.state)) throw new CliError('over', { code: 'transfer_gone' });
    await goOn(context, online, entry, leave);
    return true;
  } catch (error) {
    if (!['not_found', 'transfer_gone'].includes(failureOf(error).code)) throw error;
    await sendsOf(context).remove(entry.transferId);
    return false;
  }
}
