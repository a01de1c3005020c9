import { randomInt } from 'node:crypto';
import { BatonError } from '../../../shared/contract/errors.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { SendSignal } from '../../../shared/contract/signal.ts';
import type { Operation } from '../http/handler.ts';
import type { DeviceCaller } from '../identity/caller.ts';
import { ACCOUNT, type Keys } from '../redis/keys.ts';
import { rememberSeconds } from '../redis/operations.ts';
import type { ScriptLoader } from '../redis/scripts.ts';
import type { Replica } from './replica.ts';

interface SignalsParts {
  scripts: ScriptLoader;
  keys: Keys;
  /** Signals a minute per device; null: unlimited. */
  rateLimit: number | null;
  replica: Pick<Replica, 'isDeadChannel' | 'lateMs'>;
}

/** WebRTC signals between two devices of an account, in order, through the log. */
export function makeSignals({ scripts, keys, rateLimit, replica }: SignalsParts) {
  const script = scripts.load('signal-send.lua', import.meta.url, 'signal');

  /**
   * Resolves to whether the target has a live stream now. Throws `body_too_large`, `not_found`, `not_a_party`,
   * `device_required`, `rate_limited`.
   */
  return async function send(
    { account: u, deviceId }: DeviceCaller,
    signal: SendSignal,
    operation: Operation,
  ): Promise<boolean> {
    const payload = JSON.stringify(signal.payload);
    if (Buffer.byteLength(payload) > LIMITS.signalBytes) {
      throw new BatonError('body_too_large', `A payload is at most ${LIMITS.signalBytes} bytes of JSON`);
    }
    const transferId = signal.transfer_id ?? '';
    const target = signal.to === undefined ? `=${signal.to_device_id}` : `~${signal.to}`;
    const [receiver, flat] = (await script(
      [
        ...[keys.devices(u), keys.routes(u), keys.log(u), keys.operation(u, deviceId, operation.id)],
        ...[keys.rate(u, 'signal', deviceId), keys.transfer(u, transferId), keys.rate(u, 'signal', ACCOUNT)],
      ],
      [
        ...[deviceId, target, transferId, signal.kind, payload, randomInt(0, 2 ** 32)],
        ...[operation.fingerprint, rememberSeconds(operation), rateLimit ?? 0, replica.lateMs()],
      ],
    )) as [string, string[]];
    return flat.some(
      (device, i) => i % 2 === 1 && device === receiver && !replica.isDeadChannel(flat[i - 1] as string),
    );
  };
}

export type SendSignalTo = ReturnType<typeof makeSignals>;
