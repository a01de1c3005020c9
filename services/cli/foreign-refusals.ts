import type { leanFetch } from '../../shared/client/node.ts';
import { BatonClientError } from '../../shared/client/index.ts';
import { CliError, EXIT } from './failure.ts';
import { oneLine } from './output.ts';

/*
 * Refusals that do not come from the service: of a proxy that takes no PATCH, of a firewall, or of the login page of a
 * network. The library tries the request again for ever, because a proxy during a change, and a login page, are temporary.
 */

type Fetch = typeof leanFetch;

/** The code of the error that ends a command. What it sends or receives can be resumed. */
export const REFUSED_BETWEEN = 'refused_between';

/** So many refusals in a row are told to the user. One or two are usual while a proxy is replaced. */
const TOLD_AFTER = 3;
/** Refusals for this long, and at least this many, end a command that ends by itself. A proxy is replaced in less. */
const OVER_MS = 30_000;
const OVER_AFTER = 5;

/** A page in the place of an answer gets this status (Network Authentication Required, RFC 6585, section 6). */
const PAGE = 511;
/** The statuses that ask to come back later: the library waits, and `tellingFetch` says so. */
const LATER = [408, 425, 429];

/** The streak of the answers that a service is away. They never end a command, so they do not count as refusals. */
const awayOf = (request: string): string => `${request} away`;

/** A kind of request, such as `PATCH /api/relay`, that is refused again and again. */
interface Streak {
  count: number;
  readonly sinceMs: number;
}

interface Parts {
  note: (text: string) => void;
  /** Ends the command, which can be resumed. Null: the command goes on until it is interrupted. */
  giveUp: ((error: CliError) => void) | null;
  /** Milliseconds of a clock that nobody sets. */
  now?: () => number;
}

const typeOf = (response: Response): string => (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';

/** The kinds of answers of something in front of the service. `away`: it does not reach the service, which may come back. */
type Foreign = 'page' | 'refused' | 'away';

/** Returns the kind of an answer; null for an answer of the service itself, which explains each refusal. */
function foreignIn(answer: Response): Foreign | null {
  const { ok, status } = answer;
  const type = typeOf(answer);
  if (ok) return type === 'text/html' ? 'page' : null;
  if (type.endsWith('json') || LATER.includes(status)) return null;
  return status >= 500 && status !== 501 && status !== PAGE ? 'away' : 'refused';
}

const HOW: Readonly<Record<Foreign, string>> = {
  page: 'answers with a web page',
  refused: 'refuses it with',
  away: 'answers',
};

/** Makes a `fetch` that notices such refusals. `explained` adds what was refused to an error of the library. */
export function noticingRefusals(fetch: Fetch, { note, giveUp, now = () => performance.now() }: Parts) {
  const streaks = new Map<string, Streak>();
  let last: string | null = null;

  function noteRefusal(key: string, sentence: string, mayEnd: boolean): void {
    const streak = streaks.get(key) ?? { count: 0, sinceMs: now() };
    streak.count += 1;
    streaks.set(key, streak);
    last = sentence;
    if (streak.count === TOLD_AFTER) note(`${sentence} Trying again ...`);
    if (giveUp === null || !mayEnd || streak.count < OVER_AFTER || now() - streak.sinceMs < OVER_MS) return;
    giveUp(new CliError(sentence, { status: EXIT.unreachable, code: REFUSED_BETWEEN }));
  }

  return {
    fetch: (async (url, init) => {
      const answer = await fetch(url, init);
      const foreign = foreignIn(answer);
      const { host, pathname } = new URL(url);
      const request = `${init.method ?? 'GET'} ${/\/api\/[^/]+/.exec(pathname)?.[0] ?? pathname}`;
      const isAway = foreign === 'away';
      // Each kind of streak ends the other one: a refusal right after an outage is the first one, and may pass.
      const [streak, other] = isAway ? [awayOf(request), request] : [request, awayOf(request)];
      streaks.delete(other);
      if (foreign === null) {
        streaks.delete(streak);
        last = null;
        return answer;
      }
      const how = foreign === 'page' ? HOW.page : `${HOW[foreign]} ${answer.status}`;
      const sentence = `${request}: something in front of Baton at ${oneLine(host)} ${how}, such as a proxy.`;
      noteRefusal(streak, sentence, !isAway);
      if (foreign !== 'page') return answer;
      await answer.body?.cancel();
      return new Response(null, { status: PAGE });
    }) satisfies Fetch,

    /** Adds what was refused to the error of a single request. */
    explained(error: unknown): unknown {
      if (last === null || !(error instanceof BatonClientError) || error.code !== 'unexpected_answer') return error;
      return new CliError(last, { status: EXIT.unreachable, code: error.code });
    },
  };
}
