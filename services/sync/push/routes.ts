import { v4 as uuidv4 } from 'uuid';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { NativePlatform, pushRoutes } from '../../../shared/contract/push.ts';
import type { Call, HandlersOf } from '../http/handler.ts';
import type { Caller } from '../identity/caller.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { VapidRing } from './vapid-ring.ts';

interface PushHandlerParts {
  isEnabled: boolean;
  subscriptions: Subscriptions;
  vapid: VapidRing;
  native: readonly NativePlatform[];
  /** Sends the caller's device a test notification. */
  sendTest: (caller: Caller, id: string) => Promise<void>;
}

export function makePushHandlers(parts: PushHandlerParts): HandlersOf<typeof pushRoutes> {
  const { isEnabled, subscriptions, vapid, native, sendTest } = parts;

  const whenEnabled =
    <C extends Pick<Call<(typeof pushRoutes)['getPushConfig']>, 'caller'>, A>(handle: (call: C) => Promise<A>) =>
    async (call: C): Promise<A> => {
      if (!isEnabled) throw new BatonError('feature_disabled', 'Push is switched off');
      return handle(call);
    };

  return {
    getPushConfig: whenEnabled(async () => {
      const current = (await vapid())?.find((key) => key.current);
      return {
        status: 200,
        body: {
          vapid_public_key: current?.publicKey ?? null,
          vapid_key_id: current?.id ?? null,
          native: [...native],
        },
      };
    }),
    subscribePush: async ({ caller, body }) => ({ status: 201, body: await subscriptions.subscribe(caller, body) }),
    registerNativePush: async ({ caller, body }) => ({ status: 201, body: await subscriptions.register(caller, body) }),
    listPushSubscriptions: whenEnabled(async ({ caller }) => ({
      status: 200,
      body: { subscriptions: await subscriptions.list(caller) },
    })),
    removePushSubscription: async ({ caller, params }) => {
      if (!isEnabled) throw new BatonError('feature_disabled', 'Push is switched off');
      await subscriptions.remove(caller, params.subscription_id);
      return { status: 204 };
    },
    testPush: whenEnabled(async ({ caller }) => {
      await sendTest(caller, uuidv4());
      return { status: 202 };
    }),
  };
}
