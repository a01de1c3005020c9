import { mkdir, rm, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BatonClient, IncomingTransfer, Transfer } from '../../../shared/client/index.ts';
import { filesIn, folderSink, writableSink } from '../../../shared/client/node.ts';
import { askYesNo } from '../ask.ts';
import { type Context, untilOver } from '../context.ts';
import { CliError, failureOf, usageError } from '../failure.ts';
import { oneLine, sizeOf } from '../output.ts';
import { showProgress } from '../progress.ts';

interface ReceiveOptions {
  dir: string;
  from?: string;
  yes?: boolean;
  once?: boolean;
}

/** What a file system may need beside the bytes themselves. */
const SPARE_BYTES = 16 * 1024 * 1024;

/** Of what is offered: those in packs too. */
const fileCountOf = ({ files = [] }: Transfer): number => files.reduce((count, file) => count + filesIn(file), 0);

async function hasSpace(folder: string, transfer: Transfer): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const { bavail, bsize } = await statfs(folder);
  // The last block of a file is taken whole.
  return bavail * bsize >= transfer.total_bytes + fileCountOf(transfer) * bsize + SPARE_BYTES;
}

function offered(transfer: Transfer): string {
  const { sender, total_bytes: bytes, files } = transfer;
  const count = fileCountOf(transfer);
  const what = count === 1 ? oneLine(files?.[0]?.name ?? '1 file') : `${count} files`;
  return `${oneLine(sender.name)} sends ${what}, ${sizeOf(bytes)}`;
}

/** Beside the files: another folder has other files. */
const recordOf = ({ transfer_id: id }: Transfer, folder: string): string => join(resolve(folder), `.baton-${id}.part`);

/** Standard output takes one file: of several nobody could tell where one ends. */
function sinkOf(transfer: Transfer, options: ReceiveOptions, stored: (path: string) => void) {
  if (options.dir !== '-') {
    const record = recordOf(transfer, options.dir);
    return folderSink(resolve(options.dir), (_, path) => stored(path), { records: record });
  }
  if (fileCountOf(transfer) > 1) throw new CliError('Standard output takes one file, and these are several.');
  return () => writableSink(process.stdout, { end: false });
}

/** Lines that are said one right after the other go out as one: of small files a line takes as long as storing half a file. */
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

/** What ends this program, and not the transfer. */
const GOES_ON = ['aborted', 'signed_out', 'superseded'];

async function forget(transfer: Transfer, { dir }: ReceiveOptions): Promise<void> {
  if (dir !== '-') await rm(recordOf(transfer, dir), { force: true });
}

async function take(
  context: Context,
  offer: IncomingTransfer,
  { over, ...options }: ReceiveOptions & { over: Promise<never> },
): Promise<void> {
  const { output, signal } = context;
  const { transfer } = offer;
  const toFolder = options.dir !== '-';
  if (!offer.isAccepted) {
    if (toFolder && !(await hasSpace(resolve(options.dir), transfer))) {
      await offer.reject({ signal });
      throw new CliError(`${offered(transfer)}: there is not enough space in ${options.dir}. Refused.`, {
        code: 'no_space',
      });
    }
    if (!options.yes && !(await askYesNo(`${offered(transfer)}. Take it?`, signal))) {
      await offer.reject({ signal });
      return output.note('Refused.');
    }
  }
  if (options.yes || offer.isAccepted) output.note(`${offered(transfer)}${offer.isAccepted ? ', going on' : ''}`);
  const paths: string[] = [];
  const say = inOneGo((lines) => output.result(null, lines));
  const open = sinkOf(transfer, options, (path) => {
    paths.push(path);
    if (!output.isJson && !process.stderr.isTTY) say(path);
  });
  const running = offer.accept(open, { signal, ...(!toFolder && { concurrency: 1 }) });
  const hide = showProgress(running, output);
  try {
    const done = await Promise.race([running.done, over]);
    const result = { transfer_id: done.transfer_id, from: done.sender, bytes: done.total_bytes, files: paths };
    if (!toFolder) return output.note(`Received ${sizeOf(done.total_bytes)}.`);
    output.result(result, process.stderr.isTTY ? paths.join('\n') : null);
    await forget(transfer, options);
  } catch (error) {
    if (!GOES_ON.includes(failureOf(error).code)) await forget(transfer, options);
    throw error;
  } finally {
    hide();
  }
}

/** Takes what is offered, one transfer after the other, until it is interrupted; with `once` the first and no more. */
export async function receive(context: Context, options: ReceiveOptions) {
  const { output, signal } = context;
  if (!options.yes && !process.stdin.isTTY) throw usageError('There is no terminal to ask on: say --yes.');
  if (options.dir === '-' && output.isJson) throw usageError('--dir - and --json both want standard output.');
  await context.withClient(async (baton) => {
    const next = offersOf(baton, options.from);
    const over = untilOver(context, baton);
    baton.start();
    await Promise.race([baton.untilOnline({ signal }), over]);
    output.note(
      options.dir === '-' ? 'Waiting for a file ...' : `Waiting for files; they go to ${resolve(options.dir)} ...`,
    );
    const isOnce = options.once === true || options.dir === '-';
    for (;;) {
      const offer = await Promise.race([next(), over]);
      try {
        await take(context, offer, { ...options, over });
      } catch (error) {
        const { code, message } = failureOf(error);
        if (isOnce || [...GOES_ON, 'usage'].includes(code)) throw error;
        output.note(message);
        continue;
      }
      if (isOnce) return;
    }
  });
}

/** Gives the offers one by one, those of `from` alone where it is said. */
function offersOf(baton: BatonClient, from: string | undefined): () => Promise<IncomingTransfer> {
  const waiting: IncomingTransfer[] = [];
  let hand: ((offer: IncomingTransfer) => void) | null = null;
  baton.on('incoming', (offer) => {
    const { sender } = offer.transfer;
    if (from !== undefined && sender.name !== from && sender.device_id !== from) return;
    if (hand === null) waiting.push(offer);
    else hand(offer);
    hand = null;
  });
  return () =>
    new Promise((resolveOffer) => {
      const first = waiting.shift();
      if (first !== undefined) resolveOffer(first);
      else hand = resolveOffer;
    });
}
