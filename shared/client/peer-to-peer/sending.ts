import { LIMITS } from '../../contract/limits.ts';
import { failureOf } from '../errors/failure.ts';
import { makeLateLink } from './late-link.ts';
import type { LinkEnd, PeerLink } from './link.ts';
import type { PeerSending, PeerSendingParts, Signal } from '../transfers/peer-module.ts';
import type { Pipe } from './pipe.ts';
import { serveFiles, type Serving } from './serving.ts';
import { attemptOf, canConnect, makeSignaller, type PeerPolicy } from './signals.ts';

/** A receiver that has accepted and is not reached in this time gets its bytes through the relay until a path opens. */
const RELAY_EARLY_MS = 2_500;
/** The attempts of one transfer: each reload, lost network and acceptance causes one. */
const MOST_ATTEMPTS = 12;

/**
 * Makes the sender's side of the path from device to device. It offers, and uses the relay whenever there is no path:
 *
 *   (offered, receiver online, or there for 1.2 s) --> attempt --answered, connected--> open --closed--> relay
 *     attempt --accepted, not open after 2.5 s--> attempt and relay --connected--> open
 *     attempt --30 s, or the receiver says that it has no such path--> relay
 *     accepted, receiver comes back, stream comes back --> attempt, if none is open
 *     open, sealed, slow --relay preferred--> relay, and no attempts --the relay is slower, once--> attempt
 */
export function makePeerSending(
  policy: PeerPolicy,
  { run, caller, clock, sources, relay, recordBytes, tell, onProblem }: PeerSendingParts,
): PeerSending {
  const signaller = makeSignaller(policy, { run, caller, toId: run.transfer.receiver.device_id });
  /** Files that were sent this way at least in part, and are not known to be stored. */
  const open = new Set<number>();
  let link: PeerLink | null = null;
  let attempts = 0;
  let isRefused = !canConnect();
  /** True: the relay is faster. */
  let rests = false;
  let isChoosing = false;
  let serving: Serving | null = null;
  let cancelEarly = () => {};
  /** Reports leave one after the other, because the last one about the path in use counts. */
  let saying: Promise<unknown> = Promise.resolve();

  function takeRelay(): void {
    cancelEarly();
    if (run.signal.aborted) return;
    const ways = [...open];
    open.clear();
    saying = saying.then(() => relay.begin(ways));
  }

  async function sayOpen(mine: PeerLink): Promise<void> {
    if (mine.isOpen) await run.act('p2pTransfer');
  }

  function armRelay(ms: number): void {
    cancelEarly();
    cancelEarly = clock.after(ms, takeRelay);
  }

  function onOpen(pipe: Pipe, mine: PeerLink, signal: AbortSignal): void {
    cancelEarly();
    saying = saying.then(() => sayOpen(mine)).catch(onProblem);
    relay.nudge();
    serving = serveFiles({
      ...{ pipe, run, sources, signal },
      onBegun(index) {
        if (open.size === 0) tell('transferring');
        open.add(index);
      },
      onStored(index) {
        open.delete(index);
        relay.stored(index);
      },
      onMisbehaved: () => mine.close('misbehaved'),
      onLeft: () => mine.close('over'),
      onFailed: (error) => void run.fail(failureOf(error)),
    });
    if (recordBytes !== undefined && !isChoosing) choose(recordBytes);
  }

  /** Watches which path is faster, by code that only sealed transfers load. */
  function choose(border: number): void {
    isChoosing = true;
    const parts = {
      ...{ run, caller, clock },
      isDirect: () => link?.isOpen === true,
      toRelay() {
        rests = true;
        serving?.leave(border);
      },
      toDirect() {
        rests = false;
        if (link === null) attempt();
      },
    };
    // Without the code, or an answer, no path is chosen. That is not a failure.
    import('./faster-path.ts').then(({ chooseFasterPath }) => chooseFasterPath(parts)).catch(() => {});
  }

  function onOver(why: LinkEnd, mine: string): void {
    link = null;
    if (run.signal.aborted) return;
    if (why === 'misbehaved') isRefused = true;
    if (why !== 'told') signaller.bye(mine, why);
    tell('fallback_pending');
    run.wake();
    takeRelay();
  }

  function attempt(): void {
    if (isRefused || rests || run.signal.aborted || attempts >= MOST_ATTEMPTS) return;
    attempts += 1;
    drop();
    const controller = new AbortController();
    // Tells attempts apart, and need not be secret. `crypto.randomUUID` is missing if a page came over plain http.
    const name = `${attempts}-${Math.random().toString(36).slice(2)}`;
    const mine: PeerLink = makeLateLink({
      ...{ clock, attempt: name, isOffering: true, onPhase: tell },
      configuration: signaller.configuration,
      send: signaller.send,
      onOpen: (pipe) => onOpen(pipe, mine, controller.signal),
      onOver(why) {
        controller.abort();
        if (link?.attempt === name) onOver(why, name);
      },
    });
    link = mine;
  }

  /** Drops the link for another attempt, which is no reason to use the relay. */
  function drop(): void {
    const old = link;
    link = null;
    old?.close('over');
  }

  /** Begins when the receiver has accepted: it can be reached from now on, if ever. */
  function accepted(): void {
    if (isRefused || rests) return takeRelay();
    if (link?.isOpen) return;
    // An earlier offer may have reached nobody.
    if (!link?.isAnswered) attempt();
    // A relay that was in use continues at once.
    armRelay(run.transfer.state === 'RELAY_ACTIVE' ? 0 : RELAY_EARLY_MS);
  }

  function onBye({ payload }: Signal): void {
    const { reason } = (payload ?? {}) as { reason?: unknown };
    if (reason === 'again') {
      drop();
      run.wake();
      return accepted();
    }
    const of = attemptOf(payload);
    if (of !== '' && of !== link?.attempt) return;
    if (reason !== 'failed') isRefused = true;
    if (link === null) takeRelay();
    else link.close('told');
  }

  run.signal.addEventListener(
    'abort',
    () => {
      cancelEarly();
      link?.close('over');
    },
    { once: true },
  );

  return {
    get isOpen() {
      return link?.isOpen === true;
    },
    begin({ isThere, parks }) {
      // The transfer is resumed: only the receiver knows what the earlier process sent over the direct path.
      if (run.transfer.state === 'P2P_ACTIVE') for (const index of sources.keys()) open.add(index);
      run.until(({ state }) => state !== 'PENDING').then(accepted, () => {});
      if (run.transfer.state !== 'PENDING') return;
      if (isRefused || (!isThere && parks)) return takeRelay();
      if (!isThere) return;
      attempt();
      armRelay(LIMITS.relayFallbackMs);
    },
    there() {
      if (run.transfer.state !== 'PENDING') return;
      attempt();
      armRelay(LIMITS.relayFallbackMs);
    },
    take(signal) {
      if (signal.kind === 'bye') onBye(signal);
      else link?.take(signal);
    },
    nudge() {
      // A receiver whose stream was closed may have been away. An existing link reports its own loss.
      if (link === null && !isRefused && run.transfer.state === 'RELAY_ACTIVE') attempt();
    },
  };
}
