import type { PeerToPeer } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import type { Clock } from '../time/clock.ts';
import type { PeerModule, PeerSide, Signal } from '../transfers/peer-module.ts';
import { openSignal, sealSignal } from '../sealed/content/signals.ts';
import { SEALED_RECORD } from '../sealed/content/records.ts';
import type { Bytes } from '../sealed/primitives/bytes.ts';

/** Returns the key of a transfer that is sealed; null if it is not. */
type KeyOf = (transferId: string) => Bytes | null;

/** A signal as it is sealed. `n` rises with each signal of its sender; a sender of an earlier version names none. */
type SealedSignal = Signal & { readonly n?: unknown };

interface Ends {
  readonly key: Bytes;
  readonly transferId: string;
  /** The ids of the two devices. */
  readonly own: string;
  readonly other: string;
}

type CallParts = Parameters<Caller['call']>;

/** Returns the sealed part of a signal. It includes the kind, so that nobody can call an offer an answer. */
const signalIn = ({ kind, payload }: Signal): Signal => ({ kind, payload });

/**
 * Returns a caller that seals the signals of this transfer. They are numbered by the time, in microseconds, so that those of
 * a page that is loaded again follow the earlier ones. If its clock was set back meanwhile, the other device drops them, and
 * the relay is used.
 */
function sealingCaller(caller: Caller, clock: Pick<Clock, 'now'>, { key, transferId, own }: Ends): Caller {
  const path = { transferId, from: own };
  let last = 0;
  const call = async (name: CallParts[0], options: { body: Signal }) => {
    if (name !== 'sendSignal') return caller.call(...([name, options] as unknown as CallParts));
    last = Math.max(clock.now() * 1_000, last + 1);
    const signal: SealedSignal = { ...signalIn(options.body), n: last };
    const sealed = await sealSignal(key, path, JSON.stringify(signal));
    const body = { ...options.body, payload: { sealed } };
    return caller.call(...([name, { ...options, body }] as unknown as CallParts));
  };
  return { ...caller, call: call as unknown as Caller['call'] };
}

const sealedIn = (payload: unknown): string | null => {
  const { sealed } = (payload ?? {}) as { sealed?: unknown };
  return typeof sealed === 'string' ? sealed : null;
};

/**
 * Returns a side that opens what it takes. It takes no signal a second time, and none after a later one: an offer that the
 * service repeats would close the path that is open.
 *
 * A signal that is not sealed is dropped, unless it is a `bye`: a device without direct paths sends it, and an attacker who
 * could forge it could drop all signals as well. Both lead to the relay. A device that has sealed a signal sends none.
 */
function openingSide<T extends PeerSide>(side: T, { key, transferId, other }: Ends): T {
  const path = { transferId, from: other };
  /** Signals are opened one after the other, so that they stay in their order. */
  let last: Promise<void> = Promise.resolve();
  let newest = 0;
  async function open({ kind, payload }: Signal): Promise<void> {
    const sealed = sealedIn(payload);
    if (sealed === null) return kind === 'bye' && newest === 0 ? side.take({ kind, payload }) : undefined;
    const opened = JSON.parse(await openSignal(key, path, sealed)) as SealedSignal;
    const n = typeof opened.n === 'number' ? opened.n : 0;
    if (opened.kind !== kind || (newest > 0 && n <= newest)) return;
    newest = n;
    side.take(signalIn(opened));
  }
  const take = (signal: Signal): void => {
    // A signal that does not open is not from the other device.
    last = last.then(() => open(signal)).catch(() => {});
  };
  return Object.defineProperties({} as T, {
    ...Object.getOwnPropertyDescriptors(side),
    take: { enumerable: true, value: take },
  });
}

/** Makes a path between devices whose signals are sealed in transfers that have a key. */
export function sealedPeerToPeer(given: PeerToPeer, keyOf: KeyOf): PeerToPeer {
  const peers = given as PeerModule;
  const made: PeerModule = {
    kind: 'peer-to-peer',
    sending(parts) {
      const { sender, receiver } = parts.run.transfer;
      const key = keyOf(parts.run.id);
      if (key === null) return peers.sending(parts);
      const ends = { key, transferId: parts.run.id, own: sender.device_id, other: receiver.device_id };
      const own = { ...parts, caller: sealingCaller(parts.caller, parts.clock, ends), recordBytes: SEALED_RECORD };
      return openingSide(peers.sending(own), ends);
    },
    receiving(parts) {
      const { sender, receiver } = parts.run.transfer;
      const key = keyOf(parts.run.id);
      if (key === null) return peers.receiving(parts);
      const ends = { key, transferId: parts.run.id, own: receiver.device_id, other: sender.device_id };
      return openingSide(peers.receiving({ ...parts, caller: sealingCaller(parts.caller, parts.clock, ends) }), ends);
    },
  };
  return made;
}
