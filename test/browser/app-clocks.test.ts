import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { type AppSite, startAppSite } from './app-site.ts';
import { askForCode, type AppPage, deviceRow, localUrl, openApp, openThread, say, inThread } from './app-page.ts';
import { randomUser } from './app-two.ts';
import { launchChromium, withChromium } from './chromium.ts';

const MINUTE_MS = 60_000;

/** Makes the device's clock wrong by this much. */
const setClock = (context: BrowserContext, byMs: number): Promise<unknown> =>
  context.addInitScript((offset) => {
    const True = Date;
    const now = () => True.now() + offset;
    // Like the platform's own, it is a constructor with functions.
    class Wrong extends True {
      constructor(...given: []) {
        if (given.length === 0) super(now());
        else super(...given);
      }
      static override now = now;
    }
    globalThis.Date = Wrong as DateConstructor;
  }, byMs);

/** Counts requests of this path from now on. */
function countRequests(page: Page, path: string): { count: number } {
  const counted = { count: 0 };
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) counted.count += 1;
  });
  return counted;
}

withChromium.describe('the app on a device with a wrong clock', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite({ APP_CLIPBOARD_TTL_SECONDS: '30' }), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  async function open(user: string, minutes: number): Promise<AppPage> {
    const app = await openApp(browser, { url: 'about:blank#', user, name: 'Desktop' });
    await setClock(app.context, minutes * MINUTE_MS);
    await app.page.goto(localUrl(site.one));
    return app;
  }

  async function expectCountdown(minutes: number): Promise<void> {
    const { page, reports } = await open(randomUser(), minutes);
    await page.getByRole('link', { name: 'Clipboard' }).click();
    await page.getByLabel('Or type a text').fill('for half a minute');
    await page.getByRole('button', { name: 'Put in the clipboard' }).click();
    const left = inThread(page).getByText(/gone in/);
    await left.waitFor();
    const counted = countRequests(page, '/api/clipboard');
    const seconds = async () => Number(/gone in (\d+) s/.exec((await left.textContent()) ?? '')?.[1]);
    const first = await seconds();
    expect(first).toBeGreaterThan(15);
    expect(first).toBeLessThanOrEqual(30);
    await page.waitForFunction(
      (from) => Number(/gone in (\d+) s/.exec(document.body.textContent ?? '')?.[1]) <= from - 4,
      first,
    );
    // The service says that there is a new text, and the page may read it once. It does not ask every second.
    expect(counted.count).toBeLessThanOrEqual(1);
    const before = counted.count;
    await page.getByText('The clipboard is empty').waitFor({ timeout: 90_000 });
    expect(counted.count - before).toBeLessThanOrEqual(2);
    expect(reports).toEqual([]);
  }

  test('ten minutes off, both ways: the clipboard counts down by the clock of the service, and asks no more than once at the end', async () => {
    await Promise.all([expectCountdown(10), expectCountdown(-10)]);
  }, 180_000);

  test.each([10, -10])(
    '%d minutes off: messages have the times of the service, in their order, and what was seen just now says so',
    async (minutes) => {
      const user = randomUser();
      const phone = await openApp(browser, { url: localUrl(site.two), user, name: 'Phone' });
      const desktop = await open(user, minutes);
      await deviceRow(phone.page, 'Desktop').waitFor();
      await openThread(phone.page, 'Desktop');
      await openThread(desktop.page, 'Phone');
      await say(desktop.page, 'one');
      await desktop.page.locator('.mark.delivered').waitFor();
      await say(phone.page, 'two');
      await inThread(desktop.page).getByText('two', { exact: true }).waitFor();
      await say(desktop.page, 'three');
      await inThread(desktop.page).getByText('three', { exact: true }).waitFor();
      const times = await desktop.page
        .locator('.item time')
        .evaluateAll((all) => all.map((one) => Date.parse(one.getAttribute('datetime') ?? '')));
      expect(await desktop.page.locator('.item p[dir]').allTextContents()).toEqual(['one', 'two', 'three']);
      for (const time of times) expect(Math.abs(time - Date.now())).toBeLessThan(MINUTE_MS);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      await phone.context.close();
      await deviceRow(desktop.page, 'Phone')
        .getByText(/Seen (this minute|\d seconds ago|now)/)
        .waitFor();
      expect(desktop.reports).toEqual([]);
    },
  );
});

withChromium.describe('a sign-in by QR code on a device with a wrong clock', () => {
  let site: AppSite;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startAppSite(), launchChromium()]);
  }, 180_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  test.each([10, -10])('%d minutes off: the code is shown with the time that it has', async (minutes) => {
    const app = await openApp(browser, { url: 'about:blank#', locale: 'en' });
    await setClock(app.context, minutes * MINUTE_MS);
    await app.page.goto(site.url);
    await askForCode(app.page);
    await app.page.locator('.qr path').waitFor();
    const left = Number(/Valid for (\d+) s/.exec((await app.page.locator('.front').textContent()) ?? '')?.[1]);
    expect(left).toBeGreaterThan(60);
    expect(left).toBeLessThanOrEqual(600);
    expect(app.reports).toEqual([]);
  });
});
