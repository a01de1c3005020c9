import { appendFileSync, lstatSync, mkdirSync, readdirSync, realpathSync, unlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir, platform } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { type Claim, isClaimName, makeClaim } from './claim.ts';
import { digestOfFile } from './disk.ts';
import { codeOf, unlessGone } from './file-errors.ts';
import type { TransferFile } from '../wire.ts';

/*
 * Which transfers this device receives, and which of their files it has, for a process that goes on with one after another
 * one has died. All of it lies in a folder of this device alone (of the command line, its configuration folder): what lies in
 * the folder that files go to may have been sent by somebody.
 *
 * Each transfer has a claim (see `claim.ts`) and a file `<transfer>.jsonl` of lines that are only added:
 * - a `Begun` line when a process begins with it: from whom, into which folder, which names
 * - a `Stored` line before a file gets its name. So a file that has its name has its line; a line alone proves nothing. It
 *   counts when the very file of that line lies inside of the folder, with the size and the digest that the line says.
 *
 * A loss of power may lose lines that were added last. Then a file is stored once more, under another name.
 */

/** A file that is stored, or an entry of a pack that is. */
export interface Stored {
  /** The index of the file in the transfer, and of the entry in a pack. */
  readonly index: number;
  readonly entry: number;
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  /** Device and inode. */
  readonly id: string;
  /** For an entry: its name in the pack. */
  readonly name?: string | undefined;
}

/** What a process began to receive: from whom, into which folder. */
export interface Begun {
  readonly from: string;
  readonly folder: string;
  readonly files: readonly BegunFile[];
}

/** A file of it. */
export interface BegunFile {
  readonly index: number;
  readonly name: string;
  /** How many files it stands for: several when it is a pack. */
  readonly count: number;
}

/** A transfer that this process alone receives. */
export interface ReceiveClaim extends Claim {
  readonly transferId: string;
  /** Notes what is received: when a process begins with it. */
  begin(about: Begun): void;
  /** Notes files before they get their names. */
  add(lines: readonly Stored[]): void;
  /** Which entries of a file are in that folder, by number; entry 0 of a file that is no pack. */
  find(file: Pick<TransferFile, 'index'>, folder: string): Promise<Map<number, Stored>>;
}

/** A transfer that a process began to receive which is not there any more. */
export interface LeftReceive {
  readonly transferId: string;
  readonly begun: readonly Begun[];
}

/** What this device receives. */
export interface ReceiveRecords {
  /** Null: another process receives it. */
  claim(transferId: string): ReceiveClaim | null;
  /** Also those that another process receives now. */
  list(): Promise<LeftReceive[]>;
}

/** The service forgets a transfer a day after its last change. */
export const OLD_MS = 2 * 24 * 60 * 60_000;

/** Where programs keep what they know between two runs. */
function defaultFolder(): string {
  const parts = { win32: ['AppData', 'Local'], darwin: ['Library', 'Application Support'] }[platform() as string];
  return join(homedir(), ...(parts ?? ['.local', 'state']), 'baton', 'receives');
}

const isStored = (value: unknown): value is Stored => {
  const { index, entry, path, size, sha256, id, name } = (value ?? {}) as Record<string, unknown>;
  const numbers = [index, entry, size].every((one) => Number.isSafeInteger(one) && (one as number) >= 0);
  const texts = [path, sha256, id, name ?? ''];
  return numbers && texts.every((one) => typeof one === 'string');
};

const isBegunFile = (value: unknown): boolean => {
  const { index, name, count } = (value ?? {}) as Record<string, unknown>;
  return Number.isSafeInteger(index) && typeof name === 'string' && Number.isSafeInteger(count);
};

const isBegun = (value: unknown): value is Begun => {
  const { from, folder, files } = (value ?? {}) as Record<string, unknown>;
  return typeof from === 'string' && typeof folder === 'string' && Array.isArray(files) && files.every(isBegunFile);
};

/** What a process that died has cut off is no line. */
async function linesOf(path: string): Promise<unknown[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}

function isInside(path: string, folder: string): boolean {
  try {
    const at = realpathSync(dirname(path)) + sep;
    return at.startsWith(folder.endsWith(sep) ? folder : folder + sep);
  } catch {
    return false;
  }
}

async function counts(line: Stored, folder: string): Promise<boolean> {
  if (!isInside(line.path, folder)) return false;
  const found = await digestOfFile(line.path);
  return found !== null && found.id === line.id && found.size === line.size && found.sha256 === line.sha256;
}

function claimOf(claim: Claim, transferId: string, path: string): ReceiveClaim {
  let known: Promise<Stored[]> | null = null;
  const append = (lines: readonly unknown[]) =>
    // The first of them ends what a process that died has cut off.
    appendFileSync(path, `\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n`, { mode: 0o600 });
  return {
    ...claim,
    transferId,
    begin: (about) => append([about]),
    add: (lines) => append(lines),
    async find(file, folder) {
      known ??= linesOf(path).then((lines) => lines.filter(isStored));
      const found = new Map<number, Stored>();
      for (const line of (await known).filter(({ index }) => index === file.index)) {
        if (!found.has(line.entry) && (await counts(line, folder))) found.set(line.entry, line);
      }
      return found;
    },
    remove() {
      unlessGone(() => unlinkSync(path));
      claim.remove();
    },
  };
}

const RECORD = '.jsonl';

/** What belongs to a transfer goes when all of it is old: a claim is touched as long as somebody receives. */
function removeOld(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith(RECORD) || name.endsWith('.claim'));
  const youngest = new Map<string, number>();
  const idOf = (name: string) => name.slice(0, name.indexOf('.'));
  for (const name of names) {
    const changedMs = lstatSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    youngest.set(idOf(name), Math.max(changedMs, youngest.get(idOf(name)) ?? 0));
  }
  for (const name of names) {
    if (Date.now() - (youngest.get(idOf(name)) ?? 0) > OLD_MS) unlessGone(() => unlinkSync(join(folder, name)));
  }
}

/** What this device receives, in a folder of its own. Default: the platform's folder for the state of programs. */
export function receiveRecords(folder: string = defaultFolder()): ReceiveRecords {
  return {
    claim(transferId) {
      const claim = makeClaim(folder, transferId);
      if (claim === null) return null;
      removeOld(folder);
      return claimOf(claim, transferId, join(folder, `${transferId}${RECORD}`));
    },
    async list() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Others may be beside them, as copies that programs make of files when they synchronise a folder.
      const names = readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith(RECORD))
        .map(({ name }) => name)
        .filter((name) => isClaimName(name.slice(0, -RECORD.length)));
      return Promise.all(
        names.map(async (name) => {
          const begun = (await linesOf(join(folder, name))).filter(isBegun);
          return { transferId: name.slice(0, -RECORD.length), begun };
        }),
      );
    },
  };
}
