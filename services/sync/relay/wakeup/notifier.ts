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
export function makeNotifier({ channel: ownChannel, publish, onNotified }: NotifierParts) {
  /** Makes the token and the channel of a new request of this replica. */
  const newHolder = (): Holder => ({ token: randomBytes(9).toString('base64url'), channel: ownChannel() });

  /** Notifies the requests for a file on the replica with this channel; does nothing when it is ''. */
  function notify(channel: string, file: FileId): void {
    if (channel === '') return;
    if (channel === ownChannel()) return onNotified(nameOf(file));
    // A lost notification costs a second, because a waiting request checks again by itself.
    publish(channel, payloadOf('relay', nameOf(file))).catch(() => undefined);
  }

  return {
    newHolder,
    newRequest: ({ asker, file }: Asked): RelayRequest => ({ asker, file, holder: newHolder() }),
    notify,
    notifyAll(channels: readonly string[], file: FileId): void {
      for (const channel of channels) notify(channel, file);
    },
  };
}

export type Notifier = ReturnType<typeof makeNotifier>;
