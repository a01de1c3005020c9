import type { BatonClient } from '../../../shared/client/index.ts';
import { inLock } from '../locks.ts';
import { keepPushChoice, type Preview, type PushChoice, pushChoice } from '../service-worker/here.ts';
import { digestOf, keyOf, partsOf, subscribeFor } from '../service-worker/subscribing.ts';
import { developmentHeaders } from '../session/development.ts';
import type { SignedIn } from '../session/entry.ts';
import { judge, type Verdict } from './push-judgement.ts';
import { untilActive } from './registration.ts';
import { within, workerOfPushes } from './unsubscribing.ts';

/**
 * `on`: the service has the browser's subscription. `denied`: the browser's settings forbid it; `asks`: the browser has to
 * ask again; `broken`: the repair failed; `unknown`: the service could not be asked; `impossible`: not in this browser.
 */
export type PushState = 'on' | 'off' | 'denied' | 'asks' | 'broken' | 'unknown' | 'impossible';

interface Of {
  client: BatonClient;
  entry: SignedIn;
}

/** The longest wait for a subscription: without a push service some browsers never answer, and the app must start. */
const SUBSCRIBED_WITHIN_MS = 30_000;

/** Runs work in one tab at a time. Tabs that compare and repair at once would replace each other's subscriptions. */
const alone = <T>(work: () => Promise<T>): Promise<T> => inLock('baton-push', work);

const choiceOf = ({ entry }: Of, changed: Partial<PushChoice>): PushChoice => ({
  ...{ isWanted: true, preview: 'none', told: null },
  ...changed,
  ...{ account: entry.userId, deviceId: entry.deviceId, headers: developmentHeaders() },
});

async function ownOf({ client, entry }: Of) {
  const all = await client.push.list();
  return all.filter(({ device_id, platform }) => device_id === entry.deviceId && platform === 'web');
}

async function removeOwn(of: Of): Promise<void> {
  for (const { subscription_id } of await ownOf(of)) await of.client.push.remove(subscription_id);
}

async function look(of: Of, worker: ServiceWorkerRegistration, key: string) {
  const [subscription, own, kept] = [await worker.pushManager.getSubscription(), await ownOf(of), await pushChoice()];
  const browser =
    subscription === null ? null : { digest: await digestOf(partsOf(subscription)), key: keyOf(subscription) };
  const listed = own[0] ?? null;
  const isOurs = kept?.account === of.entry.userId;
  return {
    kept,
    verdict: judge({
      permission: Notification.permission,
      // Versions that did not store the choice left only a subscription on either side as a sign of it.
      isWanted: kept === undefined ? browser !== null || listed !== null : isOurs && kept.isWanted,
      ...{ browser, listed, key },
      told: isOurs && kept.deviceId === of.entry.deviceId ? kept.told : null,
    }),
    isListed: listed !== null,
  };
}

/** Tells the service the browser's subscription, and records that. */
async function tell(of: Of, subscription: PushSubscription, keyId: string | null, preview: Preview): Promise<void> {
  const parts = partsOf(subscription);
  const vapid = keyId !== null && { vapid_key_id: keyId };
  const { subscription_id: subscriptionId } = await of.client.push.subscribe({ ...parts, preview, ...vapid });
  await keepPushChoice(choiceOf(of, { preview, told: { subscriptionId, digest: await digestOf(parts) } }));
}

/** Removes the subscription on both sides. The choice is stored first, so that the next start removes the rest. */
async function removeBoth(of: Of, worker: ServiceWorkerRegistration): Promise<void> {
  await (await worker.pushManager.getSubscription())?.unsubscribe();
  await removeOwn(of);
}

/** Returns the subscription for a verdict. `tell` uses the browser's present one. */
async function subscriptionFor(verdict: Verdict, manager: PushManager, key: string): Promise<PushSubscription> {
  const there = verdict === 'tell' ? await manager.getSubscription() : null;
  return there ?? subscribeFor(manager, key, { anew: verdict === 'renew' });
}

type Config = Awaited<ReturnType<BatonClient['push']['config']>> & { vapid_public_key: string };

async function mendBy(verdict: Verdict, of: Of, worker: ServiceWorkerRegistration, config: Config): Promise<PushState> {
  switch (verdict) {
    case 'on':
    case 'off':
      return verdict;
    case 'denied':
    case 'asks':
      // The browser has dropped its subscription together with the permission.
      await removeOwn(of);
      return verdict;
    case 'remove':
      await removeBoth(of, worker);
      return 'off';
    default: {
      const { vapid_public_key: key, vapid_key_id: keyId } = config;
      if (!(await untilActive(worker))) return 'broken';
      const made = await within(SUBSCRIBED_WITHIN_MS, subscriptionFor(verdict, worker.pushManager, key));
      const now = await pushChoice();
      if (now !== undefined && (now.account !== of.entry.userId || !now.isWanted)) {
        // The user turned notifications off, or signed out, while the browser subscribed.
        await made.unsubscribe();
        return 'off';
      }
      await tell(of, made, keyId, now?.preview ?? 'none');
      return 'on';
    }
  }
}

/**
 * Tells, without asking the service, whether the browser still has what the service confirmed last, or nothing is wanted.
 * `before`: the permission at the last comparison.
 */
export async function isIntact({ entry }: Of, before: NotificationPermission | null): Promise<boolean> {
  const [worker, kept] = [await workerOfPushes(), await pushChoice()];
  if (worker === null || kept?.account !== entry.userId || !kept.isWanted) return true;
  if (Notification.permission !== 'granted') return Notification.permission === before;
  const subscription = await worker.pushManager.getSubscription();
  return subscription !== null && (await digestOf(partsOf(subscription))) === kept.told?.digest;
}

/** Compares the subscriptions of browser and service, and repairs differences. */
export async function mendPush(of: Of): Promise<PushState> {
  const worker = await workerOfPushes();
  if (worker === null) return 'impossible';
  return alone(async () => {
    let verdict: Verdict;
    let config: Awaited<ReturnType<BatonClient['push']['config']>>;
    try {
      config = await of.client.push.config();
      if (config.vapid_public_key === null) return 'impossible';
      ({ verdict } = await look(of, worker, config.vapid_public_key));
    } catch {
      return Notification.permission === 'denied' ? 'denied' : 'unknown';
    }
    try {
      return await mendBy(verdict, of, worker, config as Config);
    } catch {
      return verdict === 'remove' ? 'off' : verdict === 'denied' || verdict === 'asks' ? verdict : 'broken';
    }
  });
}

/** Asks the browser for permission, and tells the service the subscription. Called when the user turns notifications on. */
export async function turnPushOn(of: Of, preview: Preview): Promise<PushState> {
  const worker = await workerOfPushes();
  if (worker === null) return 'impossible';
  if ((await Notification.requestPermission()) !== 'granted')
    return Notification.permission === 'denied' ? 'denied' : 'off';
  return alone(async () => {
    const { vapid_public_key: key, vapid_key_id: keyId } = await of.client.push.config();
    if (key === null || !(await untilActive(worker))) return 'impossible';
    await tell(of, await subscribeFor(worker.pushManager, key), keyId, preview);
    return 'on';
  });
}

export function turnPushOff(of: Of): Promise<PushState> {
  return alone(async () => {
    const kept = await pushChoice();
    await keepPushChoice(choiceOf(of, { preview: kept?.preview ?? 'none', isWanted: false }));
    const worker = await workerOfPushes();
    if (worker === null) return 'impossible';
    await removeBoth(of, worker);
    return Notification.permission === 'denied' ? 'denied' : 'off';
  });
}
