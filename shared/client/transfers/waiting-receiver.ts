import { LIMITS } from '../../contract/limits.ts';
import type { ClientEvents } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import type { Clock } from '../time/clock.ts';
import type { Emitter } from '../emitter.ts';
import type { Run } from './transfer-run.ts';
import type { PresenceEntry } from '../wire.ts';

interface Waiting {
  run: Run;
  caller: Caller;
  clock: Clock;
  emitter: Emitter<ClientEvents>;
  presence: () => readonly PresenceEntry[];
  /** What the service said of the receiver when it took the offer. */
  isThere: boolean;
  offlineMs: number;
  /** Called when the receiver has come and had a moment to prepare. */
  onThere: () => void;
  onProblem: (error: unknown) => void;
}

/** A receiver that was there has seen the offer, so it is waited for this many times as long. A phone may only sleep. */
const SEEN_TIMES = 10;

/**
 * Ends a transfer whose receiver stays away for `offlineMs` before it has accepted. Presence shows a device for some
 * seconds after it has left, so a receiver counts as come only when presence showed it away and then back. One that was
 * there for the offer may have left at that moment.
 */
export function waitForReceiver({ run, caller, clock, emitter, presence, offlineMs, ...parts }: Waiting): void {
  const { receiver } = run.transfer;
  let hasSeen = parts.isThere;
  let wasAway = false;
  let isLate = false;
  let stopClock: (() => void) | null = null;
  let cancelSoon = () => {};
  const fail = async () => {
    end();
    const body = { phase: 'peer_offline', reason: 'peer_offline' } as const;
    const params = { transfer_id: run.id };
    const { body: ended } = await run.insist(() => caller.call('failTransfer', { params, body }));
    run.update(ended.transfer);
  };
  const startClock = () => {
    stopClock ??= clock.after(hasSeen ? SEEN_TIMES * offlineMs : offlineMs, () => {
      isLate = true;
      look(presence());
    });
  };
  const come = () => {
    stopClock?.();
    stopClock = null;
    wasAway = isLate = false;
    hasSeen = true;
    cancelSoon();
    cancelSoon = clock.after(LIMITS.peerDelayMs, parts.onThere);
  };
  const look = (entries: readonly PresenceEntry[]) => {
    const isThere = entries.some(({ device_id, online }) => online && device_id === receiver.device_id);
    if (isThere && wasAway) return come();
    if (isThere) return;
    wasAway = true;
    if (isLate) fail().catch(parts.onProblem);
    else startClock();
  };
  const off = emitter.on('presence', look);
  const end = () => {
    stopClock?.();
    cancelSoon();
    off();
  };
  if (!parts.isThere) startClock();
  run.signal.addEventListener('abort', end, { once: true });
  // A receiver that has accepted was there, whatever presence says.
  run.until(({ state }) => state !== 'PENDING').then(end, () => {});
}
