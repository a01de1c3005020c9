import { type Client, makeClient } from '../../../shared/client/http/client.ts';
import { NoAnswerError } from '../../../shared/client/errors/no-answer.ts';
import { BatonError, type ErrorCode } from '../../../shared/contract/errors.ts';
import type { ObjectOperation } from '../operations.ts';
import type { Random } from '../random.ts';
import { wait } from '../wait.ts';

/** How long a login request can be approved in these runs (`linear/login.go` knows it too). */
export const LOGIN_SECONDS = 8;

/** How long a poll waits for a decision. */
const POLL_MS = 1_500;
const STEPS_WITHIN_MS = 1_500;
const UNDECIDED_SHARE = 0.25;

/** The state of a login request, by the code of a refusal. */
const STATE_OF: Partial<Record<ErrorCode, string>> = {
  not_found: 'gone',
  access_denied: 'denied',
  login_expired: 'expired',
  login_consumed: 'consumed',
  already_decided: 'decided',
};

type Said = Pick<ObjectOperation, 'do' | 'read'>;

/** Anything that can be asked of a login request. */
interface Question {
  do: 'read' | 'approve' | 'deny' | 'poll';
  ask: () => Promise<Said>;
}

interface LoginParts {
  baseUrl: () => string;
  timeoutMs: number;
  random: Random;
  now: () => number;
  operations: ObjectOperation[];
}

/**
 * Makes login requests: a new device polls several replicas at once, while a user reads, approves and denies. Each
 * request has its own user, so no account has too many devices.
 */
export function makeLogins({ random, now, operations, ...options }: LoginParts) {
  let made = 0;

  const clientOf = (headers: Record<string, string>): Client =>
    makeClient({ ...options, headers, retries: 0, random: random.next });

  /** Asks, and writes down the answer. A poll that brings no session, or that is refused, counts as a read. */
  async function note(request: { key: string; account: string }, { do: asked, ask }: Question): Promise<void> {
    const base = { kind: 'login' as const, ...request, by: asked === 'poll' ? 'new' : 'user', value: '', before: '' };
    const begin = now();
    const open = () => operations.push({ ...base, do: asked, begin, end: null, said: null, read: '' });
    try {
      const said = await ask();
      operations.push({ ...base, ...said, begin, end: now(), said: 'ok' });
    } catch (error) {
      if (error instanceof NoAnswerError) open();
      else if (!(error instanceof BatonError)) throw error;
      else if (error.status >= 500) open();
      else {
        const read = STATE_OF[error.code];
        if (read === undefined) return;
        const isReading = asked === 'poll' || asked === 'read';
        const outcome = isReading
          ? { do: 'read', said: 'ok' as const, read }
          : { do: asked, said: 'refused' as const, read };
        operations.push({ ...base, ...outcome, begin, end: now() });
      }
    }
  }

  /** Starts a request. Resolves to the calls that can follow it, or to null without an answer. */
  async function start(account: string) {
    const [device, user] = [clientOf({}), clientOf({ 'X-Dev-User': account })];
    const begin = now();
    const body = { device_name: account, device_type: 'linux' as const };
    const answer = await device.call('startLogin', { body }).catch((error: unknown) => {
      if (error instanceof BatonError || error instanceof NoAnswerError) return null;
      throw error;
    });
    if (answer === null) return null;
    const { request_id: id, poll_secret: secret, qr_payload: link } = answer.body;
    const said = { do: 'start', by: 'new', value: '', before: '', said: 'ok' as const, read: '' };
    operations.push({ kind: 'login', key: id, account, ...said, begin, end: now() });
    const named = { request_id: id, approval_code: new URL(link).searchParams.get('c') ?? '' };
    const poll = async (waitMs: number): Promise<Said> => {
      const headers = { 'X-Poll-Secret': secret };
      const { body: polled } = await device.call('pollLogin', { headers, query: { request_id: id, wait_ms: waitMs } });
      return polled.status === 'approved' ? { do: 'poll', read: 'session' } : { do: 'read', read: 'waiting' };
    };
    const ask = async (): Promise<Said> => {
      await user.call('readLogin', { query: named });
      return { do: 'read', read: 'pending' };
    };
    const approve = async (): Promise<Said> => {
      await user.call('approveLogin', { body: { ...named, scope: 'full', persist: 'once' } });
      return { do: 'approve', read: '' };
    };
    const deny = async (): Promise<Said> => {
      await user.call('denyLogin', { body: named });
      return { do: 'deny', read: '' };
    };
    const asks = { read: ask, approve, deny, poll: () => poll(POLL_MS), look: () => poll(0) };
    return (name: keyof typeof asks) =>
      note({ key: id, account }, { do: name === 'look' ? 'poll' : name, ask: asks[name] });
  }

  /** Runs one request, from its start until nothing more can come of it. */
  return async function logIn(): Promise<void> {
    made += 1;
    const ask = await start(`login-${made}`);
    if (ask === null) return;
    const isUndecided = random.next() < UNDECIDED_SHARE;
    const drawn = random.shuffled(['approve', 'deny', 'read', 'poll', 'look'] as const).slice(0, 3);
    const steps = isUndecided ? (['poll', 'read', 'look'] as const) : (['poll', 'approve', 'look', ...drawn] as const);
    await Promise.all(
      steps.map(async (step) => {
        await wait(random.next() * STEPS_WITHIN_MS);
        await ask(step);
      }),
    );
    if (isUndecided) await wait(LOGIN_SECONDS * 1_000);
    for (const step of ['look', 'look', 'read', 'approve'] as const) await ask(step);
  };
}
