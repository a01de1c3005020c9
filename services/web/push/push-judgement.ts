/* What is the matter with notifications, and what is to be done about it: nothing is asked or changed here. */

export interface PushSides {
  permission: NotificationPermission;
  /** Somebody turned notifications on here, and not off. */
  isWanted: boolean;
  /** The browser's subscription: the digest of its endpoint and keys, and the key of the service that it is for. */
  browser: { digest: string; key: string | null } | null;
  /** What the service has confirmed last. */
  told: { subscriptionId: string; digest: string } | null;
  /** What the service says that it has for this device. */
  listed: { subscription_id: string; state: 'active' | 'suspended' } | null;
  /** The service's key. */
  key: string;
}

/**
 * `on` and `off`: both sides agree. `denied`, `asks`: wanted, but the browser's permission was taken back, or has to be asked
 * for again. Else what mends it: `remove` what is left on either side, `tell` the service what the browser has, `subscribe`
 * where the browser has nothing, `renew` what the browser has.
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
