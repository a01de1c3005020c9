import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, deviceRow, localUrl, openApp, openThread, inThread, say } from './app-page.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { untilWorker } from './service-worker.ts';

interface Handed {
  text: string;
  files?: string[];
  bytes?: number;
  /** The page asks the browser not to say which page the form comes from. */
  isHidden?: boolean;
}

/** Sends a form from the open page, like a share sheet or any web page. */
const handOver = (page: Page, url: string, handed: Handed): Promise<void> =>
  page.evaluate(
    ([action, { text, files = [], bytes = 10, isHidden = false }]) => {
      const form = Object.assign(document.createElement('form'), { action, method: 'POST' });
      form.enctype = 'multipart/form-data';
      if (isHidden) {
        const referrer = Object.assign(document.createElement('meta'), { name: 'referrer', content: 'no-referrer' });
        document.head.append(referrer);
      }
      const words = Object.assign(document.createElement('textarea'), { name: 'text', value: text });
      const chosen = Object.assign(document.createElement('input'), { name: 'files', type: 'file', multiple: true });
      const data = new DataTransfer();
      for (const name of files) data.items.add(new File(['x'.repeat(bytes)], name, { type: 'text/plain' }));
      chosen.files = data.files;
      form.append(words, chosen);
      document.body.append(form);
      form.submit();
    },
    [`${url}/share`, handed] as const,
  );

