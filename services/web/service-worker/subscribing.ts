/* Subscribes at the browser's push service, for the page and the service worker. */

/** The parts of a browser's subscription that the service needs. */
export interface Subscribed {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

const bytesOf = (base64url: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Returns the key of the service that it was made for; null if the browser does not tell. */
export function keyOf({ options }: PushSubscription): string | null {
  const key = options?.applicationServerKey;
  return key ? base64url(new Uint8Array(key)) : null;
}

/** Tells whether it was made for another key of the service, so that the push service refuses its pushes. */
export const isForAnother = (subscription: PushSubscription, key: string): boolean =>
  (keyOf(subscription) ?? key) !== key;

export function partsOf(subscription: PushSubscription): Subscribed {
  const { endpoint, keys } = subscription.toJSON();
  return { endpoint: endpoint ?? '', keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } };
}

/** Returns a digest of endpoint and keys, so that a comparison needs neither. */
export async function digestOf({ endpoint, keys: { p256dh, auth } }: Subscribed): Promise<string> {
  const text = new TextEncoder().encode([endpoint, p256dh, auth].join('\n'));
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', text)));
}

/**
 * Returns the browser's subscription for this key. It ends one for another key first, because the browser refuses a second
 * one with `InvalidStateError`. `anew`: it also ends one for the same key.
 */
export async function subscribeFor(
  manager: PushManager,
  key: string,
  { anew = false } = {},
): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: bytesOf(key) };
  const before = await manager.getSubscription();
  if (before !== null && (anew || isForAnother(before, key))) await before.unsubscribe();
  try {
    return await manager.subscribe(options);
  } catch (error) {
    if ((error as Error | undefined)?.name !== 'InvalidStateError') throw error;
    await (await manager.getSubscription())?.unsubscribe();
    return manager.subscribe(options);
  }
}
