import { execFile, spawn } from 'node:child_process';
import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { CliError } from '../failure.ts';

/** The content of the clipboard of this computer. */
export interface Copied {
  /** Null: there is nothing, or something other than text. */
  readonly text: string | null;
  /** True: the program that put it there, such as a password manager, asks not to keep it. Then there is no text. */
  readonly isSecret: boolean;
}

/** The clipboard of this computer. */
export interface SystemClipboard {
  read(): Promise<Copied>;
  write(text: string): Promise<void>;
}

export const NOTHING: Copied = { text: null, isSecret: false };
export const SECRET: Copied = { text: null, isSecret: true };

/** A program that takes longer is ended: the program that owns the clipboard may hang. */
export const WITHIN_MS = 5_000;
const MOST_BYTES = 1024 * 1024;

const run = promisify(execFile);

/** Runs a program, and returns its output; null if it ends with an error, such as when there is nothing of the kind. */
export async function outputOf(program: string, args: readonly string[]): Promise<Buffer | null> {
  try {
    const settings = { encoding: 'buffer', timeout: WITHIN_MS, maxBuffer: MOST_BYTES } as const;
    return (await run(program, args, settings)).stdout;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: Buffer };
    const said = stderr?.toString() ?? '';
    if (code === 'ENOENT') throw new CliError(`${program} is not installed.`, { code: 'no_clipboard' });
    if (/display|compositor/i.test(said)) throw new CliError(`${program}: ${said.trim()}`, { code: 'no_clipboard' });
    return null;
  }
}

/** Gives a text to a program, which may stay in the background to hand it out. */
export async function giveTo(program: string, args: readonly string[], text: string): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: WITHIN_MS });
  child.stdin.on('error', () => {});
  child.stdin.end(text);
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) throw new CliError(`${program} did not take the text.`, { code: 'clipboard_busy' });
}

/** Returns the bytes as text; null if they are not text, because they could not be restored from it. */
export const textIn = (bytes: Buffer | null): string | null =>
  bytes === null || bytes.length === 0 || !isUtf8(bytes) ? null : bytes.toString();
