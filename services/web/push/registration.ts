import { scriptUrl } from '../trusted-types.ts';

async function register(): Promise<ServiceWorkerRegistration | null> {
  if (!('serviceWorker' in navigator)) return null;
  try {
    return await navigator.serviceWorker.register(scriptUrl('/sw.js'));
  } catch {
    // Without it everything works but the shell without network, notifications and the share sheet.
    return null;
  }
}

/** Calls `listener` with what the worker tells this page; what ends that. */
export function onWorkerMessage(listener: (event: MessageEvent) => void): () => void {
  try {
    const container = navigator.serviceWorker;
    container.addEventListener('message', listener);
    return () => container.removeEventListener('message', listener);
  } catch {
    // Pages without TLS have none, and where storage is blocked it cannot be asked for.
    return () => {};
  }
}

let registered: Promise<ServiceWorkerRegistration | null> | null = null;

/** The service worker of the app; null where this browser or this address can have none. */
export function registerWorker(): Promise<ServiceWorkerRegistration | null> {
  registered ??= register();
  return registered;
}

/** The browser subscribes for a worker that runs. False: none was installed. */
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
