/* Decides what is wrong with notifications, and how to repair it. It asks and changes nothing. */

export interface PushSides {
  permission: NotificationPermission;
  /** True: the user turned notifications on here, and not off. */
  isWanted: boolean;
  /** The browser's subscription: the digest of its endpoint and keys, and the key of the service that it was made for. */
  browser: { digest: string; key: string | null } | null;
  /** The subscription that the service confirmed last. */
  told: { subscriptionId: string; digest: string } | null;
  /** The subscription that the service lists for this device. */
  listed: { subscription_id: string; state: 'active' | 'suspended' } | null;
  /** The service's key. */
  key: string;
}

/**
 * `on` and `off`: both sides agree. `denied`, `asks`: wanted, but the browser's permission was withdrawn, or has to be
 * requested again. The others are repairs: `remove` the rest on either side, `tell` the service the browser's subscription,
 * `subscribe` if the browser has none, `renew` the browser's subscription.
 */
export type Verdict = 'on' | 'off' | 'denied' | 'asks' | 'remove' | 'tell' | 'subscribe' | 'renew';

export function judge({ permission, isWanted, browser, told, listed, key }: PushSides): Verdict {
  if (permission === 'denied') return 'denied';
  if (!isWanted) return browser === null && listed === null ? 'off' : 'remove';
  if (permission === 'default') return 'asks';
  if (browser === null) return 'subscribe';
  if (browser.key !== null && browser.key !== key) return 'renew';
  if (listed === null || told === null) return 'tell';
  if (listed.subscription_id !== told.subscriptionId || told.digest !== browser.digest) return 'tell';
  return listed.state === 'suspended' ? 'renew' : 'on';
}
