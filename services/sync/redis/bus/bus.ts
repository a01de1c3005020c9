import { storeFault } from '../../../server/redis/faults.ts';
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
  appendedAtMs: number;
  /** JSON text, one line. */
  data: string;
}

/** What a replica's channel carries. */
export interface BusListener {
  event(event: BusEvent): void;
  /** Something that is not in the log: for whoever can take it now. */
  unlogged(account: string, name: string, to: string, data: string): void;
  /** The account's presence has this version now; `snapshot`: its rows and states as JSON, '' where they are not told. */
  presence(account: string, version: number, snapshot: string): void;
  /** A device was signed out, at a time of the store; '' for the sessions of the account that have none. */
  revoked(account: string, deviceId: string, reason: string, atMs: number, sessionId: string): void;
  /** A login request changed: this poll is to read it again, or was replaced. */
  login(pollId: string, word: string): void;
  /** A newer stream of the same device took this one's place. */
  superseded(account: string, streamId: string): void;
  /** Somebody has done what a relay request here is waiting for, or ended it. */
  relay(file: string): void;
  /** Announcements may have been missed: the subscriber was away or was replaced, or a nonce did not come. */
  gap(cause: Loss | 'topology' | 'nonce' | 'rebuilt'): void;
}

/** Changes after which only a nonce tells whether the subscription followed: what it noticed itself, and what others did. */
type Uncertain = 'moved' | 'topology';

interface BusParts {
  open: (parts: Pick<SubscriberParts, 'channel' | 'onMessage' | 'onLoss'>) => Subscriber;
  onFailure: (task: string, error: unknown) => void;
  now?: () => number;
}

/** A rebuilt subscriber that could not subscribe tries again after this. */
const REBUILD_AGAIN_MS = 1_000;

/** A change of topology comes as a burst of events. */
const TOPOLOGY_SETTLES_MS = 250;

/** A payload is header lines and, for events, the data last; only the last part may be anything but a plain word. */
function parseEvent(payload: string): BusEvent {
  const parts: string[] = [];
  let from = 2;
  for (let i = 0; i < 6; i++) {
    const end = payload.indexOf('\n', from);
    parts.push(payload.slice(from, end));
    from = end + 1;
  }
  const [account, id, prev, name, to, at] = parts as [string, string, string, string, string, string];
  return { account, id, prev, name, to, appendedAtMs: Number(at), data: payload.slice(from) };
}

/**
 * The log's end alone: an event for nobody, behind a position that no stream can have. Streams that saw this id skip
 * it; the others are behind, and read.
 */
const topOnly = (account: string, id: string): BusEvent => ({
  account,
  id,
  prev: '-',
  name: '',
  to: '',
  appendedAtMs: 0,
  data: '',
});

/**
 * The receiving end: one channel per replica. The Redis client resubscribes by itself, but a subscriber can also hang
 * without an error (a half-open connection, a swallowed resubscription), so this replica publishes a numbered nonce to
 * its own channel with every beat. A number left out says that announcements may have been too; a bus that hears
 * nothing for long is rebuilt (`subscriber-check.ts` says when); and after a change of topology only a nonce proves that the subscription
 * followed, so what was missed until then is asked for again.
 */
export class Bus {
  readonly #parts: Required<BusParts>;
  #listener: BusListener | null = null;
  #subscriber: Subscriber | null = null;
  #channel = '';
  #heardAt = 0;
  #lastNonce = 0;
  /** Whether the subscription followed a change is not known; a nonce will tell. */
  #unproven: Uncertain | null = null;
  #isStopped = false;
  #timers = new Set<NodeJS.Timeout>();
  // oxlint-disable-next-line no-unused-private-class-members -- assigned by `??=`, which the rule does not count as a use
  #settling: NodeJS.Timeout | null = null;

  constructor(parts: BusParts) {
    this.#parts = { now: () => performance.now(), ...parts };
  }

  /** Who is told what this replica hears; to be said before the bus listens on its first channel. */
  listenTo(listener: BusListener): void {
    this.#listener = listener;
  }

  /** Milliseconds since anything was heard, the own nonce included. */
  get silentForMs(): number {
    return this.#parts.now() - this.#heardAt;
  }

  /** Listens on `channel` alone from now on; rejects, and listens where it did, when that cannot be had. */
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

  /** Throws the connection away and makes new ones until one hears. */
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

  /** The cluster has changed, as others have noticed: whether this subscription followed is not known. */
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
    // The store has confirmed it over this connection, which shows like a message that it is alive.
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

  #hear(payload: string): void {
    this.#heardAt = this.#parts.now();
    const listener = this.#listener;
    if (listener === null) return;
    const kind = payload[0];
    if (kind === BUS.event) return listener.event(parseEvent(payload));
    const [, account = '', rest = '', to = '', data = '', last = ''] = payload.split('\n');
    if (kind === BUS.nonce) this.#hearNonce(Number(account));
    if (kind === BUS.top) listener.event(topOnly(account, rest));
    if (kind === BUS.unlogged) listener.unlogged(account, rest, to, data);
    if (kind === BUS.revoked) listener.revoked(account, rest, to, Number(data), last);
    if (kind === BUS.login) listener.login(account, rest);
    if (kind === BUS.presence) listener.presence(account, Number(rest), to);
    if (kind === BUS.relay) listener.relay(account);
    if (kind === BUS.superseded) listener.superseded(account, rest);
    // Anything else asks only whether somebody listens.
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
