import { setTimeout as wait } from 'node:timers/promises';
import { secondsOf } from '../../shared/client/errors/refusal.ts';
import { BatonClientError } from '../../shared/client/index.ts';
import type { leanFetch } from '../../shared/client/node.ts';
import { isKeyProblem } from '../../shared/client/sealing/key-problems.ts';
import { failureOf, sentenceOf } from './failure.ts';
import { durationOf, type Output } from './output.ts';

type Fetch = typeof leanFetch;

/** The longest pause of a command between two tries, whatever a service, or a proxy in front of it, asks for. */
const MOST_MS = 60_000;
/** The pause if the service names none. */
const USUAL_MS = 5_000;

/** A pause before the next try, and what the user reads about it. */
interface NextTry {
  readonly waitMs: number;
  readonly says: string;
}

/** Decides how long to wait after an error that may pass. The sentence ends with the time of the next try. */
export function nextTry(error: unknown, now: number = Date.now()): NextTry {
  const { message, retryAfterMs } = failureOf(error);
  const waitMs = Math.min(retryAfterMs ?? USUAL_MS, MOST_MS);
  return { waitMs, says: `${sentenceOf(message)} The next try is at ${new Date(now + waitMs).toLocaleTimeString()}.` };
}

/** The codes of files that cannot be read now, and of a clipboard that took no text. */
const OF_COMPUTER = ['source_failed', 'clipboard_busy'];

/** Tells whether the cause of an error may pass by itself: of the service, of the account's keys, or of this computer. */
export function mayPass(error: unknown): boolean {
  const failure = failureOf(error);
  if (OF_COMPUTER.includes(failure.code) || isKeyProblem(failure)) return true;
  if (!(error instanceof BatonClientError)) return error instanceof Error && 'errno' in error;
  return error.action === 'retry' || (error.action === 'tell-user' && error.status === null);
}

/** Waits for `waitMs`, and at least for a moment, so that no answer makes a command busy. Rejects when interrupted. */
export const pauseFor = (waitMs: number, signal: AbortSignal): Promise<void> =>
  wait(Math.max(waitMs, 100), undefined, { signal });

/** The paths at which the library waits by itself, about a minute at a time, without a word. */
const REPEATED = /\/api\/(?:hub\/events|relay\/)/;
/** The path at which the library waits for as long as the code is valid. */
const LOGIN = /\/api\/auth\/qr\/status/;
/** Shorter pauses are not worth a word. */
const SILENT_SECONDS = 5;

/** Returns the seconds that the service asks a program to wait after a refusal; 0 for none. */
const askedSeconds = ({ status, headers }: Response): number =>
  status < 400 ? 0 : (secondsOf(headers.get('retry-after')) ?? 0);

/** Makes a `fetch` that tells the user how long the service has the library wait, once for that time. */
export function tellingFetch({ note }: Pick<Output, 'note'>, fetch: Fetch): Fetch {
  let saidUntilMs = 0;
  return async (url, init) => {
    const response = await fetch(url, init);
    const seconds = askedSeconds(response);
    const now = Date.now();
    const isRepeated = REPEATED.test(url);
    if (seconds > SILENT_SECONDS && now >= saidUntilMs && (isRepeated || LOGIN.test(url))) {
      saidUntilMs = now + Math.min(seconds * 1_000, MOST_MS);
      const until = new Date(now + seconds * 1_000).toLocaleString();
      const again = isRepeated && seconds * 1_000 > MOST_MS ? ' It is tried again each minute; Ctrl-C ends it.' : '';
      note(`The service asks to wait ${durationOf(seconds)}, until ${until}.${again}`);
    }
    return response;
  };
}
