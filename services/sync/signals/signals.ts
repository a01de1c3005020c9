import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { SendSignal } from '../../../shared/contract/modules/signal.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import { tellSeveral } from '../devices/several-names.ts';
import type { Db } from '../redis/db.ts';
import { ACCOUNT } from '../redis/keys.ts';
import { signalSend } from './scripts.ts';
import type { Replica } from '../replicas/replica.ts';

interface SignalsParts extends Pick<Db, 'scripts' | 'keys'> {
  replica: Pick<Replica, 'isDeadChannel' | 'lateMs'>;
}

/** Makes a function that sends WebRTC signals from one device of an account to another, in order, through the log. */
export function makeSignals({ scripts, keys, replica }: SignalsParts) {
  const script = scripts.define(signalSend);

  /**
   * Sends a signal. Resolves to whether the target has a live stream now. Throws `body_too_large`, `not_found`,
   * `not_a_party`, `name_taken`, `device_required`, `rate_limited`.
   */
  return async function send({ account: u, deviceId }: DeviceCaller, signal: SendSignal): Promise<boolean> {
    const payload = JSON.stringify(signal.payload);
    if (Buffer.byteLength(payload) > LIMITS.signalBytes) {
      throw new BatonError('body_too_large', `A payload is at most ${LIMITS.signalBytes} bytes of JSON`);
    }
    const transferId = signal.transfer_id ?? '';
    const target = signal.to === undefined ? `=${signal.to_device_id}` : `~${signal.to}`;
    const { receiver, routes } = await script(
      keys.inAccount(u, {
        operation: keys.call(u, deviceId),
        rate: keys.rate(u, 'signal', deviceId),
        accountRate: keys.rate(u, 'signal', ACCOUNT),
        transfer: keys.transfer(u, transferId),
      }),
      {
        sender: deviceId,
        target,
        transferId,
        kind: signal.kind,
        payload,
        lateMs: replica.lateMs(),
      },
    ).catch(tellSeveral);
    return routes.some(({ channel, device }) => device === receiver && !replica.isDeadChannel(channel));
  };
}

export type SendSignalTo = ReturnType<typeof makeSignals>;
