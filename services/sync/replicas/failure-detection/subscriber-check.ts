/**
 * The subscriber counts as silent after this many unheard nonces in a row (6 to 8 s), if the store took the last one.
 */
const SILENT_AFTER_NONCES = 3;

/** The channel counts as unreachable after this many nonces in a row that the store did not take (Redis Cluster). */
const UNREACHABLE_AFTER_NONCES = 3;

interface SubscriberCheckParts {
  /** Publishes to this replica's own channel. Rejects when the store does not take it. */
  publishNonce: (number: number) => Promise<void>;
  /** Milliseconds since the subscriber heard anything. */
  silentForMs: () => number;
  /** Whether any part of the store answers. */
  isUp: () => boolean;
  onSilentSubscriber: () => void;
}

/**
 * Checks whether this replica hears what is published to its channel: publishes a numbered nonce there with every beat,
 * and checks whether the ones before were heard. It is separate from the lease, because in a cluster the two are on
 * different primaries. While the store does not take nonces, silence proves nothing yet. It counts once a nonce is
 * taken, because a network that swallowed the commands may have swallowed the subscription too.
 */
export class SubscriberCheck {
  readonly #parts: SubscriberCheckParts;
  #number = 0;
  #sentMs = 0;
  /** Whether the store took the latest nonce; silence is then the fault of this replica's subscriber. */
  #isTaken = false;
  #unheard = 0;
  #untaken = 0;

  constructor(parts: SubscriberCheckParts) {
    this.#parts = parts;
  }

  /** Judges the nonces so far, and publishes the next one. Called with every beat. */
  run(): void {
    this.#judgeSilence();
    this.#isTaken = false;
    this.#sentMs = performance.now();
    this.#parts.publishNonce((this.#number += 1)).then(
      () => {
        this.#isTaken = true;
        this.#untaken = 0;
      },
      // The next nonce that is heard shows that this number is missing. While the store is away, a failure proves
      // nothing about the channel.
      () => {
        this.#untaken = this.#parts.isUp() ? this.#untaken + 1 : 0;
      },
    );
  }

  /** Whether the store answers, but does not take what is published to this channel. */
  get isChannelUnreachable(): boolean {
    return this.#untaken >= UNREACHABLE_AFTER_NONCES && this.#parts.isUp();
  }

  /** Restarts the count, because this replica listens on another channel now. */
  channelChanged(): void {
    this.#untaken = 0;
  }

  /** Counts nonces and not time, because after a pause of this process nothing has been heard for long either. */
  #judgeSilence(): void {
    const isSilent = this.#parts.silentForMs() > performance.now() - this.#sentMs;
    if (!isSilent) this.#unheard = 0;
    else if (this.#isTaken || this.#unheard < SILENT_AFTER_NONCES - 1) this.#unheard += 1;
    if (this.#unheard < SILENT_AFTER_NONCES) return;
    this.#unheard = 0;
    this.#parts.onSilentSubscriber();
  }
}
