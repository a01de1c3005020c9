import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Site } from '../support/site.ts';
import { type AppPage, deviceRow, localUrl, openApp, openThread } from './app-page.ts';

/** Two devices of one account in the app, each on a replica of its own. */
export interface Two {
  user: string;
  phone: AppPage;
  desktop: AppPage;
}

export const randomUser = (): string => `user-${randomBytes(4).toString('hex')}`;

export async function openTwo(browser: Browser, site: Site, options: BrowserContextOptions = {}): Promise<Two> {
  const user = randomUser();
  const [phone, desktop] = await Promise.all([
    openApp(browser, { url: localUrl(site.one), user, name: 'Phone', ...options }),
    openApp(browser, { url: localUrl(site.two), user, name: 'Desktop', ...options }),
  ]);
  await Promise.all([deviceRow(phone.page, 'Desktop').waitFor(), deviceRow(desktop.page, 'Phone').waitFor()]);
  return { user, phone, desktop };
}

/**
 * Puts messages of a device into the history of this browser, as if they had come, one a millisecond or all at `at`. Returns
 * the id of their thread.
 */
export async function keepMessages(page: Page, user: string, texts: readonly string[], at?: number): Promise<string> {
  await openThread(page, 'Phone');
  const thread = decodeURIComponent(new URL(page.url()).hash.split('/').at(-1) ?? '');
  await page.evaluate(
    async ({ account, id, all, time }) => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        indexedDB.open(`baton-${account}`).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
      });
      const transaction = database.transaction(['items', 'threads'], 'readwrite');
      const from = Date.now() - all.length;
      for (const [i, text] of all.entries()) {
        // The keys are in the order of the messages, like the ids of the service.
        const key = `kept-${String(i).padStart(4, '0')}`;
        const item = { id: key, ref: key, thread: id, at: time ?? from + i, isMine: false, kind: 'message' };
        transaction.objectStore('items').put({ ...item, text, state: 'delivered', error: null });
      }
      transaction.objectStore('threads').put({ id, name: 'Phone', lastAt: Date.now(), unread: 0, draft: '' });
      await new Promise((resolve) => {
        transaction.oncomplete = resolve;
      });
      database.close();
      new BroadcastChannel(`baton/tabs/${account}`).postMessage({ type: 'changed', thread: id });
    },
    { account: user, id: thread, all: texts, time: at },
  );
  await page.locator(`#item-kept-${String(texts.length - 1).padStart(4, '0')}`).waitFor();
  return thread;
}

/** Returns the texts in the bubbles of the thread, without what the app adds to them. Only rows that are in the page count. */
export const shownTexts = (page: Page): Promise<string[]> =>
  page.locator('.item .bubble').evaluateAll((all) =>
    all.map((bubble) => {
      const copy = bubble.cloneNode(true) as Element;
      copy.querySelector('.item-foot')?.remove();
      return copy.textContent ?? '';
    }),
  );
