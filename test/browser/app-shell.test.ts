import { randomBytes } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, deviceRow, localUrl, openApp, openThread, say, inThread } from './app-page.ts';
import { launchWholeChromium, withChromium } from './chromium.ts';
import { deliverPush, shownNotification, untilWorker } from './service-worker.ts';

/** The compressed bytes that may come before the user sees the app. */
const FIRST_LOAD_BYTES = 85_000;

withChromium.describe('the shell of the app', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchWholeChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  const newUser = () => `user-${randomBytes(4).toString('hex')}`;
  const open = (name: string, user: string, permissions: string[] = []): Promise<AppPage> =>
    openApp(browser, { url: localUrl(site.one), user, name, permissions });

  test('opens without network, says so, and has its history', async () => {
    const user = newUser();
    const [one, other] = await Promise.all([open('Desktop', user), open('Phone', user)]);
    await openThread(one.page, 'Phone');
    await say(one.page, 'kept here');
    await one.page.locator('.mark.delivered').waitFor();
    await untilWorker(one.page);
    await one.context.setOffline(true);
    await one.page.reload();
    await inThread(one.page).getByText('kept here').waitFor();
    await one.page.getByText('You are offline').waitFor();
    await one.context.setOffline(false);
    await deviceRow(one.page, 'Phone').getByText('Online').waitFor();
    expect([...one.reports, ...other.reports]).toEqual([]);
  });

  test('a push is shown, and a click on it opens the thread', async () => {
    const user = newUser();
    const [one, other] = await Promise.all([open('Desktop', user, ['notifications']), open('Phone', user)]);
    await openThread(other.page, 'Desktop');
    await say(other.page, 'look here');
    await deviceRow(one.page, 'Phone').locator('.count').waitFor();
    await untilWorker(one.page);
    const item = await one.page.evaluate(
      (account) =>
        new Promise<string>((resolve) => {
          indexedDB.open(`baton-${account}`).onsuccess = ({ target }) => {
            const database = (target as IDBOpenDBRequest).result;
            database.transaction('items').objectStore('items').getAll().onsuccess = (event) => {
              database.close();
              resolve(((event.target as IDBRequest).result as { ref: string }[])[0]?.ref ?? '');
            };
          };
        }),
      user,
    );
    const data = { v: 1, type: 'message', count: 1, id: item, from: 'Phone', text: 'look here' };
    await deliverPush(one, localUrl(site.one), data);
    const notification = { title: 'Phone', body: 'look here', path: `/#/item/${item}` };
    expect(await shownNotification(one.page)).toEqual(notification);
    // This is what the worker tells the page when the notification is clicked.
    await one.page.evaluate((path) => {
      navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data: { type: 'open', path } }));
    }, `/#/item/${item}`);
    await one.page.locator('.theirs', { hasText: 'look here' }).waitFor();
    expect([...one.reports, ...other.reports]).toEqual([]);
  });

  test('what the share sheet hands over goes to the device that is chosen', async () => {
    const user = newUser();
    const [one, other] = await Promise.all([open('Desktop', user), open('Phone', user)]);
    await deviceRow(one.page, 'Phone').waitFor();
    await untilWorker(one.page);
    await one.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    // The browser sends a form, as with a share sheet.
    await one.page.evaluate(() => {
      const form = Object.assign(document.createElement('form'), { action: '/share', method: 'POST' });
      form.enctype = 'multipart/form-data';
      const text = Object.assign(document.createElement('input'), { name: 'text', value: 'shared words' });
      const files = Object.assign(document.createElement('input'), { name: 'files', type: 'file' });
      const data = new DataTransfer();
      data.items.add(new File(['shared file'], 'shared.txt', { type: 'text/plain' }));
      files.files = data.files;
      form.append(text, files);
      document.body.append(form);
      form.submit();
    });
    await one.page.getByLabel(/Phone/).check();
    await one.page.locator('.pane').getByRole('button', { name: 'Send' }).click();
    await openThread(other.page, 'Desktop');
    await inThread(other.page).getByText('shared words').waitFor();
    await inThread(other.page).getByText('shared.txt').waitFor();
    expect([...one.reports, ...other.reports]).toEqual([]);
  });

  test('the first load is small, and its largest picture is there soon on a slow processor', async () => {
    const { page, context } = await openApp(browser, { url: localUrl(site.one) });
    await page.locator('.front').waitFor();
    const bytes = await page.evaluate(() =>
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .filter((entry) => !/sw\.js|\/api\//.test(entry.name))
        .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
    );
    await context.close();

    const slow = await openApp(browser, { url: 'about:blank#' });
    const session = await slow.context.newCDPSession(slow.page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await slow.page.goto(localUrl(site.one));
    await slow.page.locator('.front h1').waitFor();
    const paintMs = await slow.page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          new PerformanceObserver((list) => resolve(list.getEntries().at(-1)?.startTime ?? -1)).observe({
            type: 'largest-contentful-paint',
            buffered: true,
          });
        }),
    );
    process.stdout.write(`first load ${bytes} bytes compressed, largest contentful paint ${paintMs.toFixed(0)} ms\n`);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
    expect(paintMs).toBeGreaterThan(0);
  });
});
