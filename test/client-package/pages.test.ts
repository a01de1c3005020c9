import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium, newContext, withChromium } from '../browser/chromium.ts';
import { addressOf, listenForComplaints } from '../browser/device-page.ts';
import type { TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { MIB } from '../relay/relayed.ts';
import { bundlePage } from './bundled.ts';
import { type Installed, installClient } from './installed.ts';

interface Outcome {
  state: string;
  sha256: string;
}
declare global {
  var join: (headers: Record<string, string>) => Promise<void>;
  var device: { send(to: string, bytes: number): Promise<Outcome>; receive(): Promise<Outcome> };
}

const BASE = '/pages-of-a-stranger/';
const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

withChromium.describe('a bundle of the library in a browser', () => {
  let site: Site;
  let browser: Browser;
  let installed: Installed;
  beforeAll(async () => {
    [site, browser, installed] = await Promise.all([startSite(), launchChromium(), installClient()]);
    cpSync(join(installed.folder, 'node_modules/@baton/client/examples'), installed.folder, { recursive: true });
  }, 150_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    installed.remove();
    await Promise.all([site.stop(), browser.close()]);
  });

  /** The page of a bundle, under the replica's own origin. */
  async function open(page: string, replica: { url: string }, prepare?: (context: BrowserContext) => Promise<void>) {
    const files = await bundlePage(installed, page, BASE);
    const context = await newContext(browser);
    await prepare?.(context);
    await context.route(`**${BASE}**`, async (route) => {
      const { pathname } = new URL(route.request().url());
      const body = files.get(pathname);
      const contentType = TYPES[pathname.split('.').at(-1) ?? ''] ?? 'text/plain';
      await route.fulfill(body === undefined ? { status: 404 } : { contentType, body });
    });
    const opened = await context.newPage();
    const complaints = listenForComplaints(opened);
    await opened.goto(addressOf(replica, BASE + page));
    return { page: opened, complaints };
  }

  test('the page of the example shows who is online, and who leaves', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const onPhone = site.listen(phone, site.two);
    await onPhone.next('ready');
    const { page, complaints } = await open('who-is-online.html', site.one, (context) =>
      context.setExtraHTTPHeaders(laptop.headers),
    );
    const shows = (words: string) =>
      page.waitForFunction(
        (wanted) => [...document.querySelectorAll('li.online')].map((row) => row.textContent).join() === wanted,
        words,
      );
    await shows('Laptop,Phone');
    expect(await page.locator('#state').innerText()).toBe('online');

    await onPhone.stop();
    await shows('Laptop');
    expect(complaints).toEqual([]);
  });

  test('a blob passes from one page into the private file system of another, on two replicas', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const joined = async (device: TestDevice, replica: { url: string }): Promise<Page> => {
      const { page } = await open('passing-page.html', replica);
      await page.waitForFunction(() => 'join' in globalThis);
      await page.evaluate((headers) => globalThis.join(headers), device.headers);
      return page;
    };
    const [sender, receiver] = [await joined(laptop, site.one), await joined(phone, site.two)];
    const [sent, received] = await Promise.all([
      sender.evaluate((bytes) => device.send('Phone', bytes), 20 * MIB + 123),
      receiver.evaluate(() => device.receive()),
    ]);

    expect(sent.state).toBe('DONE');
    expect(received).toEqual(sent);
  });
});
