import { randomBytes } from 'node:crypto';
import { payloadOf } from '../../redis/bus/payloads.ts';
import { type Asked, type FileId, type Holder, nameOf, type RelayRequest } from '../requests/relay-request.ts';

export interface NotifierParts {
  /** The channel of this replica, as it is now. */
  channel: () => string;
  publish: (channel: string, payload: string) => Promise<unknown>;
  /** Notifies the requests of this replica for a file. */
  onNotified: (name: string) => void;
}

/** Notifies the requests for a file, on whichever replica they run. */
export class Notifier {
  readonly #parts: NotifierParts;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Makes the token and the channel of a new request of this replica. */
  newHolder(): Holder {
    return { token: randomBytes(9).toString('base64url'), channel: this.#parts.channel() };
  }

  newRequest({ asker, file }: Asked): RelayRequest {
    return { asker, file, holder: this.newHolder() };
  }

  /** Notifies the requests for a file on the replica with this channel; does nothing when it is ''. */
  notify(channel: string, file: FileId): void {
    if (channel === '') return;
    const { onNotified, publish } = this.#parts;
    if (channel === this.#parts.channel()) return onNotified(nameOf(file));
    // A lost notification costs a second, because a waiting request checks again by itself.
    publish(channel, payloadOf('relay', nameOf(file))).catch(() => undefined);
  }

  notifyAll(channels: readonly string[], file: FileId): void {
    for (const channel of channels) this.notify(channel, file);
  }
}
