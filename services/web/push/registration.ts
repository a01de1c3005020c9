import { scriptUrl } from '../trusted-types.ts';

async function register(): Promise<ServiceWorkerRegistration | null> {
  if (!('serviceWorker' in navigator)) return null;
  try {
    return await navigator.serviceWorker.register(scriptUrl('/sw.js'));
  } catch {
    // Without a worker everything works except the shell without network, notifications and the share sheet.
    return null;
  }
}

/** Calls `listener` with each message of the worker to this page. Returns a function that ends it. */
export function onWorkerMessage(listener: (event: MessageEvent) => void): () => void {
  try {
    const container = navigator.serviceWorker;
    container.addEventListener('message', listener);
    return () => container.removeEventListener('message', listener);
  } catch {
    // Pages without TLS have no workers, and blocked storage makes the access throw.
    return () => {};
  }
}

let registered: Promise<ServiceWorkerRegistration | null> = Promise.resolve(null);

/**
 * Registers the service worker of the app; null if this browser or this address can have none. After a worker that could
 * not be installed the next call tries again.
 */
export function registerWorker(): Promise<ServiceWorkerRegistration | null> {
  registered = registered.then((found) => {
    const hasWorker = (found?.active ?? found?.waiting ?? found?.installing ?? null) !== null;
    return hasWorker ? found : register();
  });
  return registered;
}

/** Waits until the worker is active, because the browser subscribes only then. False: no worker was installed. */
export async function untilActive({ active, waiting, installing }: ServiceWorkerRegistration): Promise<boolean> {
  if (active !== null) return true;
  const coming = installing ?? waiting;
  if (coming === null) return false;
  return new Promise((resolve) => {
    coming.addEventListener('statechange', () => {
      if (coming.state === 'activated') resolve(true);
      if (coming.state === 'redundant') resolve(false);
    });
  });
}
