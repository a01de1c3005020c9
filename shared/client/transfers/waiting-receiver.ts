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
  offlineMs: number;
  /** Called when the receiver has come and had a moment to prepare. */
  onThere: () => void;
  onProblem: (error: unknown) => void;
}

/**
 * Ends a transfer whose receiver does not come in time. Presence shows a device for some seconds after it has left, so a
 * receiver counts as come only when presence showed it away and then back.
 */
export function waitForReceiver({ run, caller, clock, emitter, presence, offlineMs, ...parts }: Waiting): void {
  const { receiver } = run.transfer;
  let wasAway = false;
  let isLate = false;
  const fail = async () => {
    end();
    const body = { phase: 'peer_offline', reason: 'peer_offline' } as const;
    const params = { transfer_id: run.id };
    const { body: ended } = await run.insist(() => caller.call('failTransfer', { params, body }));
    run.update(ended.transfer);
  };
  const look = (entries: readonly PresenceEntry[]) => {
    const isThere = entries.some(({ device_id, online }) => online && device_id === receiver.device_id);
    if (isThere && wasAway) {
      end();
      const cancelSoon = clock.after(LIMITS.peerDelayMs, parts.onThere);
      run.signal.addEventListener('abort', cancelSoon, { once: true });
    }
    wasAway ||= !isThere;
    if (isLate && !isThere) fail().catch(parts.onProblem);
  };
  const cancel = clock.after(offlineMs, () => {
    isLate = true;
    look(presence());
  });
  const off = emitter.on('presence', look);
  const end = () => {
    cancel();
    off();
  };
  run.signal.addEventListener('abort', end, { once: true });
  // A receiver that has accepted was there, whatever presence says.
  run.until(({ state }) => state !== 'PENDING').then(end, () => {});
}
