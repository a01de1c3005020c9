import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium, withChromium } from '../browser/chromium.ts';
import type { TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { MIB } from '../relay/support/relayed.ts';
import { type Installed, installClient } from './installed.ts';
import { openBundledPage } from './opened.ts';

interface Outcome {
  state: string;
  sha256: string;
}
declare global {
  var join: (headers: Record<string, string>) => Promise<void>;
  var device: { send(to: string, bytes: number): Promise<Outcome>; receive(): Promise<Outcome> };
}

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

  const open = (page: string, replica: { url: string }, prepare?: (context: BrowserContext) => Promise<void>) =>
    openBundledPage(installed, browser, page, replica, prepare);

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
