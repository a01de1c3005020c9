import type { RedisAddress } from '../../../../shared/service-kit/config/redis.ts';
import {
  close,
  COMMAND_TIMEOUT_MS,
  connectShardedSubscriber,
  connectSubscriber,
} from '../../../../shared/service-kit/redis/connections.ts';

/**
 * Why announcements may have been missed. `resubscribed`: the subscription is back. `moved`: the channel may have moved
 * to another node, and it is unknown yet whether the subscription followed.
 */
export type Loss = 'resubscribed' | 'moved';

export interface SubscriberParts {
  address: RedisAddress;
  name: string;
  channel: string;
  /** The payload is part of the memory that was read from the store, and must not be kept. */
  onMessage: (payload: Buffer) => void;
  onLoss: (loss: Loss) => void;
  onError: (error: Error) => void;
  onWell?: () => void;
}

/**
 * One connection, and the one channel that it listens to for its whole life. The client library is least reliable when
 * channels are left or changed (the last SUNSUBSCRIBE can drop others), so another channel gets another connection.
 */
export interface Subscriber {
  /** Resolves when the subscription is confirmed. */
  listen(): Promise<void>;
  close(): void;
}

/**
 * Time limit of a subscription. In a cluster, connecting and subscribing wait for several nodes in turn, and nothing
 * may wait for ever.
 */
const LISTEN_WITHIN_MS = 2 * COMMAND_TIMEOUT_MS;

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no subscription after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Opens a subscriber for Redis or Sentinel: SUBSCRIBE, kept over a reconnect. */
function openPlain({ channel, onMessage, onLoss, ...parts }: SubscriberParts): Subscriber {
  const server = connectSubscriber(parts);
  let isListening = false;
  server.on('messageBuffer', (_channel: Buffer, payload: Buffer) => onMessage(payload));
  server.on('ready', () => {
    // The client resubscribes by itself; a second SUBSCRIBE shows when that is done. After a failure the subscriber
    // stays silent, and a silent one is rebuilt.
    if (isListening) server.subscribe(channel).then(() => onLoss('resubscribed'), parts.onError);
  });
  return {
    async listen() {
      await within(LISTEN_WITHIN_MS, server.subscribe(channel));
      isListening = true;
    },
    close: () => close(server),
  };
}

/**
 * Opens a subscriber for Redis Cluster: SSUBSCRIBE on the node that owns the channel. The client follows a channel that
 * moves, but does not report whether it succeeded: a failed re-subscription is only a debug line, and a lost primary
 * shows only as a node that left or joined.
 */
function openSharded({ channel, onMessage, onLoss, ...parts }: SubscriberParts): Subscriber {
  const cluster = connectShardedSubscriber(parts);
  let isListening = false;
  cluster.on('smessageBuffer', (_channel: Buffer, payload: Buffer) => onMessage(payload));
  for (const event of ['+node', '-node', '-subscriber', 'subscribersReady']) {
    cluster.on(event, () => {
      if (isListening) onLoss('moved');
    });
  }
  const listen = async () => {
    await cluster.connect();
    await cluster.ssubscribe(channel);
    isListening = true;
  };
  return {
    listen: () => within(LISTEN_WITHIN_MS, listen()),
    close: () => close(cluster),
  };
}

export const openSubscriber = (parts: SubscriberParts): Subscriber =>
  parts.address.mode === 'cluster' ? openSharded(parts) : openPlain(parts);
