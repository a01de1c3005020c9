import { BatonClientError } from '../errors/baton-client-error.ts';
import { untilAborted } from '../time/clock.ts';

/** Goes to every other device: what was said before goes out before it, and what is said after it waits. */
const EVERYBODY = '*';

const settled = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => {},
    () => {},
  );

/** Nothing of it has left. */
const unwanted = (signal: AbortSignal): BatonClientError =>
  new BatonClientError('aborted', 'This was not wanted any more', { cause: signal.reason });

/**
 * Work for one receiver is begun when the work before it has ended, well or not, in the order of the calls. Other receivers do
 * not wait. What is aborted while it waits is never begun, and rejects at once.
 */
export function makeSendOrder() {
  const last = new Map<string, Promise<void>>();

  return function inOrder<T>(receiver: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const before = (receiver === EVERYBODY ? [...last.keys()] : [receiver, EVERYBODY]).flatMap(
      (one) => last.get(one) ?? [],
    );
    const turn = Promise.all(before);
    const done = turn.then(() => {
      if (signal?.aborted === true) throw unwanted(signal);
      return work();
    });
    const end = settled(done);
    last.set(receiver, end);
    void end.then(() => {
      if (last.get(receiver) === end) last.delete(receiver);
    });
    if (signal === undefined) return done;
    // Once it has begun, the call itself hears of the signal.
    return untilAborted(turn, signal).then(
      () => done,
      () => {
        throw unwanted(signal);
      },
    );
  };
}
