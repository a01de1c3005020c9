/* Data channels and peer connections in memory. A test delivers each message when it wants. */

type Data = string | ArrayBuffer;

const sizeOf = (data: Data): number => (typeof data === 'string' ? data.length : data.byteLength);

export class FakeChannel extends EventTarget {
  readyState: RTCDataChannelState = 'connecting';
  bufferedAmount = 0;
  bufferedAmountLowThreshold = 0;
  binaryType = 'blob';
  other: FakeChannel | null = null;
  /** The undelivered messages, and the delivered ones, in order. */
  readonly waiting: Data[] = [];
  readonly delivered: Data[] = [];

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState !== 'open') throw new Error('InvalidStateError');
    const copy = typeof data === 'string' ? data : data.slice().buffer;
    this.waiting.push(copy);
    this.bufferedAmount += sizeOf(copy);
  }

  /** Delivers the oldest message. Returns false if none waits. */
  deliver(): boolean {
    const data = this.waiting.shift();
    if (data === undefined) return false;
    const before = this.bufferedAmount;
    this.bufferedAmount -= sizeOf(data);
    this.delivered.push(data);
    if (this.other?.readyState === 'open') this.other.dispatchEvent(new MessageEvent('message', { data }));
    const low = this.bufferedAmountLowThreshold;
    if (before > low && this.bufferedAmount <= low) this.dispatchEvent(new Event('bufferedamountlow'));
    return true;
  }

  open(): void {
    this.readyState = 'open';
    this.dispatchEvent(new Event('open'));
  }

  /** Ends this side. Its undelivered messages are lost. */
  end(): void {
    if (this.readyState === 'closed') return;
    this.readyState = 'closed';
    this.waiting.length = 0;
    this.dispatchEvent(new Event('close'));
  }
}

/** Makes two open ends of a channel. */
export function channelPair(): [FakeChannel, FakeChannel] {
  const [one, two] = [new FakeChannel(), new FakeChannel()];
  one.other = two;
  two.other = one;
  one.readyState = 'open';
  two.readyState = 'open';
  return [one, two];
}

/** Returns the channel as the code under test sees it. */
export const asChannel = (channel: FakeChannel): RTCDataChannel => channel as unknown as RTCDataChannel;

/** Every peer connection that was made since the last `reset`, in order. */
export const peers: FakePeer[] = [];

export class FakePeer extends EventTarget {
  connectionState = 'new';
  iceConnectionState = 'new';
  iceGatheringState = 'new';
  signalingState: RTCSignalingState = 'stable';
  localDescription: { type: string; sdp: string } | null = null;
  readonly sctp = { maxMessageSize: 256 * 1024 };
  readonly channel = new FakeChannel();
  private remote: FakePeer | null = null;

  constructor() {
    super();
    peers.push(this);
  }

  createDataChannel(): FakeChannel {
    return this.channel;
  }

  async setLocalDescription(): Promise<void> {
    const type = this.remote === null ? 'offer' : 'answer';
    this.localDescription = { type, sdp: String(peers.indexOf(this)) };
    this.signalingState = type === 'offer' ? 'have-local-offer' : 'stable';
  }

  async setRemoteDescription({ type, sdp }: { type: string; sdp: string }): Promise<void> {
    const other = peers[Number(sdp)];
    if (other === undefined) throw new Error('InvalidAccessError');
    this.remote = other;
    this.signalingState = type === 'answer' ? 'stable' : 'have-remote-offer';
    if (type !== 'answer') return;
    const [mine, theirs] = [this.channel, other.channel];
    mine.other = theirs;
    theirs.other = mine;
    theirs.open();
    mine.open();
  }

  async addIceCandidate(): Promise<void> {}

  close(): void {
    if (this.connectionState === 'closed') return;
    this.connectionState = 'closed';
    this.channel.end();
    this.remote?.channel.end();
  }
}

export function reset(): void {
  peers.length = 0;
}
