import { appendFile, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SEALING_LIMITS } from '../sealing/sealing-limits.ts';
import type { TakenText, TakenTexts } from '../sealing/taken.ts';
import { withLock } from './lock.ts';
import { readIfThere, removeDrafts, replaceFile } from './replace-file.ts';

/*
 * The sealed texts that this device has shown, in a file to which any number of processes add, one at a time:
 *
 * - `m SENDER:ID MESSAGE N T AT` is a text that its sender dated T and that was shown at AT, in Unix milliseconds. An earlier
 *   version wrote no T and no AT, and the one before it no SENDER.
 * - `c DEVICE T` is a clipboard that was taken.
 * - `f T` is the time of the newest text that was forgotten.
 *
 * A line that a crash cut off does not match, or has a number that is too low.
 */
const LINE = /^(?:m ((?:[\w-]{1,64}:)?[\w-]{22}) (\S{1,64}) (\d+)(?: (\d+) (\d+))?|c ([\w-]{1,64}) (\d+)|f (\d+))$/gm;

/**
 * How long a text is remembered: twice as long as a service keeps a message. A service that kept one for longer still cannot
 * have it shown again, because a text that is no newer than a forgotten one is refused. A transfer that is under way for
 * longer has to be sent again.
 */
const KEPT_MS = 2 * SEALING_LIMITS.mailboxSeconds * 1_000;
/** The file is rewritten when it has this many lines too many. */
const SPARE_LINES = 256;

interface ShownText extends TakenText {
  readonly t: number;
  readonly at: number;
}

/** The content of a file, and the number of its lines. */
interface Shown {
  readonly texts: Map<string, ShownText>;
  readonly clipboards: Map<string, number>;
  forgottenUntil: number;
  lines: number;
}

function shownIn(file: string, now: number): Shown {
  const shown: Shown = { texts: new Map(), clipboards: new Map(), forgottenUntil: 0, lines: 0 };
  for (const [, id, messageId = '', n, t = now, at = now, device, newest, until] of file.matchAll(LINE)) {
    shown.lines += 1;
    if (id !== undefined && !shown.texts.has(id)) {
      shown.texts.set(id, { messageId, n: Number(n), t: Number(t), at: Number(at) });
    }
    if (device !== undefined) {
      shown.clipboards.set(device, Math.max(Number(newest), shown.clipboards.get(device) ?? 0));
    }
    if (until !== undefined) shown.forgottenUntil = Math.max(Number(until), shown.forgottenUntil);
  }
  return shown;
}

/** Returns the lines of what is not forgotten. A text that its sender dated ahead is kept until then. */
function linesOf({ texts, clipboards, ...shown }: Shown, now: number): string[] {
  let { forgottenUntil } = shown;
  const lines: string[] = [];
  for (const [id, { messageId, n, t, at }] of texts) {
    if (Math.max(t, at) < now - KEPT_MS) forgottenUntil = Math.max(forgottenUntil, t);
    else lines.push(`m ${id} ${messageId} ${n} ${t} ${at}`);
  }
  for (const [device, newest] of clipboards) lines.push(`c ${device} ${newest}`);
  return forgottenUntil === 0 ? lines : [`f ${forgottenUntil}`, ...lines];
}

/** Keeps the texts that were shown. */
export function fileTaken(path: string): TakenTexts {
  const read = async () => shownIn(await readIfThere(path), Date.now());

  /** Leaves out what the file no longer needs to say. Called under the lock. */
  async function shorten(): Promise<void> {
    await removeDrafts(path);
    const shown = await read();
    const lines = linesOf(shown, Date.now());
    if (shown.lines - lines.length >= SPARE_LINES) await replaceFile(path, `${lines.join('\n')}\n`);
  }

  async function append(line: string): Promise<void> {
    const file = await open(path, 'a', 0o600);
    try {
      // The line feed at the front ends a line that a crash cut off.
      await appendFile(file, `\n${line}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async function add(line: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // A line that is added to the old file while the new one is written would be lost.
    await withLock(`${path}.lock`, async () => {
      // If there is no room for the new file, the old one keeps growing.
      await shorten().catch(() => {});
      await append(line);
    });
  }

  return {
    messageOf: async (id) => (await read()).texts.get(id) ?? null,
    addMessage: (id, messageId, n, t) => add(`m ${id} ${messageId} ${n} ${t} ${Date.now()}`),
    clipboardOf: async (deviceId) => (await read()).clipboards.get(deviceId) ?? 0,
    addClipboard: (deviceId, t) => add(`c ${deviceId} ${t}`),
    forgottenUntil: async () => (await read()).forgottenUntil,
  };
}
