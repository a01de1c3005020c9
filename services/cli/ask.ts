import { isUtf8 } from 'node:buffer';
import { addAbortSignal } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import { usageError } from './failure.ts';
import { rendered } from './output.ts';

/** Asks on the terminal; `no` unless the answer begins with y. Throws if nobody can be asked. */
export async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  if (!process.stdin.isTTY) throw usageError('There is no terminal to ask on: say --yes.');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y/i.test((await lines.question(rendered(`${question} [y/N] `), { signal })).trim());
  } finally {
    lines.close();
  }
}

/** Asks a question on the terminal, and returns what the user types. */
export async function askText(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(rendered(`${question} `), { signal })).trim();
  } finally {
    lines.close();
  }
}

/** Reads all of standard input, at most so many bytes. */
async function readBytes(most: number, what: string, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of addAbortSignal(signal, process.stdin) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > most) throw usageError(`${what} takes at most ${most} bytes.`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  return Buffer.concat(chunks);
}

/**
 * Reads all of standard input. Throws for more than `most` bytes, and for bytes that are not text, because they could not be
 * restored. Rejects when the signal aborts it, because nobody may ever end the input.
 */
export async function readInput(most: number, what: string, signal: AbortSignal): Promise<string> {
  const whole = await readBytes(most, what, signal);
  if (!isUtf8(whole)) throw usageError(`${what} takes text, and these bytes are none (UTF-8). Send them as a file.`);
  return whole.toString('utf8');
}
