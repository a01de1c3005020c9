import { LIMITS } from '../../contract/limits.ts';
import type { IceServer } from '../../contract/modules/signal.ts';
import type { Clock } from '../time/clock.ts';
import type { Signal } from '../transfers/peer-module.ts';
import { attemptOf, textOf } from './signals.ts';
import type { TransferPhase } from '../wire.ts';

/** Browsers report `disconnected` five seconds after the last sign of life. The path is given up this long after that. */
const LOST_MS = 2_000;
/** The connections of one attempt. The figures of 1, 2 and 4 are in test/bench/LOG.md. */
const MOST_LINKS = 4;
/** More signals than any honest peer has addresses. */
const MOST_SIGNALS = 128;
const MOST_CANDIDATE_CHARS = 2_048;

/** Why a link is over. `misbehaved`: the other side sent what this protocol does not have, or more than was requested. */
export type LinkEnd = 'failed' | 'misbehaved' | 'told' | 'over';

/** One attempt to reach the other side: a peer connection with one data channel, which both ends create beforehand. */
export interface PeerLink {
  /** A random id; signals of other attempts are dropped. */
  readonly attempt: string;
  readonly isOpen: boolean;
  /** The other side has answered. */
  readonly isAnswered: boolean;
  /** Takes a signal of the other side, in its order. */
  take(signal: Signal): void;
  close(why: LinkEnd): void;
}

export interface LinkParts {
  clock: Clock;
  attempt: string;
  /** Exactly one of the two ends offers, because crossing offers would have to be rolled back. */
  isOffering: boolean;
  configuration: () => Promise<{ iceServers: IceServer[]; iceTransportPolicy?: 'all' | 'relay' }>;
  send: (kind: 'offer' | 'answer' | 'candidate', payload: object) => Promise<unknown>;
  onPhase: (phase: TransferPhase) => void;
  /** `links`: how many connections both sides allow; 1 if the other side does not know of further ones. */
  onOpen: (channel: RTCDataChannel, messageBytes: number, links: number) => void;
  /** Called once, even for a link that never opened. */
  onOver: (why: LinkEnd) => void;
}

/**
 * Returns the size of messages. Larger ones are not interoperable (RFC 8831, section 6.6). The default is 64 KiB (RFC 8841,
 * section 6.1).
 */
const messageBytesOf = ({ sctp }: RTCPeerConnection): number =>
  Math.max(1_024, Math.min(256 * 1024, sctp?.maxMessageSize || 64 * 1024));

/** Returns how many connections a side allows; 1 for one that does not say it, or says something impossible. */
function linksOf(payload: unknown): number {
  const { links } = (payload ?? {}) as { links?: unknown };
  return Number.isSafeInteger(links) && (links as number) > 1 ? Math.min(links as number, MOST_LINKS) : 1;
}

export function makePeerLink({ clock, attempt, isOffering, send, onPhase, ...parts }: LinkParts): PeerLink {
  let peer: RTCPeerConnection | null = null;
  let isOpen = false;
  let isOver = false;
  let isAnswered = false;
  let taken = 0;
  let links = isOffering ? MOST_LINKS : 1;
  let forgetLost = () => {};
  const early: RTCIceCandidateInit[] = [];
  const cancelLate = clock.after(LIMITS.relayFallbackMs, () => close('failed'));

  function close(why: LinkEnd): void {
    if (isOver) return;
    isOver = true;
    isOpen = false;
    cancelLate();
    forgetLost();
    peer?.close();
    parts.onOver(why);
  }

  // Steps run one after the other, so that the other end gets the signals in order.
  let steps: Promise<unknown> = Promise.resolve();
  function then(step: () => unknown): void {
    steps = steps.then(() => (isOver ? undefined : step())).catch(() => close('failed'));
  }

  async function describe(on: RTCPeerConnection): Promise<void> {
    await on.setLocalDescription();
    const { type, sdp } = on.localDescription as RTCSessionDescription;
    await send(type as 'offer' | 'answer', { type, sdp, attempt, ...(links > 1 && { links }) });
  }

  function onConnection(on: RTCPeerConnection): void {
    const { connectionState: state } = on;
    forgetLost();
    if (state === 'failed' || state === 'closed') close('failed');
    else if (state === 'disconnected') forgetLost = clock.after(LOST_MS, () => close('failed'));
  }

  async function connect(): Promise<void> {
    const on = new RTCPeerConnection(await parts.configuration());
    if (isOver) return on.close();
    peer = on;
    const channel = on.createDataChannel('baton', { negotiated: true, id: 0 });
    channel.binaryType = 'arraybuffer';
    channel.addEventListener('open', () => {
      if (isOver) return;
      cancelLate();
      isOpen = true;
      onPhase('dc_open');
      parts.onOpen(channel, messageBytesOf(on), links);
    });
    channel.addEventListener('close', () => close('failed'));
    on.addEventListener('icecandidate', ({ candidate }) => {
      // A lost candidate is only one address fewer.
      if (candidate?.candidate) then(() => send('candidate', { ...candidate.toJSON(), attempt }).catch(() => {}));
    });
    on.addEventListener('connectionstatechange', () => onConnection(on));
    on.addEventListener('icegatheringstatechange', () => {
      if (on.iceGatheringState === 'gathering') onPhase('ice_gathering');
    });
    on.addEventListener('iceconnectionstatechange', () => {
      if (on.iceConnectionState === 'checking') onPhase('ice_checking');
      if (on.iceConnectionState === 'connected') onPhase('ice_connected');
    });
    if (isOffering) await describe(on);
  }

  async function takeDescription(sdp: string, allowed: number): Promise<void> {
    const on = peer as RTCPeerConnection;
    if (on.signalingState !== (isOffering ? 'have-local-offer' : 'stable') || isAnswered) return;
    isAnswered = true;
    links = allowed;
    await on.setRemoteDescription({ type: isOffering ? 'answer' : 'offer', sdp });
    if (!isOffering) await describe(on);
    for (const candidate of early.splice(0)) await on.addIceCandidate(candidate).catch(() => {});
  }

  async function takeCandidate(payload: unknown): Promise<void> {
    const text = textOf(payload, 'candidate');
    const line = (payload as { sdpMLineIndex?: unknown }).sdpMLineIndex;
    if (text === null || text.length > MOST_CANDIDATE_CHARS) return;
    const candidate = {
      ...{ candidate: text, sdpMid: textOf(payload, 'sdpMid') },
      sdpMLineIndex: typeof line === 'number' ? line : null,
    };
    if (!isAnswered) early.push(candidate);
    // An unusable candidate is only one address fewer.
    else await (peer as RTCPeerConnection).addIceCandidate(candidate).catch(() => {});
  }

  then(connect);
  return {
    attempt,
    get isOpen() {
      return isOpen;
    },
    get isAnswered() {
      return isAnswered;
    },
    take({ kind, payload }) {
      taken += 1;
      if (isOver || taken > MOST_SIGNALS || attemptOf(payload) !== attempt) return;
      const sdp = textOf(payload, 'sdp');
      if (kind === 'candidate') then(() => takeCandidate(payload));
      else if (kind === (isOffering ? 'answer' : 'offer') && sdp !== null)
        then(() => takeDescription(sdp, linksOf(payload)));
    },
    close,
  };
}
