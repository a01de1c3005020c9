import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { skipUnless } from '../support/runner/skips.ts';
import { type Site, startSite } from '../support/site.ts';
import {
  type AppPage,
  accept,
  chooseFiles,
  deviceRow,
  inThread,
  localUrl,
  openApp,
  openThread,
  say,
  signInAnew,
} from './app-page.ts';
import { type AppSite, startAppSite } from './app-site.ts';
import { hasWebKit } from './bare-webkit.ts';
import { chromiumPath, launchChromium } from './chromium.ts';
import { nameAs, shareClipboard, signIn, talk } from './driven-page.ts';
import { there } from './found.ts';
import { openWebKitPage, type WebKitPage } from './webkit-page.ts';

/** The file is larger than a block of the receiver, and not a multiple of one. */
const BYTES = 5_000_003;

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

const withBoth = skipUnless(hasWebKit && chromiumPath !== undefined, 'needs WebKit and Chromium');

withBoth.describe('the app in WebKit on one replica and in Chromium on the other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-webkit-main-'));
  const photo = join(folder, 'photo.bin');
  let site: Site;
  let browser: Browser;
  let kit: WebKitPage;
  let user: string;
  beforeAll(async () => {
    writeFileSync(photo, randomBytes(BYTES));
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  beforeEach(async () => {
    user = `user-${randomBytes(4).toString('hex')}`;
    kit = await openWebKitPage(localUrl(site.one));
  }, 120_000);
  afterEach(() => Promise.all([kit.stop(), ...browser.contexts().map((context) => context.close())]));
  afterAll(async () => {
    await Promise.all([site.stop(), browser.close()]);
    rmSync(folder, { recursive: true });
  });

  const openChromium = (): Promise<AppPage> => openApp(browser, { url: localUrl(site.two), user, name: 'Desktop' });

  test('they see each other, and messages, the clipboard and files go both ways', async () => {
    await signIn(kit, { user, name: 'Mac' });
    await kit.shows('.side h1', 'Devices');
    const { page, reports } = await openChromium();
    await deviceRow(page, 'Mac').getByText('Online').waitFor();
    await kit.shows('.device .unseen', 'Online');

    await talk(kit, page, 'Mac');

    // A driven WebKit is a private window, which stores no files. The page says so, and the sender can try another device.
    await chooseFiles(page, photo);
    await kit.says('lets Baton store no files');
    await kit.click('button', 'Refuse');
    await page.getByText('Refused', { exact: true }).waitFor();

    await kit.choose('button', 'Send files', photo);
    await accept(page);
    await kit.shows('.state', 'Sent');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(sha256(await (await saved).path())).toBe(sha256(photo));

    await shareClipboard(kit, page);
    expect([...(await kit.reports()), ...reports]).toEqual([]);
  }, 180_000);
});

withBoth.describe('an encrypted account in WebKit', () => {
  let site: AppSite;
  let browser: Browser;
  let kit: WebKitPage;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startAppSite(), launchChromium()]);
    kit = await openWebKitPage(site.url);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([kit.stop(), browser.close()]);
    await site.stop();
  });

  test('WebKit is let in with a code, compares the digits, and reads and writes under the key', async () => {
    const { page, reports } = await openApp(browser, { url: site.url, locale: 'en' });
    await signInAnew(page, 'Desktop');

    await kit.click('.front button strong', 'Use another device');
    await nameAs(kit, 'Mac');
    const link = String(await kit.run(`${there('a.link-text', 30_000)}.then(({ href }) => href)`));
    await page.getByRole('link', { name: 'Add a device' }).first().click();
    await page.getByLabel(/paste the link/).fill(link);
    await page.keyboard.press('Enter');
    await page.getByRole('radio', { name: 'until you sign it out' }).check();
    // This approval encrypts the account, as the page says once it knows the other devices.
    await page.locator('.given-away').first().waitFor();
    await page.getByRole('button', { name: 'Let it in' }).click();
    await page.getByText('is let in').waitFor();
    const [, digits] = /Check code (\d{4})/.exec(await page.getByText(/Check code \d{4}/).innerText()) ?? [];
    await kit.says(String(digits));
    await kit.click('dialog button', 'Desktop shows these');

    await openThread(page, 'Mac');
    await say(page, 'sealed for WebKit');
    await inThread(page).locator('.mine .lock.is-sealed').waitFor();
    await kit.click('.device-name', 'Desktop');
    await kit.shows('.theirs p', 'sealed for WebKit');
    await kit.type('.composer textarea', 'sealed in WebKit');
    await kit.press('Enter');
    await inThread(page).locator('.theirs', { hasText: 'sealed in WebKit' }).locator('.lock.is-sealed').waitFor();

    // The keys are still there after a reload.
    await kit.reload();
    await kit.click('.device-name', 'Desktop');
    await say(page, 'and after a reload');
    await kit.shows('.theirs p', 'and after a reload');
    expect([...(await kit.reports()), ...reports]).toEqual([]);
  }, 180_000);
});
