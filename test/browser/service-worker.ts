import type { CDPSession, Page } from 'playwright-core';
import { until } from '../support/redis/redis-processes.ts';
import type { AppPage } from './app-page.ts';

/** Waits until the page's service worker takes events. `ready` is reported a moment before, while it activates. */
export const untilWorker = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    while (active?.state === 'activating') {
      await new Promise((resolve) => active.addEventListener('statechange', resolve, { once: true }));
    }
  });

/** Resolves when the installation of the page's service worker, which is under way now, has failed. */
export async function untilWorkerIsRefused({ context, page }: AppPage): Promise<void> {
  const session = await context.newCDPSession(page);
  const refused = new Promise<void>((resolve) => {
    session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
      if (versions.some(({ status }) => status === 'redundant')) resolve();
    });
  });
  await session.send('ServiceWorker.enable');
  await refused;
}

/** Returns the registration of the page's service worker, as the browser's own tools see it. */
async function registrationOf(session: CDPSession): Promise<string> {
  const found = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [first] = registrations;
      if (first !== undefined) resolve(first.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  return found;
}

/** Hands a payload to the app's service worker, as the browser does with pushes. */
export async function deliverPush({ context, page }: AppPage, origin: string, payload: object | null): Promise<void> {
  const session = await context.newCDPSession(page);
  const registrationId = await registrationOf(session);
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(payload) });
}

/** Resolves to the one notification that the app shows, once it does. */
export async function shownNotification(page: Page): Promise<{ title: string; body: string; path: string }> {
  const look = () =>
    page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready;
      // The test takes turns with the worker, as the app does: Chromium forgets a notification whose list is asked for
      // while it is made.
      const all = await navigator.locks.request('baton-notifications', () => registration.getNotifications());
      return all.map(({ title, body, data }) => ({ title, body, path: String(data.path) }))[0];
    });
  const shown = await until(look, (found) => found !== undefined, 'the notification');
  return shown as { title: string; body: string; path: string };
}
