import { storeFault } from '../../../../shared/service-kit/redis/faults.ts';
import { BUS } from './payloads.ts';
import type { Loss, Subscriber, SubscriberParts } from './subscriber.ts';

/** An event of an account's log, as the append announced it. */
export interface BusEvent {
  account: string;
  id: string;
  prev: string;
  name: string;
  /** Addressees, in the log's notation. */
  to: string;
  /** Ms of the store's clock, as digits. */
  appendedAt: string;
  /** JSON text in UTF-8, one line. It is part of the memory that was read from the store, and must not be kept. */
  data: Buffer;
}

/** Receives what a replica's channel carries. */
export interface BusListener {
  event(event: BusEvent): void;
  /** An event that is not in the log, for streams that can take it now. */
  unlogged(account: string, name: string, to: string, data: string): void;
  /**
   * The account's presence has this version now. `snapshot`: its rows and states as JSON, '' when they are not
   * included.
   */
  presence(account: string, version: number, snapshot: string): void;
  /**
   * A device was signed out, at a time of the store's clock. `deviceId` is '' for the account's sessions without a
   * device.
   */
  revoked(account: string, deviceId: string, reason: string, atMs: number, sessionId: string): void;
  /**
   * A mint ended every earlier secret of the device's session; `endsStreams`: streams that were opened with them end
   * too.
   */
  replaced(account: string, deviceId: string, endsStreams: boolean): void;
  /** A login request changed: this poll is to read it again, or was replaced. */
  login(pollId: string, word: string): void;
  /** A newer stream of the same device took the place of this one. */
  superseded(account: string, streamId: string): void;
  /** Another request has done what a relay request here waits for, or has ended it. */
  relay(file: string): void;
  /** Announcements may have been missed: the subscriber was away or was replaced, or a nonce did not come. */
  gap(cause: Loss | 'topology' | 'nonce' | 'rebuilt'): void;
}

/**
 * Changes after which only a nonce proves that the subscription followed: noticed by the subscriber itself, or by
 * others.
 */
type Uncertain = 'moved' | 'topology';

interface BusParts {
  open: (parts: Pick<SubscriberParts, 'channel' | 'onMessage' | 'onLoss'>) => Subscriber;
  onFailure: (task: string, error: unknown) => void;
  now?: () => number;
}

/** How long until a rebuilt subscriber that could not subscribe tries again. */
const REBUILD_AGAIN_MS = 1_000;

/** How long a change of topology settles, because it comes as a burst of events. */
const TOPOLOGY_SETTLES_MS = 250;

const EVENT_BYTE = BUS.event.charCodeAt(0);

/** Bytes in which the header of an event is searched first: all of it, unless it is for many devices. */
const HEADER_BYTES = 512;

/** Lines of the header of an event, its word included. */
const HEADER_LINES = 7;

/** Returns where the lines of the header end, or null when they are not within so many bytes. */
function headerEnds(payload: Buffer, withinBytes: number): number[] | null {
  // Latin-1 gives one character for each byte.
  const header = payload.toString('latin1', 0, withinBytes);
  const ends: number[] = [];
  for (let end = header.indexOf('\n'); end !== -1; end = header.indexOf('\n', end + 1)) {
    ends.push(end);
    if (ends.length === HEADER_LINES) return ends;
  }
  return null;
}

/**
 * Parses a payload: header lines and, for events, the data last. Only the last part may be anything but a plain word. Each
 * field is a separate string, because streams remember ids, and a part of a longer string would keep all of it.
 */
function parseEvent(payload: Buffer): BusEvent {
  const ends = headerEnds(payload, HEADER_BYTES) ?? headerEnds(payload, payload.length) ?? [];
  const line = (number: number): string => payload.toString('utf8', (ends[number - 1] ?? 0) + 1, ends[number]);
  const data = payload.subarray((ends[HEADER_LINES - 1] ?? payload.length) + 1);
  return { account: line(1), id: line(2), prev: line(3), name: line(4), to: line(5), appendedAt: line(6), data };
}

const NO_DATA = Buffer.alloc(0);

/**
 * Makes an event that carries only the end of the log: addressed to nobody, behind a position that no stream can have.
 * Streams that saw this id skip it; the others are behind, and read the log.
 */
const topOnly = (account: string, id: string): BusEvent => ({
  account,
  id,
  prev: '-',
  name: '',
  to: '',
  appendedAt: '0',
  data: NO_DATA,
});

/**
 * The receiving end: one channel per replica. The Redis client resubscribes by itself, but a subscriber can also hang
 * without an error (a half-open connection, a swallowed resubscription), so this replica publishes a numbered nonce to
 * its own channel with every beat. A missing number means that announcements may be missing too. A bus that hears
 * nothing for long is rebuilt (`subscriber-check.ts` says when). After a change of topology only a nonce proves that
 * the subscription followed, so anything missed until then is requested again.
 */
