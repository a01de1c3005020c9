import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { offeredNames } from '../../../shared/client/files/names.ts';
import type { BatonClient, Device, FileSource, OutgoingTransfer, Transfer } from '../../../shared/client/index.ts';
import { fileSource, findSources, type FoundSources, type PackSource } from '../../../shared/client/node.ts';
import { type Context, deviceNamed, untilOver } from '../context.ts';
import { CliError, EXIT, failureOf, usageError } from '../failure.ts';
import { oneLine, sizeOf } from '../output.ts';
import { showProgress } from '../progress.ts';
import { makeUnfinishedSends, type Unfinished } from '../unfinished.ts';

/** As many as one offer may have. */
const FILES_A_TRANSFER = 1_000;

/** Devices with this program, or one like it: what unpacks the small files of a folder. A browser gets them one by one. */
const UNPACKING: readonly Device['type'][] = ['linux', 'macos', 'windows'];

type Source = FileSource | PackSource;

interface SendOptions {
  to?: string;
  name?: string;
  leave?: boolean;
  continue?: boolean;
}

const folderOf = ({ settings }: Context): string => join(settings.folder, 'sends');

function sendsOf(context: Context) {
  const folder = folderOf(context);
  return makeUnfinishedSends(folder, () => readdir(folder).catch(() => []));
}

