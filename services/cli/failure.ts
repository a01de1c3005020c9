import { BatonClientError } from '../../shared/client/index.ts';
import { durationOf } from './output.ts';

/** The exit statuses for scripts. README.md lists them. */
export const EXIT = {
  failed: 1,
  usage: 2,
  signedOut: 3,
  notFound: 4,
  refused: 5,
  unreachable: 6,
  interrupted: 130,
} as const;

/** The details of a failure beside its sentence. The lists have all names; the sentence has only the first ones. */
interface About {
  status?: number;
  code?: string;
  retryAfterMs?: number | null;
  notSent?: readonly string[] | undefined;
  notReceived?: readonly string[] | undefined;
}

/** A failure, with a sentence for the user, and a status and names for scripts. */
export class CliError extends Error {
  readonly status: number;
  readonly code: string;
  /** How long the service asks to wait before a retry; null when it does not say. */
  readonly retryAfterMs: number | null;
  readonly notSent: readonly string[] | undefined;
  readonly notReceived: readonly string[] | undefined;

  constructor(message: string, about: About = {}) {
    const { status = EXIT.failed, code = 'failed', retryAfterMs = null, notSent, notReceived } = about;
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.notSent = notSent;
    this.notReceived = notReceived;
  }
}

export const usageError = (message: string): CliError => new CliError(message, { status: EXIT.usage, code: 'usage' });

export const notSignedIn = (): CliError =>
  new CliError('This device is not signed in. Run `baton login`.', { status: EXIT.signedOut, code: 'signed_out' });

const STATUS_OF: Readonly<Record<string, number>> = {
  aborted: EXIT.interrupted,
  not_found: EXIT.notFound,
  transfer_gone: EXIT.notFound,
  rejected: EXIT.refused,
  cancelled: EXIT.refused,
  access_denied: EXIT.refused,
  guest_forbidden: EXIT.refused,
  tier_exceeded: EXIT.refused,
  device_mismatch: EXIT.refused,
  device_required: EXIT.refused,
  account_refused: EXIT.refused,
  not_a_party: EXIT.refused,
  cross_site: EXIT.refused,
  mailbox_full: EXIT.refused,
  device_limit: EXIT.refused,
  transfer_limit: EXIT.refused,
  network: EXIT.unreachable,
  timeout: EXIT.unreachable,
  unexpected_answer: EXIT.unreachable,
  not_confirmed: EXIT.unreachable,
  store_unavailable: EXIT.unreachable,
  store_full: EXIT.unreachable,
  broker_unavailable: EXIT.unreachable,
  broker_contract: EXIT.unreachable,
  draining: EXIT.unreachable,
  relay_busy: EXIT.unreachable,
  internal: EXIT.unreachable,
};

const SENTENCE_OF: Readonly<Record<string, string>> = {
  aborted: 'Interrupted.',
  network: 'The service cannot be reached.',
  timeout: 'The service does not answer.',
  unexpected_answer: 'What answers at this address does not answer as Baton does.',
  not_confirmed:
    'This device was let in, but the service cannot be reached since. Run `baton status` within two minutes, or it is signed out again.',
  store_unavailable: 'The service is not working at the moment. Try again later.',
  store_full: 'The service has no room left. Try again later.',
  broker_unavailable: 'The service is not working at the moment. Try again later.',
  rejected: 'The files were refused.',
  cancelled: 'The transfer was cancelled.',
  access_denied: 'The other device said no.',
  login_expired: 'Nobody approved it in time. Run `baton login` again.',
  login_consumed: 'This sign-in was used already. Run `baton login` again.',
  digest_mismatch: 'What arrived is not what was sent: a file changed while it was read.',
  transfer_gone: 'The transfer does not exist any more.',
  guest_forbidden: 'A guest may not do this: ask a device with full access.',
};

/** The sentences for errors that the other device is known to have caused. */
const SENTENCE_OF_OTHER: Readonly<Record<string, string>> = {
  rejected: 'The other device refused the files.',
  cancelled: 'The other device cancelled the transfer.',
};

/** Advice for errors whose message names the addresses. */
const ADVICE_OF: Readonly<Record<string, string>> = {
  other_service: 'Unset BATON_URL, or sign in there with a BATON_CONFIG_DIR of its own.',
  plain_http: 'In a network that you trust, sign in with --plain-http.',
};

/** The sentences for the device that lets another one in. */
const SENTENCE_OF_APPROVER: Readonly<Record<string, string>> = {
  not_found: 'This link is not known, or it has expired. Show a new one on the other device.',
  login_expired: 'The time of this link is over. Show a new one on the other device.',
  login_consumed: 'This link was used already: a device has signed in with it.',
  already_decided: 'This link was approved or refused already.',
};

/** Runs a step of letting a device in. A link that is over is reported in the approver's words. */
export async function asApprover<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const failure = failureOf(error);
    const sentence = SENTENCE_OF_APPROVER[failure.code];
    throw sentence === undefined ? error : new CliError(sentence, failure);
  }
}

/** Returns when to retry, if the service says so. */
const againIn = ({ status, retryAfterMs }: BatonClientError): string =>
  status === 429 && retryAfterMs !== null ? ` Try again in ${durationOf(Math.ceil(retryAfterMs / 1_000))}.` : '';

/** Adds the full stop that a title of the contract does not have. */
const sentenceOf = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Turns anything that was thrown into the sentence and the exit status of the program. */
export function failureOf(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof BatonClientError) {
    const advice = ADVICE_OF[error.code];
    if (advice !== undefined) {
      return new CliError(`${error.message}. ${advice}`, { status: EXIT.usage, code: error.code });
    }
    if (error.action === 'sign-in') return notSignedIn();
    const ofOther = error.byOther ? SENTENCE_OF_OTHER[error.code] : undefined;
    const again = againIn(error);
    const said = ofOther ?? SENTENCE_OF[error.code] ?? error.message;
    const sentence = again === '' ? said : sentenceOf(said) + again;
    const request = error.request_id === null ? '' : ` (request ${error.request_id})`;
    const { code, retryAfterMs } = error;
    return new CliError(sentence + request, { status: STATUS_OF[code] ?? EXIT.failed, code, retryAfterMs });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new CliError(message, { code: 'failed' });
}
