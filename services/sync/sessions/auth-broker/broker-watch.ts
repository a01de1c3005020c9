import type { Gauge } from 'prom-client';
import type { Logger } from 'pino';
import { BatonError, isErrorCode } from '../../../../shared/contract/errors.ts';

/** The pause between two probes while the broker answers, and while it does not. */
const ASK_EVERY_MS = 30_000;
const ASK_AGAIN_MS = 5_000;
/** The pause right after it began to fail: a broker that starts beside this replica answers soon. */
const ASK_SOON_MS = 500;
/** How long it must fail before that is logged. */
const LASTING_MS = 5_000;
/** The pause after which a lasting reason is logged again. */
const REMIND_MS = 60_000;
/** The deepest nesting of causes that is read: a refusal, the failure of a call, the error of the connection. */
const DEEPEST = 6;

const CLOSES = 'it closes the connection: is the port right, and the URL https only where TLS is spoken?';
const NO_TLS = 'no TLS is spoken there: http://, or another port';
const UNTRUSTED = 'its certificate is not trusted: NODE_EXTRA_CA_CERTS names a file with a CA of your own';

const HINTS: readonly (readonly [code: string, says: string])[] = [
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOTFOUND', 'the host name is not known'],
  ['EAI_AGAIN', 'the host name is not known'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection within 0.5 s'],
  ['UND_ERR_HEADERS_TIMEOUT', 'no answer in time'],
  ['UND_ERR_BODY_TIMEOUT', 'no answer in time'],
  ['UND_ERR_SOCKET', CLOSES],
  ['ECONNRESET', CLOSES],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NO_TLS],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host name'],
];

/** Says why the broker cannot be used, for an operator. It quotes a response's status, and its code if that is known. */
export function brokerReason(error: unknown): string {
  let cause: unknown = error;
  for (let depth = 0; depth < DEEPEST && cause instanceof BatonError && cause.extras.cause !== undefined; depth++) {
    cause = cause.extras.cause;
  }
  if (cause instanceof BatonError) return cause.message;
  const { status, body, code, name } = (cause ?? {}) as Record<'status' | 'body' | 'code' | 'name', unknown>;
  if (typeof status === 'number') {
    const said = (body as { code?: unknown } | null | undefined)?.code;
    return typeof said === 'string' && isErrorCode(said) ? `it answers ${status} ${said}` : `it answers ${status}`;
  }
  if (name === 'TimeoutError' || name === 'AbortError') return 'no answer in time';
  const hint = HINTS.find(([known]) => known === code)?.[1];
  if (hint !== undefined) return hint;
  return typeof code === 'string' ? `the call failed (${code})` : 'the call failed';
}

interface WatchParts {
  /** The broker's address. Only its host and port are shown. */
  url: string;
  /** A call that changes nothing. */
  probe: () => Promise<unknown>;
  up: Pick<Gauge, 'set'>;
  logger: Logger;
  /** For tests. ms. */
  now?: () => number;
}

/**
 * Makes the watch that knows whether the auth broker can be used. A probe asks it at the start, regularly, and after a
 * failed call. So an unreachable broker is reported before the first user tries to sign in. A failure that lasts is logged
 * at `error` with its reason: once, again if the reason changes, and each minute. Its end is logged at `warn`.
 */
export function makeBrokerWatch({ url, probe, up, logger, now = () => performance.now() }: WatchParts) {
  const at = new URL(url).host;
  let isUp: boolean | null = null;
  let reason: string | null = null;
  let failingSinceMs = 0;
  let told: { reason: string; atMs: number } | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  up.set(0);

  function worked(): void {
    if (told !== null) logger.warn({ at }, 'auth broker can be used again');
    [isUp, reason, told] = [true, null, null];
    up.set(1);
  }

  function failed(error: unknown): void {
    if (isUp !== false) failingSinceMs = now();
    [isUp, reason] = [false, brokerReason(error)];
    up.set(0);
    if (now() - failingSinceMs < LASTING_MS) return;
    if (told?.reason === reason && now() - told.atMs < REMIND_MS) return;
    told = { reason, atMs: now() };
    logger.error({ at, reason }, 'auth broker cannot be used');
  }

  async function ask(): Promise<void> {
    timer = null;
    askedAtMs = now();
    const failure: { error: unknown } | null = await probe().then(
      () => null,
      (error: unknown) => ({ error }),
    );
    if (isStopped) return;
    if (failure === null) worked();
    else failed(failure.error);
    const isNew = now() - failingSinceMs < LASTING_MS;
    timer = setTimeout(() => void ask(), isUp ? ASK_EVERY_MS : isNew ? ASK_SOON_MS : ASK_AGAIN_MS);
  }

  return {
    /** Asks now, and then regularly. */
    start: (): void => void ask(),
    /** Asks now, because a call has failed, unless the last probe was recent. */
    recheck(): void {
      if (timer === null || now() - askedAtMs < ASK_AGAIN_MS) return;
      clearTimeout(timer);
      void ask();
    },
    stop(): void {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
    /** `up` is null until the broker has answered or failed. */
    status: () => ({ up: isUp, at, reason }),
  };
}
