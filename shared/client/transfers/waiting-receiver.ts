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
  /** True: the receiver was online when the service took the offer. */
  isThere: boolean;
  offlineMs: number;
  /** Called when the receiver has come and had a moment to prepare. */
  onThere: () => void;
  onProblem: (error: unknown) => void;
}

/**
 * The wait for a receiver that was online is this many times as long, because it has seen the offer and may only be asleep.
 */
const SEEN_TIMES = 10;

/**
 * Ends a transfer whose receiver stays away for `offlineMs` before it has accepted. Presence shows a device for some
 * seconds after it has left, so a receiver counts as come only when presence showed it away and then back. One that was
 * there for the offer may have left at that moment.
 */
export function waitForReceiver({ run, caller, clock, emitter, offlineMs, ...parts }: Waiting): void {
  const { receiver } = run.transfer;
  let hasSeen = parts.isThere;
  let wasAway = false;
  let isLate = false;
  let cancel = () => {};
  const after = (ms: number, work: () => void) => {
    cancel();
    cancel = clock.after(ms, work);
  };
  /** Asks the service, because what this device heard last may be old: its own stream may have been interrupted. */
  const lookNow = async () => {
    const stands = cancel;
    const { body } = await run.insist(() => caller.call('getPresence'));
    // The receiver has come or accepted meanwhile, which is newer than this response.
    if (cancel !== stands) return;
    // A device that is shown now is no echo of one that has left: it has come.
    wasAway = isLate = true;
    look(body.devices);
  };
  const wait = () => after(hasSeen ? SEEN_TIMES * offlineMs : offlineMs, () => void lookNow().catch(parts.onProblem));
  const fail = async () => {
    end();
    const request = { params: { transfer_id: run.id }, body: { phase: 'peer_offline' as const } };
    const { body } = await run.insist(() => caller.call('failTransfer', request));
    run.update(body.transfer);
  };
  const look = (entries: readonly PresenceEntry[]) => {
    const isAway = !entries.some(({ device_id, online }) => online && device_id === receiver.device_id);
    if (isAway && isLate) fail().catch(parts.onProblem);
    else if (isAway !== wasAway) {
      wasAway = isAway;
      if (!isAway) {
        isLate = false;
        hasSeen = true;
        after(LIMITS.peerDelayMs, parts.onThere);
      } else if (hasSeen) wait();
    }
  };
  const off = emitter.on('presence', look);
  const end = () => {
    cancel();
    cancel = () => {};
    off();
  };
  if (!hasSeen) wait();
  // A receiver that has accepted was connected, whatever presence says.
  run.until(({ state }) => state !== 'PENDING').then(end, end);
}
