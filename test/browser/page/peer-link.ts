import type { EventData } from '../../../shared/contract/events.ts';
import type { IceServer, SendSignal } from '../../../shared/contract/modules/signal.ts';

/** The limit is below the 30 s after which a client uses the relay. */
const OPENS_WITHIN_MS = 25_000;

type Signal = Pick<EventData<'signal'>, 'kind' | 'payload'>;

/** A peer connection with one data channel, which both ends make. */
export interface PeerLink {
  readonly channel: RTCDataChannel;
  /** Resolves when the channel is open. Rejects with what went wrong. */
  readonly opened: Promise<void>;
  /** Takes what the other end signalled, in the order in which it did. */
  take(signal: Signal): void;
  /** Returns the two addresses between which the bytes go. */
  path(): Promise<{ local: string; remote: string }>;
  close(): void;
}

interface PeerLinkParts {
  iceServers: IceServer[];
  /** Exactly one of the two ends offers. Offers that meet are rolled back, after which Chromium may gather nothing. */
  offering: boolean;
  send: (kind: SendSignal['kind'], payload: unknown) => Promise<unknown>;
}

/** Candidates trickle. Both ends make the channel beforehand, under the same number. */
export function openPeerLink({ iceServers, offering, send }: PeerLinkParts): PeerLink {
  const peer = new RTCPeerConnection({ iceServers });
  const channel = peer.createDataChannel('files', { negotiated: true, id: 0 });
  channel.binaryType = 'arraybuffer';
  let fail: (error: Error) => void = () => {};
  // Signals go one after the other. Otherwise the other end gets them in another order.
  let sending: Promise<unknown> = Promise.resolve();

  const opened = new Promise<void>((resolve, reject) => {
    const states = () => `${peer.signalingState}, ${peer.iceConnectionState}, ${peer.connectionState}`;
    const timer = setTimeout(() => fail(new Error(`No data channel in time: ${states()}`)), OPENS_WITHIN_MS);
    fail = (error) => {
      clearTimeout(timer);
      reject(error);
    };
    channel.addEventListener('open', () => {
      clearTimeout(timer);
      resolve();
    });
    peer.addEventListener('connectionstatechange', () => {
      if (peer.connectionState === 'failed') fail(new Error(`The peer connection failed: ${states()}`));
    });
  });

  const orFail = (work: Promise<unknown>): void => void work.catch(fail);

  function signal(kind: SendSignal['kind'], payload: unknown): void {
    sending = sending.then(() => send(kind, payload));
    orFail(sending);
  }

  /** Signals an offer, or the answer to one. The browser knows which is due. */
  async function describe(): Promise<void> {
    await peer.setLocalDescription();
    const { localDescription } = peer;
    if (localDescription !== null) signal(localDescription.type as 'offer' | 'answer', localDescription);
  }

  async function takeDescription(description: RTCSessionDescriptionInit): Promise<void> {
    await peer.setRemoteDescription(description);
    if (description.type === 'offer') await describe();
  }

  if (offering) peer.addEventListener('negotiationneeded', () => orFail(describe()));
  peer.addEventListener('icecandidate', ({ candidate }) => {
    if (candidate !== null) signal('candidate', candidate);
  });

  return {
    channel,
    opened,
    take({ kind, payload }) {
      if (kind === 'bye') fail(new Error('The other end gave up'));
      else if (kind === 'candidate') orFail(peer.addIceCandidate(payload as RTCIceCandidateInit));
      else orFail(takeDescription(payload as RTCSessionDescriptionInit));
    },
    async path() {
      const stats = await peer.getStats();
      const all = [...stats.values()] as Record<string, string>[];
      const pair = stats.get(all.find(({ type }) => type === 'transport')?.selectedCandidatePairId ?? '');
      const addressOf = (id: string) => String(stats.get(id)?.address);
      return { local: addressOf(pair?.localCandidateId), remote: addressOf(pair?.remoteCandidateId) };
    },
    close: () => peer.close(),
  };
}
