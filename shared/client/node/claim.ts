import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { kill, pid as ownPid } from 'node:process';
import { codeOf, unlessGone, unlessTaken } from './file-errors.ts';

/**
 * A claim says which process has a thing, such as the receiving of a transfer. At most one process has it.
 *
 * Node has no locks that the system releases, so a claim is a file `<name>.<number>.claim` that names its process. The
 * highest number counts. A process that finds the holder of number n dead, or n released, makes n + 1 in one step that
 * fails if the file exists. No number is removed while the thing is in use: a process that looked a moment too early then
 * makes a number that is too low, sees that, and withdraws. (To remove a dead process's file and make it again would let
 * two processes in.)
 *
 * A holder is dead when
 * - on the same Linux kernel and in the same process namespace: its pid is gone, a zombie, or another process that got the
 *   number later (its start time differs). A process that is stopped is alive.
 * - anywhere else, that is in another container, on another machine that shares the folder, or on another system: its file
 *   was not touched for `DEAD_MS`, by the clock of the file system. A holder touches it every `TOUCH_MS`. A machine that
 *   slept for longer has lost its claims: `isHeld` says so, and is called before anything is stored for good.
 */
export interface Claim {
  /** Tells whether no other process took it over meanwhile. */
  isHeld(): boolean;
  /** Lets another process have it at once. */
  release(): void;
  /** Removes the claim, because the claimed thing is over. */
  remove(): void;
}

const TOUCH_MS = 5_000;
const DEAD_MS = 30_000;
const RELEASED = 'released';
/** The name is also a part of a path. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

interface Owner {
  pid: number;
  /** The kernel and the process namespace; null if they are unknown. */
  where: string | null;
  /** When the process started, in ticks of that kernel. */
  started: string | null;
  host: string;
}

const quietly = <T>(work: () => T): T | null => {
  try {
    return work();
  } catch {
    return null;
  }
};

/** Reads the state and the start time, which follow the name in brackets. The name may hold any character. */
function processStat(pid: number | 'self'): { state: string; started: string } | null {
  const text = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state, started] = [fields[0], fields[19]];
  return state === undefined || started === undefined ? null : { state, started };
}

function whoIAm(): Owner {
  const boot = quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim());
  const namespace = quietly(() => readlinkSync('/proc/self/ns/pid'));
  const started = processStat('self')?.started ?? null;
  const where = boot === null || namespace === null || started === null ? null : `${boot} ${namespace}`;
  return { pid: ownPid, where, started, host: hostname() };
}

function isOwner(value: unknown): value is Owner {
  const { pid, where } = (value ?? {}) as Partial<Owner>;
  return Number.isSafeInteger(pid) && (pid as number) > 0 && (where === null || typeof where === 'string');
}

function isGone(pid: number): boolean {
  try {
    kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

/** Tells whether the claim has no live holder. `nowMs`: by the clock of the file system. */
function isFree(path: string, nowMs: number, me: Owner): boolean {
  const text = quietly(() => readFileSync(path, 'utf8'));
  const touchedMs = quietly(() => statSync(path).mtimeMs);
  // The file was released and removed at this very moment.
  if (text === null || touchedMs === null) return true;
  if (text === RELEASED) return true;
  const owner = quietly(() => JSON.parse(text) as unknown);
  if (isOwner(owner) && owner.where !== null && owner.where === me.where) {
    const found = processStat(owner.pid);
    return found === null || found.state === 'Z' || found.state === 'X' || found.started !== owner.started;
  }
  if (isOwner(owner) && owner.where === null && owner.host === me.host && isGone(owner.pid)) return true;
  // A time far ahead was written before the clock was set back, and nobody has touched the file since.
  return Math.abs(nowMs - touchedMs) > DEAD_MS;
}

/** Makes a file that does not exist yet. A full disk may take only its name: that does not stay. */
function writeWhole(path: string, text: string | Buffer): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, text);
  } catch (error) {
    unlessGone(() => unlinkSync(path));
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Makes the file unless it exists. Without hard links it exists for a moment before it names its process. */
function makeExclusively(path: string, written: string): boolean {
  try {
    return unlessTaken(() => linkSync(written, path)) !== null;
  } catch {
    const text = readFileSync(written);
    return unlessTaken(() => writeWhole(path, text)) !== null;
  }
}

const pathOf = (folder: string, name: string, number: number): string => join(folder, `${name}.${number}.claim`);

/** Returns the numbers of a name, the highest first. Skips other names: a number without a next one would never be free. */
const numbersOf = (folder: string, name: string): number[] =>
  readdirSync(folder)
    .filter((file) => file.startsWith(`${name}.`) && /^[1-9]\d{0,14}\.claim$/.test(file.slice(name.length + 1)))
    .map((file) => Number(file.split('.').at(-2)))
    .sort((a, b) => b - a);

function claimOf(folder: string, name: string, number: number): Claim {
  const path = pathOf(folder, name, number);
  const { ino } = lstatSync(path, { bigint: true });
  const isHeld = () =>
    lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino === ino &&
    !existsSync(pathOf(folder, name, number + 1));
  // A write sets the time of the file system, whatever the clock of this machine says.
  const touch = () => {
    const file = openSync(path, 'r+');
    try {
      writeSync(file, '{');
    } finally {
      closeSync(file);
    }
  };
  // The timer does not keep the process alive.
  const timer = setInterval(() => quietly(touch), TOUCH_MS).unref();
  const remove = () => unlessGone(() => unlinkSync(path));
  let isOver = false;
  const once = (work: () => void) => () => {
    clearInterval(timer);
    if (!isOver && isHeld()) work();
    isOver = true;
  };
  return {
    isHeld: () => !isOver && isHeld(),
    release: once(() => {
      const written = join(folder, `${randomUUID()}.claim`);
      try {
        writeWhole(written, RELEASED);
        renameSync(written, path);
      } catch {
        // A full disk has no room for the word. A claim that stayed would be taken for as long as this process lives.
        remove();
      }
    }),
    remove: once(remove),
  };
}

/** Tells whether a claim can have this name. */
export const isClaimName = (name: string): boolean => NAME.test(name);

/** Claims this name in this folder. Null: another process has it, or this one. */
export function makeClaim(folder: string, name: string): Claim | null {
  if (!isClaimName(name)) throw new Error('This is no id');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const me = whoIAm();
  const written = join(folder, `${randomUUID()}.claim`);
  writeWhole(written, JSON.stringify(me));
  try {
    for (;;) {
      const [highest = 0] = numbersOf(folder, name);
      if (highest > 0 && !isFree(pathOf(folder, name, highest), statSync(written).mtimeMs, me)) return null;
      const number = highest + 1;
      if (!makeExclusively(pathOf(folder, name, number), written)) continue;
      const [top = number, ...others] = numbersOf(folder, name);
      if (top > number) {
        unlessGone(() => unlinkSync(pathOf(folder, name, number)));
        continue;
      }
      for (const other of others) unlessGone(() => unlinkSync(pathOf(folder, name, other)));
      return claimOf(folder, name, number);
    }
  } finally {
    unlessGone(() => unlinkSync(written));
  }
}
