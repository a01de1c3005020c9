import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../shared/client/node/replace-file.ts';

/**
 * The files of a watched folder that are dealt with, for each receiver. A file counts as dealt with when the record of its
 * transfer is removed, and its line is written before that. So a program that is killed at any point finds either the record
 * of the transfer, which it resumes, or the line.
 *
 * Each line is appended in one write, because another program may resume a transfer of the folder at the same time. It
 * begins with a line end, so that a line that was cut off by a crash spoils no other.
 */

/** A file of a watched folder, in one state. */
export interface WatchedFile {
  readonly name: string;
  /** Its size and date. A file with another stamp is another file. */
  readonly stamp: string;
}

/** Returns the stamp of a file. */
export const stampOf = ({ size, mtimeMs }: { size: number; mtimeMs: number }): string => `${size} ${mtimeMs}`;

/** FAT stores local time in steps of this length, so a change to or from summer time shifts all dates by an hour. */
const FAT_STEP_MS = 2_000;
const HOUR_MS = 3_600_000;
/** A file that was written now has a date of this hour, or of one beside it after such a change. */
const FRESH_MS = 2 * HOUR_MS;

/**
 * Tells whether two stamps are of one file that nobody has changed. A file with a fresh date was written again: a job that
 * runs each hour may give it a date of exactly one hour later, on FAT or from a server. A file that this takes for another
 * one by mistake is only sent again.
 */
export function isSameStamp(before: string | undefined, now: string, nowMs: number = Date.now()): boolean {
  if (before === undefined || before === now) return before === now;
  const [[size, ms = 0], [sizeNow, msNow = 0]] = [before.split(' ').map(Number), now.split(' ').map(Number)];
  const isFat = msNow % FAT_STEP_MS === 0;
  const isFresh = nowMs - msNow < FRESH_MS;
  return isFat && !isFresh && size === sizeNow && Math.abs(Math.abs(msNow - ms) - HOUR_MS) <= FAT_STEP_MS;
}

/** The watched folder that a transfer belongs to. */
export interface WatchMark extends WatchedFile {
  readonly id: string;
}

const pathOf = (folder: string, id: string): string => join(folder, `${id}.watch`);

const lineOf = ({ name, stamp }: WatchedFile): string => `\n${JSON.stringify([name, stamp])}\n`;

/** Returns the id of a folder that is watched for a receiver. */
export const watchIdOf = (dir: string, to: string): string =>
  createHash('sha256').update(`${to}\n${dir}`).digest('hex').slice(0, 32);

/** Notes that a file is dealt with. */
export async function settle(folder: string, mark: WatchMark): Promise<void> {
  await appendFile(pathOf(folder, mark.id), lineOf(mark), { mode: 0o600, flush: true });
}

/** Returns the stamps of the files that are dealt with, by their names; null: this folder was never watched. */
export async function findSettled(folder: string, id: string): Promise<Map<string, string> | null> {
  const text = await readFile(pathOf(folder, id), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const settled = new Map<string, string>();
  for (const line of text.split('\n')) {
    try {
      const [name, stamp] = JSON.parse(line) as [string, string];
      settled.set(name, stamp);
    } catch {
      // An empty line, or one that a crash has cut off: its transfer still has a record.
    }
  }
  return settled;
}

/** Begins the record of a folder with the files that are there already. It is there whole, or not at all. */
export async function beginSettled(folder: string, id: string, files: readonly WatchedFile[]): Promise<void> {
  await replaceFile(pathOf(folder, id), files.map(lineOf).join(''));
}