withChromium.describe('what is shared with the app', () => {
  let site: Site;
  let browser: Browser;
  let elsewhere: Server;
  beforeAll(async () => {
    elsewhere = createServer((_req, res) => res.setHeader('content-type', 'text/html').end('<h1>Another site</h1>'));
    elsewhere.listen(0);
    await once(elsewhere, 'listening');
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    elsewhere.closeAllConnections();
    elsewhere.close();
    await Promise.all([site.stop(), browser.close(), once(elsewhere, 'close')]);
  });

  const newUser = () => `user-${randomBytes(4).toString('hex')}`;
  const home = () => localUrl(site.one);

  async function open(name = 'Desktop', user = newUser()): Promise<AppPage> {
    const app = await openApp(browser, { url: home(), user, name });
    await untilWorker(app.page);
    await app.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await app.page.locator('.brand').waitFor();
    return app;
  }

  /** Returns the texts of what is kept. */
  const kept = (page: Page): Promise<string[]> =>
    page.evaluate(
      () =>
        new Promise<string[]>((resolve, reject) => {
          const opening = indexedDB.open('baton-shares');
          opening.onerror = () => reject(new Error('There is no such database'));
          opening.onsuccess = () => {
            const { result: database } = opening;
            const all = database.objectStoreNames.contains('shares')
              ? database.transaction('shares').objectStore('shares').getAll()
              : null;
            const done = (shares: { text: string }[]) => {
              database.close();
              resolve(shares.map(({ text }) => text));
            };
            if (all === null) return done([]);
            all.onsuccess = () => done(all.result as { text: string }[]);
          };
        }),
    );

  test.each([
    ['another site', '127.0.0.1'],
    ['another port of this host', 'localhost'],
  ])('is refused from a form of %s, and what was shared before stays', async (_, host) => {
    const { page, reports } = await open();
    await handOver(page, home(), { text: 'mine' });
    await page.waitForURL(/#\/share\//);
    await page.goto(`http://${host}:${(elsewhere.address() as AddressInfo).port}`);
    await handOver(page, home(), { text: 'of a stranger', files: ['stranger.txt'] });
    await page.getByText('Another site tried to share something with Baton').waitFor();
    expect(await kept(page)).toEqual(['mine']);
    expect(await page.getByText(/of a stranger|stranger\.txt/).count()).toBe(0);
    expect(reports).toEqual([]);
  });

  test('is marked where the browser does not say whether a share sheet or another site sent it', async () => {
    const user = newUser();
    const [{ page, reports }] = [await open('Desktop', user), await open('Phone', user)];
    await deviceRow(page, 'Phone').waitFor();
    await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`);
    await handOver(page, home(), { text: 'who knows', isHidden: true });
    await inThread(page).getByText('who knows').waitFor();
    await page.getByText('perhaps from another site').waitFor();
    expect(reports).toEqual([]);
  });

  test('is the newest alone, is there after a reload, and is gone when it was sent', async () => {
    const user = newUser();
    const [one, other] = [await open('Desktop', user), await open('Phone', user)];
    await deviceRow(one.page, 'Phone').waitFor();
    for (const text of ['the first', 'the second']) {
      await handOver(one.page, home(), { text, files: [`${text}.txt`] });
      await one.page.getByText(`Text: ${text}`).waitFor();
    }
    expect(await kept(one.page)).toEqual(['the second']);
    await one.page.reload();
    await inThread(one.page).getByText('the second.txt').waitFor();
    expect(await one.page.getByText('another site').count()).toBe(0);
    await one.page.getByLabel(/Phone/).check();
    await one.page.locator('.pane').getByRole('button', { name: 'Send' }).click();
    await openThread(other.page, 'Desktop');
    await inThread(other.page).locator('.rich-text').getByText('the second', { exact: true }).waitFor();
    await inThread(other.page).getByText('the second.txt').waitFor();
    await one.page.locator('.composer').waitFor();
    expect(await kept(one.page)).toEqual([]);
    expect([...one.reports, ...other.reports]).toEqual([]);
  });

  test('is sent once where its user clicks twice', async () => {
    const user = newUser();
    const [one, other] = [await open('Desktop', user), await open('Phone', user)];
    await deviceRow(one.page, 'Phone').waitFor();
    await handOver(one.page, home(), { text: 'said once', files: ['once.txt'] });
    await one.page.getByLabel(/Phone/).check();
    await one.page.locator('.pane').getByRole('button', { name: 'Send' }).dblclick();
    await one.page.locator('.composer').waitFor();
    await openThread(other.page, 'Desktop');
    await inThread(other.page).getByText('once.txt').first().waitFor();
    await inThread(other.page).locator('.rich-text').getByText('said once', { exact: true }).first().waitFor();
    // What was sent after it comes after it.
    await openThread(one.page, 'Phone');
    await say(one.page, 'the end');
    await inThread(other.page).locator('.rich-text').getByText('the end', { exact: true }).waitFor();
    expect(await inThread(other.page).getByText('once.txt').count()).toBe(1);
    expect(await inThread(other.page).getByText('said once', { exact: true }).count()).toBe(1);
    expect([...one.reports, ...other.reports]).toEqual([]);
  });

  test('is refused with a word when it is more than 100 files, or a text without end', async () => {
    const { page } = await open();
    const files = Array.from({ length: 101 }, (_, i) => `${i}.txt`);
    await handOver(page, home(), { text: 'many', files });
    await page.getByText('too much to share at once').waitFor();
    await page.goto(home());
    await handOver(page, home(), { text: 'x'.repeat(1_000_001) });
    await page.getByText('too much to share at once').waitFor();
    expect(await kept(page)).toEqual([]);
  });

  test('is refused with a word when the disk has no room for it', async () => {
    const { page, context } = await open();
    // The override of the DevTools does not reach a context like this one.
    await context.serviceWorkers()[0]?.evaluate(() => {
      StorageManager.prototype.estimate = async () => ({ quota: 12_000_000, usage: 600_000 });
    });
    await handOver(page, home(), { text: 'large', files: ['large.bin'], bytes: 11_000_000 });
    await page.getByText('too much to share at once').waitFor();
    expect(await kept(page)).toEqual([]);
  });

  test('is dropped while nobody is signed in, and with signing out', async () => {
    const { page } = await open();
    await handOver(page, home(), { text: 'before signing out' });
    await page.waitForURL(/#\/share\//);
    expect(await kept(page)).toEqual(['before signing out']);
    await page.goto(`${home()}/#/settings`);
    await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.locator('.front').waitFor();
    expect(await kept(page)).toEqual([]);
    await handOver(page, home(), { text: 'to nobody' });
    await page.waitForURL(`${home()}/`);
    await page.locator('.front').waitFor();
    expect(await kept(page)).toEqual([]);
  });

  test('is not shown to the account that is signed in next', async () => {
    const { page } = await open();
    await handOver(page, home(), { text: 'of the first account' });
    await page.getByText('There is no other device yet').waitFor();
    const next = { user: newUser(), name: 'Desktop', deviceId: randomBytes(9).toString('base64url') };
    await page.evaluate((text) => localStorage.setItem('baton-development', text), JSON.stringify(next));
    await page.reload();
    await page.getByText('There is nothing to send here any more').waitFor();
    expect(await kept(page)).toEqual([]);
  });

  test('leads to the app where there is no service worker, and whoever only opens the address too', async () => {
    const context = await browser.newContext({ serviceWorkers: 'block' });
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`);
    await handOver(page, home(), { text: 'no worker', files: ['one.txt'] });
    await page.waitForURL(`${home()}/`);
    await page.locator('.front').waitFor();
    await page.goto(`${home()}/share`);
    expect(page.url()).toBe(`${home()}/`);

    const { page: withWorker } = await open();
    await withWorker.goto(`${home()}/share`);
    expect(withWorker.url()).toBe(`${home()}/`);
  });
});
