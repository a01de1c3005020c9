/* Subscribing at the browser's push service, by the page and by the service worker. */

/** What the service is to know of a subscription of the browser. */
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

/** The key of the service that it was made for; null where the browser does not say. */
export function keyOf({ options }: PushSubscription): string | null {
  const key = options?.applicationServerKey;
  return key ? base64url(new Uint8Array(key)) : null;
}

/** Made for another key of the service: its pushes are refused by the push service. */
export const isForAnother = (subscription: PushSubscription, key: string): boolean =>
  (keyOf(subscription) ?? key) !== key;

export function partsOf(subscription: PushSubscription): Subscribed {
  const { endpoint, keys } = subscription.toJSON();
  return { endpoint: endpoint ?? '', keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } };
}

/** Stands for endpoint and keys, so that a comparison needs neither. */
export async function digestOf({ endpoint, keys: { p256dh, auth } }: Subscribed): Promise<string> {
  const text = new TextEncoder().encode([endpoint, p256dh, auth].join('\n'));
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', text)));
}

/**
 * The browser's subscription for this key. One for another key is given up first: the browser refuses to make a second one
 * beside it, by `InvalidStateError`. `anew`: one for the same key is given up too.
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
