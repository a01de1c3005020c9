import type { Browser, Locator } from 'playwright-core';
import { makeDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, chooseFiles, deviceRow, localUrl, openApp, openThread, PHONE } from './app-page.ts';
import { randomUser } from './app-two.ts';
import { launchChromium, withChromium } from './chromium.ts';

/* In small and enlarged windows, and with names of every kind, everything can be read and reached. */

withChromium.describe('what can be read and reached', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  /** Opens the app beside a phone of the same account. */
  async function open(viewport: { width: number; height: number }) {
    const user = randomUser();
    const phone = makeDevice({ user, name: 'Phone', type: 'browser' });
    await phone.on(site.one).call('getMe');
    const app: AppPage = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop', viewport });
    await deviceRow(app.page, 'Phone').waitFor();
    return { ...app, phone };
  }

  const isCut = (what: Locator): Promise<boolean> =>
    what.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
  /** Tells whether a click in the middle of the element would reach it. */
  const isUncovered = (what: Locator): Promise<boolean> =>
    what.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
    });

  test('a name that turns its letters is named without turning the sentence, and a long one keeps its ending', async () => {
    const { page, reports } = await open({ width: 320, height: 568 });
    await page.emulateMedia({ forcedColors: 'active' });
    await openThread(page, 'Phone');
    const buffer = Buffer.alloc(2_000, 'x');
    const long = `${'Report of a very long year '.repeat(4)}.docx`;
    await chooseFiles(page, [
      { name: 'photo\u202egpj.exe', mimeType: 'application/octet-stream', buffer },
      { name: long, mimeType: 'application/octet-stream', buffer },
    ]);
    const notice = page.locator('.notice');
    await notice.getByText('Sent under another name').waitFor();
    expect(await notice.textContent()).toContain('\u2068photo\ufffdgpj.exe\u2069 → \u2068photo_gpj.exe\u2069');
    // If the system chooses the colours, a background alone would not set the notice off.
    expect(await notice.evaluate((element) => getComputedStyle(element).borderTopStyle)).toBe('solid');
    const name = page.locator(`.file-name[title="${long}"]`);
    await name.waitFor();
    expect(await name.textContent()).toBe(long);
    expect(await isCut(name)).toBe(false);
    expect(await isCut(name.locator('span span'))).toBe(true);
    expect(reports).toEqual([]);
  });

  test('on a phone the foot of the list adds a device, and the head of a thread searches', async () => {
    const { page, reports } = await open(PHONE);
    await page.locator('.side-foot').getByRole('link', { name: 'Add a device' }).click();
    await page.getByRole('heading', { name: 'Add a device' }).waitFor();
    await page.goBack();
    await openThread(page, 'Phone');
    await page.locator('.pane-head').getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').waitFor();
    await page.goBack();
    await page.locator('.composer textarea').waitFor();
    await page.setViewportSize({ width: 320, height: 568 });
    await page.evaluate(() => {
      location.hash = location.hash.replace('device', 'about');
    });
    const why = page.getByText('They arrive at once.');
    await why.waitFor();
    expect(await isCut(why)).toBe(false);
    expect(reports).toEqual([]);
  });

  test('at 400 % every device and the clipboard can be reached', async () => {
    const { page, phone, reports } = await open({ width: 320, height: 256 });
    await phone.on(site.one).call('setClipboard', { body: { content: 'a text', content_type: 'text/plain' } });
    await page.locator('.side-foot').getByText('copied text').waitFor();
    for (const what of [deviceRow(page, 'Phone'), page.locator('.side-foot').getByRole('button', { name: 'Copy' })]) {
      await what.scrollIntoViewIfNeeded();
      expect(await isUncovered(what)).toBe(true);
    }
    expect(reports).toEqual([]);
  });
});
