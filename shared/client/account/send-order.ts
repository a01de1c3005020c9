import { abortedBy } from '../errors/failure.ts';
import { untilAborted } from '../time/clock.ts';

/** Stands for all other devices: earlier messages leave before a message to all, and later ones wait for it. */
const EVERYBODY = '*';

/**
 * Begins work for one receiver when the work before it has ended, well or not, in the order of the calls. Other receivers do
 * not wait. Work that is aborted while it waits never begins, and rejects at once.
 */
export function makeSendOrder() {
  const last = new Map<string, Promise<unknown>>();

  return function inOrder<T>(receiver: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const before = (receiver === EVERYBODY ? [...last.keys()] : [receiver, EVERYBODY]).flatMap(
      (one) => last.get(one) ?? [],
    );
    const turn = Promise.all(before);
    const done = turn.then(() => {
      if (signal?.aborted === true) throw abortedBy(signal, 'none');
      return work();
    });
    const end = done.catch(() => {});
    last.set(receiver, end);
    void end.then(() => {
      if (last.get(receiver) === end) last.delete(receiver);
    });
    // Once the work has begun, the call itself listens to the signal.
    return untilAborted(turn, signal).then(
      () => done,
      () => {
        throw abortedBy(signal, 'none');
      },
    );
  };
}