/** A pipe has no length, and the offer needs one: what comes is kept until it has been sent. */
async function spoolInput(context: Context): Promise<string> {
  if (process.stdin.isTTY) context.output.note('Reading from the terminal; end with Ctrl-D.');
  const folder = folderOf(context);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${randomUUID()}.input`);
  try {
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }), { signal: context.signal });
  } catch (error) {
    await rm(path, { force: true });
    throw context.signal.aborted ? context.signal.reason : error;
  }
  return path;
}

async function sourcesOf({ paths, spool, packs = false }: Pick<Unfinished, 'paths' | 'spool' | 'packs'>) {
  const found = await findSources(paths, { packs }).catch(async (error: unknown) => {
    const said = error instanceof Error ? error : new Error(String(error));
    const { code, path = '' } = said as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new CliError(oneLine(said.message), { code: 'source_failed' });
    const given = paths.find((one) => resolve(one) === path) ?? path;
    throw new CliError(`${oneLine(given)} does not exist.`, { status: EXIT.notFound, code: 'not_found' });
  });
  const input: Source[] = spool === null ? [] : [await fileSource(spool.path, { name: spool.name })];
  return { ...found, sources: [...input, ...found.sources] };
}

type Odd = Pick<FoundSources, 'renamed' | 'skipped'>;

const WHY: Readonly<Record<Odd['skipped'][number]['why'], string>> = {
  link: 'a link',
  pipe: 'a pipe',
  socket: 'a socket',
  device: 'a device',
  unreadable: 'it cannot be read',
  empty_folder: 'an empty folder',
};

/** Each by its name: nothing is left out in silence. */
function sayOdd({ output }: Context, { renamed, skipped }: Odd): void {
  const lines = [
    ...skipped.map(({ path, why }) => `Not sent: ${oneLine(path)} (${WHY[why]})`),
    ...renamed.map(({ path, name }) => `Sent under another name: ${oneLine(path)} as ${oneLine(name)}`),
  ];
  if (lines.length > 0) output.note(lines.join('\n'));
}

/** Each file that is sent, those in packs too. */
const filesOf = (sources: readonly Source[]) =>
  sources.flatMap((source): readonly (Source | PackSource['packed'][number])[] =>
    'packed' in source ? source.packed : [source],
  );

/** The same for the same files in the same state, to the same device. */
async function keyOf(deviceId: string, paths: readonly string[], sources: readonly Source[]): Promise<string> {
  const lines = [deviceId];
  for (const path of paths) lines.push(`${path} ${(await stat(path).catch(() => null))?.mtimeMs}`);
  for (const file of filesOf(sources)) {
    // The date is in the archive.
    lines.push(`${file.name} ${file.size}${'mtimeSeconds' in file ? ` ${file.mtimeSeconds}` : ''}`);
  }
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

interface Followed {
  baton: BatonClient;
  transfer: OutgoingTransfer;
  sources: readonly Source[];
  entry: Unfinished;
  /** What is said of names beside it. */
  odd: Odd;
  /** Ends when all of it fits in the relay. */
  leave: boolean;
}

const NOTHING_ODD: Odd = { renamed: [], skipped: [] };

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

/** Waits for the end; says what is to be said meanwhile. */
async function follow(context: Context, { baton, transfer, sources, entry, odd, leave }: Followed): Promise<void> {
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
    await sends.remove(transfer.id);
    sayDone(context, done, sent, odd);
  } catch (error) {
    hide();
    const { code } = failureOf(error);
    if (!['aborted', 'signed_out', 'superseded'].includes(code)) await sends.remove(entry.transferId);
    else output.note('Stopped. The same command, or `baton send --continue`, goes on with it.');
    throw error;
  }
}

/** A piece for each thousand files: an offer takes no more. */
const piecesOf = (sources: readonly Source[]): Source[][] =>
  Array.from({ length: Math.ceil(sources.length / FILES_A_TRANSFER) }, (_, piece) =>
    sources.slice(piece * FILES_A_TRANSFER, (piece + 1) * FILES_A_TRANSFER),
  );

async function goOn(context: Context, baton: BatonClient, entry: Unfinished, leave: boolean): Promise<void> {
  const { signal } = context;
  const { sources, ...odd } = await sourcesOf(entry);
  const key = await keyOf(entry.to, entry.paths, sources);
  const piece = piecesOf(sources).find((_, index) => entry.key === `${key}-${index}`);
  if (piece === undefined) {
    await sendsOf(context).remove(entry.transferId);
    throw new CliError('The files have changed since. Send them anew.');
  }
  const transfer = await baton.transfers.resume(entry.transferId, piece, { signal, offlineMs: null });
  context.output.note('Going on where it stopped.');
  await follow(context, { baton, transfer, sources: piece, entry, odd, leave });
}

async function offer(
  context: Context,
  baton: BatonClient,
  sources: Source[],
  about: Omit<Unfinished, 'transferId' | 'startedAt'>,
): Promise<{ transfer: OutgoingTransfer; entry: Unfinished }> {
  const { signal } = context;
  const target = { device_id: about.to };
  const transfer = await baton.transfers.send(target, sources, { signal, offlineMs: null });
  const entry = { ...about, transferId: transfer.id, startedAt: Date.now() };
  await sendsOf(context).add(entry);
  return { transfer, entry };
}

/** Sends files, folders and standard input to a device; the same command goes on with what was interrupted. */
export async function send(context: Context, given: readonly string[], options: SendOptions) {
  const { signal } = context;
  const leave = options.leave === true;
  const sends = sendsOf(context);
  if (options.continue) {
    return await context.withClient(async (baton) => {
      const entries = await sends.list();
      if (entries.length === 0) context.output.note('Nothing was interrupted.');
      else baton.start();
      for (const entry of entries) await goOn(context, baton, entry, leave);
    });
  }
  if (options.to === undefined) throw usageError('Say to which device: --to NAME.');
  if (given.length === 0) throw usageError('Say what is to be sent: files, folders, or - for standard input.');
  const { to } = options;
  const paths = given.filter((path) => path !== '-').map((path) => resolve(path));
  await context.withClient(async (baton) => {
    // Before a long pipe is read: whether there is anybody to take it.
    const { device_id: deviceId, type } = await deviceNamed(baton, to, signal);
    const name = options.name ?? 'input';
    const input = offeredNames([name.split('/')]);
    const spool = given.includes('-') ? { path: await spoolInput(context), name: input.names[0] as string } : null;
    let isKept = false;
    try {
      // While it connects.
      baton.start();
      const online = baton.untilOnline({ signal });
      online.catch(() => {});
      const packs = UNPACKING.includes(type);
      const { sources, ...found } = await sourcesOf({ paths, spool, packs });
      const odd = spool === null ? found : { ...found, renamed: [...input.renamed, ...found.renamed] };
      sayOdd(context, odd);
      if (sources.length === 0) throw usageError('There is no file in it.');
      const key = await keyOf(deviceId, paths, sources);
      const earlier = await sends.list();
      await online;
      for (const [index, piece] of piecesOf(sources).entries()) {
        const pieceKey = `${key}-${index}`;
        const before = spool === null ? earlier.find((entry) => entry.key === pieceKey) : undefined;
        if (before !== undefined && (await wentOn(context, baton, piece, before, leave))) continue;
        const about = { key: pieceKey, to: deviceId, paths, spool, packs };
        const { transfer, entry } = await offer(context, baton, piece, about);
        isKept = true;
        await follow(context, { baton, transfer, sources: piece, entry, odd: index === 0 ? odd : NOTHING_ODD, leave });
      }
    } finally {
      if (!isKept && spool !== null) await rm(spool.path, { force: true });
    }
  });
}

/** False: the transfer is gone or was ended, and the files are offered anew. */
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
      // All of it was in the relay when this was interrupted, and the receiver has taken it.
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
