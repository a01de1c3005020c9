import { registerWorker } from './registration.ts';

/** The longest wait for a browser that gives up a subscription. */
const GIVE_UP_MS = 3_000;

/** Rejects when the browser does not answer in time. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('The browser does not answer')), ms);
  });
  return Promise.race([work, late]);
}

/** Returns the service worker that receives pushes; null if the browser has none. */
export async function workerOfPushes(): Promise<ServiceWorkerRegistration | null> {
  if (!('PushManager' in window) || !('Notification' in window)) return null;
  return registerWorker();
}

/** Ends the browser's subscription, whichever account it belongs to. The push service refuses further pushes to it. */
export async function unsubscribeHere(): Promise<void> {
  const given = async () => (await (await workerOfPushes())?.pushManager.getSubscription())?.unsubscribe();
  await within(GIVE_UP_MS, given()).catch(() => {});
}
