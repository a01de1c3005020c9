import type { PeerToPeer, SendSettings } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import type { Clock } from '../time/clock.ts';
import type { FileSource } from '../files/files.ts';
import type { RelaySender } from './sending.ts';
import type { Run } from './transfer-run.ts';
import type { TransferPhase } from '../wire.ts';

/** A signal of the other side of a transfer, unchecked. */
export interface Signal {
  kind: string;
  payload: unknown;
}

interface Parts {
  run: Run;
  caller: Caller;
  clock: Clock;
  /** Reports the phase to other devices. A lost report does no harm. */
  tell: (phase: TransferPhase) => void;
  onProblem: (error: unknown) => void;
}

export interface PeerSendingParts extends Parts {
  sources: readonly FileSource[];
  /** Sends the bytes when no path opens. */
  relay: RelaySender;
  /** The bytes of a sealed record. Such a transfer may change to the relay if that is faster; another one never does. */
  recordBytes?: number;
}

export interface PeerReceivingParts extends Parts {
  /** Called when the path opens: requests to the relay are not needed now. */
  onOpen: () => void;
}

/** A file that is requested from an offset on. */
export interface Wanted {
  index: number;
  offset: number;
  size: number;
  /** Called with each part in order. */
  take: (bytes: Uint8Array) => Promise<void>;
}

export interface PeerSide {
  /** True while bytes go this way. */
  readonly isOpen: boolean;
  take(signal: Signal): void;
  /** Called when the network has changed, or the stream is back. */
  nudge(): void;
}

export interface PeerSending extends PeerSide {
  /** Begins. `isThere`: the receiver is online. */
  begin(about: { isThere: boolean; parks: boolean }): void;
  /** Called when the receiver comes online. */
  there(): void;
}

export interface PeerReceiving extends PeerSide {
  begin(): void;
  /** Fetches a file. Resolves when all of it was taken; rejects when this path is closed. */
  fetch(wanted: Wanted): Promise<void>;
  /** Called when a file is stored safely and at least a part of it came this way. */
  stored(index: number): void;
}

/** The result of `peerToPeer`, as the library sees it. The core refers only to these types of it. */
export interface PeerModule extends PeerToPeer {
  sending(parts: PeerSendingParts): PeerSending;
  receiving(parts: PeerReceivingParts): PeerReceiving;
}

/** Tells whether a transfer may go from device to device. There its bytes may have to be read again from any offset. */
export const mayGoDirect = (sources: readonly FileSource[], { direct = true }: SendSettings): boolean =>
  direct && sources.every(({ replayable }) => replayable);
