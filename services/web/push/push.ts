import type { BatonClient } from '../../../shared/client/index.ts';
import { scriptUrl } from '../trusted-types.ts';

export type PushState = 'on' | 'off' | 'denied' | 'impossible';

/** The service worker of the app; null where this browser or this address can have none. */
export async function registerWorker(): Promise<ServiceWorkerRegistration | null> {
  if (!('serviceWorker' in navigator)) return null;
  try {
    return await navigator.serviceWorker.register(scriptUrl('/sw.js'));
  } catch {
    // Without it everything works but the shell without network, notifications and the share sheet.
    return null;
  }
}

const registration = async (): Promise<ServiceWorkerRegistration | null> =>
  'serviceWorker' in navigator ? ((await navigator.serviceWorker.getRegistration('/')) ?? null) : null;

export async function pushState(): Promise<PushState> {
  const worker = await registration();
  if (worker === null || !('PushManager' in window) || !('Notification' in window)) return 'impossible';
  if (Notification.permission === 'denied') return 'denied';
  return (await worker.pushManager.getSubscription()) === null ? 'off' : 'on';
}

const bytesOf = (base64url: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));

/** Asks the browser, and tells the service where this device is reached. Called when somebody wants it. */
export async function turnPushOn(client: BatonClient, preview: 'none' | 'sender' | 'full'): Promise<PushState> {
  const worker = await registration();
  if (worker === null) return 'impossible';
  if ((await Notification.requestPermission()) !== 'granted') return pushState();
  const { vapid_public_key: key, vapid_key_id: keyId } = await client.push.config();
  if (key === null) return 'impossible';
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(key) });
  const { endpoint, keys } = made.toJSON();
  await client.push.subscribe({
    endpoint: endpoint ?? '',
    keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' },
    preview,
    ...(keyId !== null && { vapid_key_id: keyId }),
  });
  return 'on';
}

export async function turnPushOff(client: BatonClient, deviceId: string): Promise<PushState> {
  const subscription = await (await registration())?.pushManager.getSubscription();
  await subscription?.unsubscribe();
  const own = (await client.push.list()).filter(({ device_id }) => device_id === deviceId);
  for (const { subscription_id } of own) await client.push.remove(subscription_id);
  return pushState();
}

type BadgeNavigator = Navigator & {
  setAppBadge?: (count: number) => Promise<void>;
  clearAppBadge?: () => Promise<void>;
};

export function showBadge(count: number): void {
  const badge = navigator as BadgeNavigator;
  const shown = count > 0 ? badge.setAppBadge?.(count) : badge.clearAppBadge?.();
  shown?.catch(() => {});
}
