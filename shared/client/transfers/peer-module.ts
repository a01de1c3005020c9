import type { PeerToPeer, SendSettings } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import type { Clock } from '../time/clock.ts';
import type { FileSource } from '../files/files.ts';
import type { RelaySender } from './sending.ts';
import type { Run } from './transfer-run.ts';
import type { TransferPhase } from '../wire.ts';

/** A signal of the other side of a transfer, as it came: anything. */
export interface Signal {
  kind: string;
  payload: unknown;
}

interface Parts {
  run: Run;
  caller: Caller;
  clock: Clock;
  /** Shown elsewhere; one that is lost is no loss. */
  tell: (phase: TransferPhase) => void;
  onProblem: (error: unknown) => void;
}

export interface PeerSendingParts extends Parts {
  sources: readonly FileSource[];
  /** Where the bytes go when no path opens. */
  relay: RelaySender;
}

export interface PeerReceivingParts extends Parts {
  /** What is asked of the relay is not needed now. */
  onOpen: () => void;
}

/** A file that is wanted from an offset on. */
export interface Wanted {
  index: number;
  offset: number;
  size: number;
  /** Given each part as it comes, in order. */
  take: (bytes: Uint8Array) => Promise<void>;
}

export interface PeerSide {
  /** While bytes go this way. */
  readonly isOpen: boolean;
  take(signal: Signal): void;
  /** The network has changed, or the stream is back. */
  nudge(): void;
}

export interface PeerSending extends PeerSide {
  /** `isThere`: the receiver is online. */
  begin(about: { isThere: boolean; parks: boolean }): void;
  /** The receiver has come. */
  there(): void;
}

export interface PeerReceiving extends PeerSide {
  begin(): void;
  /** Resolves when all of it was taken; rejects when this way is closed. */
  fetch(wanted: Wanted): Promise<void>;
  /** A file of which something came this way is whole, and safe. */
  stored(index: number): void;
}

/** What `peerToPeer` makes, as the library sees it: the core names no more of it than these types. */
export interface PeerModule extends PeerToPeer {
  sending(parts: PeerSendingParts): PeerSending;
  receiving(parts: PeerReceivingParts): PeerReceiving;
}

/** Whether a transfer may go from device to device: its bytes may have to be read again from anywhere. */
export const mayGoDirect = (sources: readonly FileSource[], { direct = true }: SendSettings): boolean =>
  direct && sources.every(({ replayable }) => replayable);
