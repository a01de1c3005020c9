import { setTimeout as wait } from 'node:timers/promises';
import clipboard from 'clipboardy';
import { CliError } from '../failure.ts';
import { WITHIN_MS } from './programs.ts';

/* The clipboard of this computer for `copy --system` and `paste --system`, read or written once. */

/** The time in which this program ends by itself after it has said what failed. */
const LEAVE_MS = 500;

/**
 * Waits for a program of the clipboard, at most as long as the watch does. `clipboardy` sets no limit, and a program waits
 * for ever if the owner of the clipboard hangs.
 */
async function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const limit = new AbortController();
  const late = wait(WITHIN_MS, undefined, { signal: AbortSignal.any([limit.signal, signal]) }).then(() => {
    const seconds = WITHIN_MS / 1_000;
    const message = `The clipboard of this computer did not answer within ${seconds} s. The program that owns it may hang.`;
    throw new CliError(message, { code: 'clipboard_busy' });
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    // A program that hangs keeps this process alive. It is ended at the exit.
    setTimeout(() => process.exit(), LEAVE_MS).unref();
    throw error;
  } finally {
    limit.abort();
    late.catch(() => {});
  }
}

export const readClipboard = (signal: AbortSignal): Promise<string> => within(clipboard.read(), signal);

export const writeClipboard = (text: string, signal: AbortSignal): Promise<void> =>
  within(clipboard.write(text), signal);