export class Bus {
  readonly #parts: Required<BusParts>;
  #listener: BusListener | null = null;
  #subscriber: Subscriber | null = null;
  #channel = '';
  #heardAt = 0;
  #lastNonce = 0;
  /** The change that the subscription may not have followed, until a nonce proves that it did. */
  #unproven: Uncertain | null = null;
  #isStopped = false;
  #timers = new Set<NodeJS.Timeout>();
  // oxlint-disable-next-line no-unused-private-class-members -- assigned by `??=`, which the rule does not count as a use
  #settling: NodeJS.Timeout | null = null;

  constructor(parts: BusParts) {
    this.#parts = { now: () => performance.now(), ...parts };
  }

  /** Sets the listener for what this replica hears. Called before the bus listens on its first channel. */
  listenTo(listener: BusListener): void {
    this.#listener = listener;
  }

  /** Milliseconds since anything was heard, including the replica's own nonce. */
  get silentForMs(): number {
    return this.#parts.now() - this.#heardAt;
  }

  /** Listens only on `channel` from now on. If that fails, rejects and keeps listening on the channel before. */
  async listen(channel: string): Promise<void> {
    const subscriber = this.#open(channel);
    try {
      await subscriber.listen();
      if (this.#isStopped) throw new Error('stopped meanwhile');
    } catch (error) {
      subscriber.close();
      throw error;
    }
    this.#channel = channel;
    this.#replace(subscriber);
  }

  /** Closes the connection and opens new ones until one is subscribed. */
  rebuild(): void {
    if (this.#isStopped) return;
    this.#replace(null);
    const channel = this.#channel;
    const subscriber = this.#open(channel);
    this.#subscriber = subscriber;
    subscriber.listen().then(
      () => {
        if (this.#subscriber === subscriber) this.#listener?.gap('rebuilt');
      },
      (error: unknown) => {
        if (this.#subscriber !== subscriber) return;
        this.#parts.onFailure('rebuild subscriber', storeFault(error));
        this.#later(REBUILD_AGAIN_MS, () => {
          if (this.#subscriber === subscriber) this.rebuild();
        });
      },
    );
  }

  /** Rechecks the subscription after others noticed a change of the cluster, because it may not have followed. */
  recheck(): void {
    this.#prove('topology');
  }

  stop(): void {
    this.#isStopped = true;
    this.#replace(null);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #replace(subscriber: Subscriber | null): void {
    this.#subscriber?.close();
    this.#subscriber = subscriber;
    this.#heardAt = this.#parts.now();
    this.#lastNonce = 0;
    this.#unproven = null;
  }

  #open(channel: string): Subscriber {
    const subscriber: Subscriber = this.#parts.open({
      channel,
      onMessage: (payload) => {
        if (this.#subscriber === subscriber) this.#hear(payload);
      },
      onLoss: (loss) => {
        if (this.#subscriber === subscriber) this.#lose(loss);
      },
    });
    return subscriber;
  }

  #lose(loss: Loss): void {
    if (loss === 'moved') return this.#prove(loss);
    // The store has confirmed the subscription over this connection, which proves, like a message, that it is alive.
    this.#heardAt = this.#parts.now();
    this.#listener?.gap(loss);
  }

  #prove(cause: Uncertain): void {
    this.#unproven = cause;
    this.#settling ??= this.#later(TOPOLOGY_SETTLES_MS, () => {
      this.#settling = null;
      this.#listener?.gap(cause);
    });
  }

  #later(ms: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  #hear(payload: Buffer): void {
    this.#heardAt = this.#parts.now();
    const listener = this.#listener;
    if (listener === null) return;
    if (payload[0] === EVENT_BYTE) return listener.event(parseEvent(payload));
    const [kind, account = '', rest = '', to = '', data = '', last = ''] = payload.toString('utf8').split('\n');
    if (kind === BUS.nonce) this.#hearNonce(Number(account));
    if (kind === BUS.top) listener.event(topOnly(account, rest));
    if (kind === BUS.unlogged) listener.unlogged(account, rest, to, data);
    if (kind === BUS.revoked) listener.revoked(account, rest, to, Number(data), last);
    if (kind === BUS.replaced) listener.replaced(account, rest, to === '1');
    if (kind === BUS.login) listener.login(account, rest);
    if (kind === BUS.presence) listener.presence(account, Number(rest), to);
    if (kind === BUS.relay) listener.relay(account);
    if (kind === BUS.superseded) listener.superseded(account, rest);
    // Any other payload only tests whether somebody listens.
  }

  #hearNonce(number: number): void {
    const isGap = this.#lastNonce !== 0 && number !== this.#lastNonce + 1;
    this.#lastNonce = number;
    const unproven = this.#unproven;
    this.#unproven = null;
    if (unproven !== null) this.#listener?.gap(unproven);
    else if (isGap) this.#listener?.gap('nonce');
  }
}
