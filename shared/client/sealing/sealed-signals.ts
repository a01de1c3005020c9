import type { PeerToPeer } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import type { PeerModule, PeerSide, Signal } from '../transfers/peer-module.ts';
import { openSignal, sealSignal } from '../sealed/content/signals.ts';
import { SEALED_RECORD } from '../sealed/content/records.ts';
import type { Bytes } from '../sealed/primitives/bytes.ts';

/** Returns the key of a transfer that is sealed; null if it is not. */
type KeyOf = (transferId: string) => Bytes | null;

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

/** Returns a caller that seals the signals of this transfer. */
function sealingCaller(caller: Caller, { key, transferId, own }: Ends): Caller {
  const path = { transferId, from: own };
  const call = async (name: CallParts[0], options: { body: Signal }) => {
    if (name !== 'sendSignal') return caller.call(...([name, options] as unknown as CallParts));
    const sealed = await sealSignal(key, path, JSON.stringify(signalIn(options.body)));
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
 * Returns a side that opens what it takes. A signal that is not sealed is dropped, unless it is a `bye`: a device without
 * direct paths sends it, and an attacker who could forge it could drop all signals as well. Both lead to the relay.
 */
function openingSide<T extends PeerSide>(side: T, { key, transferId, other }: Ends): T {
  const path = { transferId, from: other };
  /** Signals are opened one after the other, so that they stay in their order. */
  let last: Promise<void> = Promise.resolve();
  async function open({ kind, payload }: Signal): Promise<void> {
    const sealed = sealedIn(payload);
    if (sealed === null) return kind === 'bye' ? side.take({ kind, payload }) : undefined;
    const opened = JSON.parse(await openSignal(key, path, sealed)) as Signal;
    if (opened.kind === kind) side.take(signalIn(opened));
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
      const own = { ...parts, caller: sealingCaller(parts.caller, ends), recordBytes: SEALED_RECORD };
      return openingSide(peers.sending(own), ends);
    },
    receiving(parts) {
      const { sender, receiver } = parts.run.transfer;
      const key = keyOf(parts.run.id);
      if (key === null) return peers.receiving(parts);
      const ends = { key, transferId: parts.run.id, own: receiver.device_id, other: sender.device_id };
      return openingSide(peers.receiving({ ...parts, caller: sealingCaller(parts.caller, ends) }), ends);
    },
  };
  return made;
}
