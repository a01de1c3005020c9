import { v4 as uuidv4 } from 'uuid';
import { BatonError } from '../../../shared/contract/errors.ts';
import type {
  NativePlatform,
  Preview,
  PushSubscription,
  RegisterNativePush,
  Subscribed,
  SubscribePush,
} from '../../../shared/contract/modules/push.ts';
import type { Caller } from '../identity/caller.ts';
import { checkEndpoint, checkKeys } from './guard/endpoint.ts';
import type { EndpointRules } from './guard/endpoint-rules.ts';
import type { PushTarget } from './sender.ts';
import { type Claim, hashOf, type PushStore, viewOf } from './store.ts';
import type { VapidKeyStore } from './senders/web-push/vapid-key-store.ts';

interface SubscriptionsParts {
  store: PushStore;
  vapid: VapidKeyStore;
  native: readonly NativePlatform[];
  rules: EndpointRules;
  onFailure: (task: string, error: unknown) => void;
}

const refuse = (path: string, message: string): never => {
  throw new BatonError('invalid_request', `${path} ${message}`, { errors: [{ path, message }] });
};

/**
 * Returns a function that writes a registration. It claims the target first, with a fence that only rises. From then on no
 * other account's pushes go there, even if this replica dies before it writes the rest. The previous owner loses the target.
 */
function makeWriting({ store, onFailure }: Pick<SubscriptionsParts, 'store' | 'onFailure'>) {
  return async function write(
    { account, deviceId }: Caller,
    target: PushTarget,
    preview: Preview,
  ): Promise<Subscribed> {
    const device = deviceId as string;
    const { claim, before } = await store.claim(hashOf(target), account, device);
    const { id, replaced } = await store.register(account, device, { id: uuidv4(), claim, preview, target });
    if (before !== null && (before.account !== account || before.deviceId !== device)) {
      await store
        .drop(before.account, before.deviceId, { ...claim, platform: target.kind })
        // A failure is harmless: each push checks the owner before it is sent.
        .catch((error: unknown) => onFailure('move push', error));
    }
    for (const old of replaced) await store.release(old);
    // Another account may have claimed the target between the two steps, before the registration was written.
    if (!(await store.owns(claim, account, device))) {
      await store.drop(account, device, { ...claim, platform: target.kind });
    }
    return { subscription_id: id, platform: target.kind };
  };
}

/**
 * Drops registrations of an account. Only a registration says which target it owns. So the owners are released first, and
 * a repetition after a crash still finds the registrations. A push under way may claim a target again meanwhile, so the
 * owners are released once more.
 */
async function dropAll(store: PushStore, owners: Claim[], drop: () => Promise<Claim[] | void>): Promise<void> {
  for (const owner of owners) await store.release(owner);
  const dropped = (await drop()) ?? [];
  for (const owner of [...owners, ...dropped]) await store.release(owner);
}

/** Makes the rules of subscriptions. A device has one subscription for each platform. */
export function makeSubscriptions({ store, vapid, native, rules, onFailure }: SubscriptionsParts) {
  const write = makeWriting({ store, onFailure });

  /** Resolves to the key of the subscription: the one that the client names, else the one it had, else the current one. */
  async function keyIdOf(wanted: string | undefined, known: PushTarget | null, endpoint: string): Promise<string> {
    const keys = (await vapid()) ?? [];
    if (wanted !== undefined && !keys.some(({ id }) => id === wanted)) {
      refuse('/body/vapid_key_id', 'is not a key of this service: subscribe with the present one');
    }
    const before = known?.kind === 'web' && known.endpoint === endpoint ? known.keyId : undefined;
    return wanted ?? before ?? keys.find(({ current }) => current)?.id ?? '';
  }

  const visible = async ({ account, scope, deviceId }: Caller) =>
    (await store.list(account)).filter((each) => scope === 'full' || each.deviceId === deviceId);

  return {
    /** Throws `feature_disabled`, `endpoint_not_allowed`, `invalid_request`, `rate_limited`, `device_required`. */
    async subscribe(
      caller: Caller,
      { endpoint, keys, preview = 'none', vapid_key_id }: SubscribePush,
    ): Promise<Subscribed> {
      if ((await vapid()) === null) throw new BatonError('feature_disabled', 'Web push is switched off');
      const known = await store.admit(caller.account, caller.deviceId as string, 'web');
      // The client is not told why, because it chooses the endpoint.
      if (checkEndpoint(endpoint, rules) !== null) throw new BatonError('endpoint_not_allowed');
      if (!checkKeys(keys.p256dh, keys.auth))
        refuse('/body/keys', 'must be a point on P-256 and 16 bytes, in base64url');
      const keyId = await keyIdOf(vapid_key_id, known, endpoint);
      const { p256dh, auth } = keys;
      return write(caller, { kind: 'web', endpoint, p256dh, auth, keyId }, preview);
    },

    /** Registers a native token. Throws `feature_disabled`, `invalid_request`, `rate_limited`, `device_required`. */
    async register(caller: Caller, { platform, token, environment }: RegisterNativePush): Promise<Subscribed> {
      if (!native.includes(platform))
        throw new BatonError('feature_disabled', `Pushes by ${platform} are switched off`);
      if (platform === 'apns' && !/^[0-9a-fA-F]{32,200}$/.test(token)) refuse('/body/token', 'must be hexadecimal');
      await store.admit(caller.account, caller.deviceId as string, platform);
      // Native pushes are not encrypted end to end, so they never have a preview.
      return write(
        caller,
        platform === 'apns' && environment !== undefined
          ? { kind: platform, token, environment }
          : { kind: platform, token },
        'none',
      );
    },

    async list(caller: Caller): Promise<PushSubscription[]> {
      return (await visible(caller)).map(viewOf).sort((a, b) => a.created_at - b.created_at);
    },

    /** Removes a subscription. Throws `not_found`, even for one that the caller may not see. */
    async remove(caller: Caller, subscriptionId: string): Promise<void> {
      const found = (await visible(caller)).find(({ id }) => id === subscriptionId);
      if (!found) throw new BatonError('not_found');
      const { deviceId, target, fence, hash } = found;
      const drop = () => store.drop(caller.account, deviceId, { hash, fence, platform: target.kind });
      await dropAll(store, [found], drop);
    },

    /** Drops the registrations of a device that was signed out. May be repeated. */
    async dropDevice(account: string, deviceId: string): Promise<void> {
      const own = (await store.list(account)).filter((each) => each.deviceId === deviceId);
      await dropAll(store, own, () => store.drop(account, deviceId));
    },

    /** Drops the registrations of an account. May be repeated. */
    async dropAccount(account: string): Promise<void> {
      await dropAll(store, await store.list(account), () => store.erase(account));
    },
  };
}

export type Subscriptions = ReturnType<typeof makeSubscriptions>;
