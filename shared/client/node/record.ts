import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir, platform } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { type Claim, isClaimName, makeClaim } from './claim.ts';
import { digestOfFile } from './disk.ts';
import { codeOf, unlessGone } from './file-errors.ts';
import type { TransferFile } from '../wire.ts';

/*
 * Records which transfers this device receives, and which of their files it has, so that a process can resume a transfer
 * after another one has died. The records lie in a folder that only this device writes to (for the command line, its
 * configuration folder), because somebody may have sent what lies in the folder that files go to.
 *
 * Each transfer has a claim (see `claim.ts`) and a file `<transfer>.jsonl` of lines that are only added:
 * - a `Begun` line when a process begins to receive it: from whom, into which folder, which names
 * - a `Stored` line before a file gets its name. So each file that has got its name has a line. A line alone proves
 *   nothing: it counts only if its file is inside the folder and has the recorded id, size and digest.
 *
 * When the service has heard that every file is stored, one `Received` line takes their place for two days. The service may
 * lose that, as a store does whose primary fails, and offers the transfer again. Then it is only acknowledged again, even if
 * its files have been moved since.
 *
 * A power failure may lose the last lines. Then a file is stored once more, under another name.
 */

/** A stored file, or a stored entry of a pack. */
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

/** A process began to receive: from whom, into which folder. */
export interface Begun {
  readonly from: string;
  readonly folder: string;
  readonly files: readonly BegunFile[];
}

/** A file of a transfer that a process began to receive. */
export interface BegunFile {
  readonly index: number;
  readonly name: string;
  /** How many files it stands for: several when it is a pack. */
  readonly count: number;
}

/** Every file of a transfer was received. */
interface Received {
  readonly received: readonly Announced[];
}

/** A file as the sender announced it. */
type Announced = Pick<TransferFile, 'index' | 'name' | 'size' | 'sha256'>;

/** A transfer that only this process receives. */
export interface ReceiveClaim extends Claim {
  readonly transferId: string;
  /** Records what this process begins to receive, unless the last beginning was the same. */
  begin(about: Begun): void;
  /** Records files before they get their names. */
  add(lines: readonly Stored[]): void;
  /** Finds the entries of a file that are in that folder, by number; a file that is no pack is entry 0. */
  find(file: Pick<TransferFile, 'index'>, folder: string): Promise<Map<number, Stored>>;
  /** Tells whether an earlier run has received this file, and the service has heard that all of the transfer was. */
  hasReceived(file: TransferFile): boolean;
  /** Ends the claim of a transfer that is done, and remembers that its files were received. */
  finish(files: readonly TransferFile[]): void;
}

/** A transfer that a process began to receive. */
export interface LeftReceive {
  readonly transferId: string;
  readonly begun: readonly Begun[];
}

/** The records of what this device receives. */
export interface ReceiveRecords {
  /** Claims a transfer; null if another process receives it. */
  claim(transferId: string): ReceiveClaim | null;
  /** Lists the records of transfers that are not over, including those that another process receives now. */
  list(): Promise<LeftReceive[]>;
}

/** The service forgets a transfer a day after its last change. */
export const OLD_MS = 2 * 24 * 60 * 60_000;

/** Returns the platform's folder for the state of programs. */
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

const isReceived = (value: unknown): value is Received => Array.isArray(((value ?? {}) as Partial<Received>).received);

const isSame = (one: Announced, other: Announced): boolean =>
  one.index === other.index && one.name === other.name && one.size === other.size && one.sha256 === other.sha256;

/** Reads the lines of a file. Skips a line that a dying process cut off. */
async function linesOf(path: string): Promise<unknown[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  return valuesIn(text);
}

const valuesIn = (text: string): unknown[] =>
  text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });

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

const RECORD = '.jsonl';
const DRAFT = '.draft';

function claimOf(claim: Claim, transferId: string, path: string): ReceiveClaim {
  let known: Promise<Stored[]> | null = null;
  let before: readonly Announced[] | null = null;
  const append = (lines: readonly unknown[]) =>
    // The first line feed ends a line that a dying process cut off.
    appendFileSync(path, `\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n`, { mode: 0o600 });
  // On a full disk, or if the process is killed, the lines that were there stay. Only the holder of the claim writes.
  const replace = (text: string) => {
    const draft = path + DRAFT;
    try {
      writeFileSync(draft, text, { mode: 0o600, flush: true });
      renameSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  };
  return {
    ...claim,
    transferId,
    begin(about) {
      const last = valuesIn(unlessGone(() => readFileSync(path, 'utf8')) ?? '')
        .filter(isBegun)
        .at(-1);
      if (JSON.stringify(last) !== JSON.stringify(about)) append([about]);
    },
    add: (lines) => append(lines),
    async find(file, folder) {
      known ??= linesOf(path).then((lines) => lines.filter(isStored));
      const found = new Map<number, Stored>();
      for (const line of (await known).filter(({ index }) => index === file.index)) {
        if (!found.has(line.entry) && (await counts(line, folder))) found.set(line.entry, line);
      }
      return found;
    },
    hasReceived(file) {
      before ??= valuesIn(unlessGone(() => readFileSync(path, 'utf8')) ?? '').find(isReceived)?.received ?? [];
      return before.some((one) => isSame(one, file));
    },
    finish(files) {
      const received = files.map(({ index, name, size, sha256 }) => ({ index, name, size, sha256 }));
      try {
        if (claim.isHeld()) replace(`${JSON.stringify({ received } satisfies Received)}\n`);
      } finally {
        claim.remove();
      }
    },
    remove() {
      unlessGone(() => unlinkSync(path));
      claim.remove();
    },
  };
}

/** Removes the files of a transfer when all of them are old. A claim is touched as long as a process receives. */
function removeOld(folder: string): void {
  const endings = [RECORD, RECORD + DRAFT, '.claim'];
  const names = readdirSync(folder).filter((name) => endings.some((ending) => name.endsWith(ending)));
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

/** Keeps the records of this device in a separate folder. Default: the platform's folder for the state of programs. */
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
      // Other files may lie there, such as the copies of programs that synchronise folders.
      const names = readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith(RECORD))
        .map(({ name }) => name)
        .filter((name) => isClaimName(name.slice(0, -RECORD.length)));
      const all = await Promise.all(
        names.map(async (name) => {
          const lines = await linesOf(join(folder, name));
          const left = { transferId: name.slice(0, -RECORD.length), begun: lines.filter(isBegun) };
          return lines.some(isReceived) ? [] : [left];
        }),
      );
      return all.flat();
    },
  };
}
