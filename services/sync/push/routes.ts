import { v4 as uuidv4 } from 'uuid';
import type { NativePlatform, pushRoutes } from '../../../shared/contract/modules/push.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { Caller } from '../identity/caller.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { VapidKeyStore } from './senders/web-push/vapid-key-store.ts';

interface PushHandlerParts {
  subscriptions: Subscriptions;
  vapid: VapidKeyStore;
  native: readonly NativePlatform[];
  /** Sends the caller's device a test notification. */
  sendTest: (caller: Caller, id: string) => Promise<void>;
}

export function makePushHandlers(parts: PushHandlerParts): HandlersOf<typeof pushRoutes> {
  const { subscriptions, vapid, native, sendTest } = parts;

  return {
    getPushConfig: async () => {
      const current = (await vapid())?.find((key) => key.current);
      return {
        status: 200,
        body: {
          vapid_public_key: current?.publicKey ?? null,
          vapid_key_id: current?.id ?? null,
          native: [...native],
        },
      };
    },
    subscribePush: async ({ caller, body }) => ({ status: 201, body: await subscriptions.subscribe(caller, body) }),
    registerNativePush: async ({ caller, body }) => ({ status: 201, body: await subscriptions.register(caller, body) }),
    listPushSubscriptions: async ({ caller }) => ({
      status: 200,
      body: { subscriptions: await subscriptions.list(caller) },
    }),
    removePushSubscription: async ({ caller, params }) => {
      await subscriptions.remove(caller, params.subscription_id);
      return { status: 204 };
    },
    testPush: async ({ caller }) => {
      await sendTest(caller, uuidv4());
      return { status: 202 };
    },
  };
}
