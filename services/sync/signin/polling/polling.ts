import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Issued } from '../../sessions/sessions.ts';
import type { Consume } from './consume.ts';
import type { Polls } from './polls.ts';
import { digest, known } from '../request-secrets.ts';
import type { LoginStore } from '../store.ts';

export interface PollOptions {
  requestId: string;
  pollSecret: string;
  waitMs: number;
  /** Address of the client. */
  address: string;
  signal: AbortSignal;
}

/** The outcome of a poll. `isBusy`: it did not wait, because too many do. */
export type PollOutcome =
  | { pending: { expiresAtMs: number }; isBusy?: boolean }
  | { issued: Issued; sealed: string | undefined };

interface PollingParts {
  store: Pick<LoginStore, 'poll' | 'finish'>;
  polls: Polls;
  /** Null without an auth broker, and then nothing can make a session. */
  consume: Consume | null;
  /** Returns this replica's channel, through which its polls are notified. */
  channel: () => string;
  /** Ends a poll that waits, here or on another replica. */
  notify: (waiter: string, word: 'end') => void;
  onOutcome: (outcome: string) => void;
}

/**
 * Makes the poll of a device that signs in. It waits as the one waiter of its request, and takes the session after the
 * approval. It throws `not_found` (also for a wrong secret), `access_denied`, `login_expired`, `login_consumed`, and the
 * errors of `consume`.
 */
export function makePolling({ store, polls, consume, channel, notify, onOutcome }: PollingParts) {
  return async ({ requestId, pollSecret, waitMs, address, signal }: PollOptions): Promise<PollOutcome> => {
    const [id, pollDigest, pollId] = [known(requestId), digest(pollSecret), polls.newId()];
    const deadline = performance.now() + waitMs;
    let leave: (() => void) | null = null;
    try {
      for (let isFirst = true; ; isFirst = false) {
        const poll = await store.poll(id, pollDigest, `${channel()}\n${pollId}`, isFirst);
        if (poll.state === 'leased') {
          if (consume === null) {
            await store.finish(id, poll.fence, 'approved');
            throw new BatonError('broker_unavailable', 'There is no auth broker here');
          }
          const issued = await consume(id, poll.fence, poll.login);
          if (issued !== null) onOutcome('consumed');
          return issued === null ? { pending: poll } : { issued, sealed: poll.login['sealed'] };
        }
        if (poll.replaced !== '') notify(poll.replaced, 'end');
        if (poll.state === 'superseded') return { pending: poll };
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) return { pending: poll };
        leave ??= polls.enter(address);
        if (leave === null) return { pending: poll, isBusy: true };
        if ((await polls.wait(pollId, leftMs, signal)) === 'end') return { pending: poll };
      }
    } finally {
      leave?.();
    }
  };
}
