import { fetchFiles, type Fetcher } from './fetching.ts';
import { makeLateLink } from './late-link.ts';
import type { LinkEnd, PeerLink } from './link.ts';
import type { PeerReceiving, PeerReceivingParts } from '../transfers/peer-module.ts';
import type { Pipe } from './pipe.ts';
import { attemptOf, canConnect, makeSignaller, type PeerPolicy } from './signals.ts';
import { NoAnswerError } from '../errors/no-answer.ts';

/** More attempts than an honest sender makes. */
const MOST_ATTEMPTS = 24;

/** Makes the receiver's side of the direct path. It answers offers, and asks for its files while the path is open. */
export function makePeerReceiving(
  policy: PeerPolicy,
  { run, caller, clock, tell, onOpen }: PeerReceivingParts,
): PeerReceiving {
  const signaller = makeSignaller(policy, { run, caller, toId: run.transfer.sender.device_id });
  let link: PeerLink | null = null;
  let fetcher: Fetcher | null = null;
  let attempts = 0;
  let isRefused = !canConnect();

  function opened(pipe: Pipe, mine: PeerLink): void {
    // Only the sender tells the service that the path is open. If both did, one could report it after the path was lost.
    fetcher = fetchFiles({ pipe, run, onMisbehaved: () => mine.close('misbehaved') });
    run.wake();
    onOpen();
  }

  function onOver(why: LinkEnd, attempt: string): void {
    if (link?.attempt === attempt) link = null;
    if (why === 'misbehaved') isRefused = true;
    if (why === 'failed' || why === 'misbehaved') signaller.bye(attempt, why);
    run.wake();
  }

  function answer(payload: unknown): void {
    const attempt = attemptOf(payload);
    attempts += 1;
    if (isRefused || attempts > MOST_ATTEMPTS) return signaller.bye(attempt, 'unsupported');
    link?.close('over');
    let mine: Fetcher | null = null;
    const made: PeerLink = makeLateLink({
      ...{ clock, attempt, isOffering: false, onPhase: tell },
      configuration: signaller.configuration,
      send: signaller.send,
      onOpen(pipe) {
        opened(pipe, made);
        mine = fetcher;
      },
      onOver(why) {
        mine?.end();
        if (fetcher === mine) fetcher = null;
        onOver(why, attempt);
      },
    });
    link = made;
    made.take({ kind: 'offer', payload });
  }

  run.signal.addEventListener('abort', () => link?.close('over'), { once: true });

  return {
    get isOpen() {
      return fetcher !== null;
    },
    begin() {
      // The sender may still hold a connection to the page that was here before.
      if (!isRefused && run.transfer.state !== 'PENDING') signaller.bye('', 'again');
    },
    take(signal) {
      if (signal.kind === 'offer') answer(signal.payload);
      else if (signal.kind !== 'bye') link?.take(signal);
      else if (attemptOf(signal.payload) === link?.attempt) link.close('told');
    },
    nudge() {},
    fetch: (wanted) => fetcher?.fetch(wanted) ?? Promise.reject(new NoAnswerError('network', null)),
    stored: (index) => fetcher?.stored(index),
  };
}
