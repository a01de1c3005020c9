import { mkdir, statfs } from 'node:fs/promises';
import { BatonClientError, type FileSink, type OpenSink, type Transfer } from '../../../shared/client/index.ts';
import { filesIn } from '../../../shared/client/node.ts';
import { CliError } from '../failure.ts';
import { offered } from './names.ts';

/*
 * A full disk. An offer is refused only if it cannot fit whatever else ends. Every other transfer keeps what is stored, and
 * goes on when there is space, because its user can make some, and the sender would have to begin anew.
 */

/** The code of a transfer that waits for space. */
export const NO_SPACE = 'no_space';

const OF_FULL_DISK: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
/** The space for the records of a transfer. */
const RECORD_BYTES = 64 * 1024;

/** Returns the bytes that are free for a user in a folder, which is made if it does not exist. */
async function freeIn(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Tells whether so many bytes fit. A disk that cannot be asked now has no space. */
export async function fits(folders: { target: string; records: string }, bytes: number): Promise<boolean> {
  try {
    return (await freeIn(folders.target)) >= bytes && (await freeIn(folders.records)) >= RECORD_BYTES;
  } catch {
    return false;
  }
}

/** Tells whether an offer fits: `never`, whatever else ends; `later`, if the running transfers leave space; or `now`. */
export async function fitOf(
  folder: string,
  transfer: Transfer,
  reservedBytes: number,
): Promise<'never' | 'later' | 'now'> {
  const free = await freeIn(folder);
  if (free < transfer.total_bytes) return 'never';
  return free < transfer.total_bytes + reservedBytes ? 'later' : 'now';
}

export const isFull = (error: unknown): boolean => OF_FULL_DISK.includes((error as { code?: unknown } | null)?.code);

/** The least space that a small file takes on most disks. */
const BLOCK_BYTES = 4_096;

/** Returns the space that the files of a pack need beside the pack itself. One pack of a transfer is unpacked at a time. */
export const unpackBytesOf = ({ files = [] }: Pick<Transfer, 'files'>): number =>
  Math.max(0, ...files.map((file) => (filesIn(file) > 1 ? file.size + filesIn(file) * BLOCK_BYTES : 0)));

/** The longest pause between two attempts. */
const LONGEST_MS = 60_000;

/**
 * Returns the pause before a transfer that found a full disk is tried again. It doubles while no more bytes arrive, because
 * a quota, or a file system without inodes, refuses although the disk has free space, and each attempt reads back and
 * records what is stored.
 */
export function makeFullPauses(firstMs: number): (id: string, bytes: number) => number {
  const known = new Map<string, { bytes: number; pauseMs: number }>();
  return (id, bytes) => {
    const before = known.get(id);
    const hasMoved = before === undefined || bytes > before.bytes;
    const pauseMs = hasMoved ? firstMs : Math.min(before.pauseMs * 2, LONGEST_MS);
    known.set(id, { bytes: Math.max(bytes, before?.bytes ?? 0), pauseMs });
    return pauseMs;
  };
}

/** A transfer that is left where it is until there is space. */
export class WaitsForSpace extends CliError {}

export const waitsForSpace = (transfer: Transfer, folder: string): WaitsForSpace =>
  new WaitsForSpace(
    `${offered(transfer)}: ${folder} has not enough space. What is stored is kept, and it goes on when there is space.`,
    { code: NO_SPACE },
  );

/** Makes the error of an offer that cannot fit. */
export const cannotFit = (transfer: Transfer, folder: string): CliError =>
  new CliError(`${offered(transfer)}: there is not enough space in ${folder}. Refused.`, {
    code: NO_SPACE,
    notReceived: (transfer.files ?? []).map(({ name }) => name),
  });

/** Makes a sink that stops its transfer on a full disk, and does not fail it for both sides. */
export function stoppingWhenFull(open: OpenSink, waits: () => CliError): OpenSink {
  async function unlessFull<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isFull(error)) throw error;
      const cause = waits();
      // The library leaves a transfer that ends so to another run of this device.
      throw new BatonClientError('taken', cause.message, { cause });
    }
  }
  return async (...given) => {
    const sink = (await unlessFull(() => open(...given))) as FileSink;
    return {
      ...sink,
      write: (chunk) => unlessFull(() => sink.write(chunk)),
      close: () => unlessFull(() => sink.close()),
    };
  };
}
