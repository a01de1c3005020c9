import { BatonError, type ErrorCode, type ErrorExtras, isErrorCode } from '../../contract/errors.ts';
import { parseJson } from '../http/parse-json.ts';

/** The limit of a refusal's text. A problem document is far below it; the page of a proxy is cut. */
const MAX_CHARS = 65_536;

/** Codes for the responses of proxies in front of the service, which have no problem document. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  413: 'body_too_large',
  429: 'rate_limited',
};

export interface Refusal {
  readonly error: BatonError;
  /** The HTTP status as it came. The status of the error belongs to its code. */
  readonly status: number;
  /** False when something in front of the service answered in its place. */
  readonly byService: boolean;
}

/**
 * Reads an unsuccessful response as the error that the service threw. A code that this client does not know (a newer
 * server's) and a response that is no problem document become `internal`; `extras.members` keeps what came. Rejects only
 * when the body breaks off.
 */
export async function readRefusal(response: Response): Promise<Refusal> {
  // A browser does not show the status of a redirect that it does not follow.
  const status = response.status || 302;
  const problem = parseObject(await readText(response, MAX_CHARS));
  const retryAfterSeconds = secondsOf(response.headers.get('retry-after'));
  if (problem === null || typeof problem['code'] !== 'string') {
    const code = CODE_OF_STATUS[status] ?? 'internal';
    const extras = { members: { status }, retryAfterSeconds };
    return { error: new BatonError(code, `Unexpected answer (HTTP ${status})`, extras), status, byService: false };
  }
  const { detail = problem['title'], errors, ...members } = problem;
  const extras: ErrorExtras = {
    members,
    errors: Array.isArray(errors) ? (errors as ErrorExtras['errors']) : undefined,
    retryAfterSeconds,
  };
  const code = isErrorCode(problem['code']) ? problem['code'] : 'internal';
  const error = new BatonError(code, typeof detail === 'string' ? detail : undefined, extras);
  return { error, status, byService: true };
}

/** Reads `Retry-After` in seconds, at most a day: a timer of many days ends at once. The service does not use its form as a date. */
export function secondsOf(header: string | null): number | undefined {
  return /^\d{1,9}$/.test(header ?? '') ? Math.min(Number(header), 86_400) : undefined;
}

function parseObject(text: string): Record<string, unknown> | null {
  // This includes a proxy's page, and an empty body.
  const value = parseJson(text);
  return typeof value === 'object' ? (value as Record<string, unknown> | null) : null;
}

/** Returns the text of a response, cut after `mostChars` characters. Rejects only when it breaks off. */
export async function readText(response: Response, mostChars: number): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
    if (text.length > mostChars) {
      await reader.cancel();
      return text;
    }
  }
}
