import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { chooseFiles, DESKTOP, deviceRow, inThread, openApp, PHONE, signInAnew } from './app-page.ts';
import { type AppSite, startAppSite } from './app-site.ts';
import { launchChromium, withChromium } from './chromium.ts';

/*
 * The walk of services/web/README.md, with each press of a mouse or a finger counted. The table there has these
 * numbers.
 */

/** The click in the picker of the system, which a test cannot make. */
const IN_PICKER = 1;

/** Counts what is pressed in a browser. The returned function gives the number since it was called last. */
async function countPresses(context: BrowserContext): Promise<() => number> {
  let count = 0;
  await context.exposeBinding('pressed', () => {
    count += 1;
  });
  await context.addInitScript(() => {
    addEventListener('pointerdown', () => (globalThis as unknown as { pressed: () => void }).pressed(), true);
  });
  return () => {
    const pressed = count;
    count = 0;
    return pressed;
  };
}

withChromium.describe('the walk of a new user, in clicks', () => {
  let site: AppSite;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startAppSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  async function open(viewport: { width: number; height: number }) {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const app = await openApp(browser, { url: site.url, locale: 'en', viewport, permissions });
    return { ...app, presses: await countPresses(app.context) };
  }

  async function logIn(page: Page): Promise<void> {
    await page.reload();
    await signInAnew(page, 'Desktop');
  }

  /** Returns the address that the camera of a phone reads from the screen. Copying it is no part of the walk. */
  async function scanned(page: Page): Promise<string> {
    await page.locator('.qr-frame svg').waitFor();
    await page.getByRole('button', { name: 'Copy link' }).press('Enter');
    await page.getByText('Copied', { exact: true }).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  }

  /** Links a new phone: a scan, a name, six digits, and the clicks in between. */
  async function link(desktop: Page, phone: Page): Promise<void> {
    await desktop.getByRole('link', { name: 'Add a device' }).first().click();
    await phone.goto(await scanned(desktop));
    await phone.getByLabel('Device name').fill('Phone');
    await phone.keyboard.press('Enter');
    const digits = (await phone.locator('.digits').innerText()).replace(/\D/g, '');
    await desktop.getByLabel('Type the six digits').pressSequentially(digits);
    await desktop.getByRole('button', { name: 'Let it in' }).click();
  }

  test('a phone is linked in two, a file takes three and one to accept, the clipboard one on each side', async () => {
    const [one, two] = [await open(DESKTOP), await open(PHONE)];
    const [desktop, phone] = [one.page, two.page];
    await logIn(desktop);
    one.presses();
    await link(desktop, phone);
    await phone.locator('.composer textarea').waitFor();
    expect([one.presses(), two.presses()]).toEqual([2, 0]);

    await phone.getByRole('link', { name: 'Back' }).click();
    two.presses();
    await deviceRow(phone, 'Desktop').click();
    await chooseFiles(phone, { name: 'note.bin', mimeType: '', buffer: randomBytes(1_000) });
    expect(two.presses() + IN_PICKER).toBe(3);
    await desktop.getByRole('link', { name: /Phone sends/ }).click();
    await inThread(desktop).getByRole('button', { name: 'Accept' }).waitFor();
    one.presses();
    await inThread(desktop).getByRole('button', { name: 'Accept' }).click();
    await inThread(desktop).getByText('Received', { exact: true }).waitFor();
    expect(one.presses()).toBe(1);

    await desktop.evaluate(() => navigator.clipboard.writeText('from the desktop'));
    await desktop.getByRole('button', { name: 'Send mine' }).click();
    await phone.locator('.clipboard-line').getByRole('button', { name: 'Copy' }).click();
    await phone.getByText('Copied', { exact: true }).waitFor();
    expect(await phone.evaluate(() => navigator.clipboard.readText())).toBe('from the desktop');
    expect([one.presses(), two.presses()]).toEqual([1, 1]);
    expect([...one.reports, ...two.reports]).toEqual([]);
  }, 120_000);

  test('in an encrypted account a phone is linked in three', async () => {
    const [one, two] = [await open(DESKTOP), await open(PHONE)];
    const [desktop, phone] = [one.page, two.page];
    await logIn(desktop);
    await desktop.getByRole('link', { name: 'Settings' }).click();
    await desktop.getByRole('button', { name: 'Encrypt this account' }).click();
    await desktop.locator('dialog').getByRole('button', { name: 'Encrypt this account' }).click();
    await desktop.locator('.fingerprint').waitFor();
    one.presses();
    await link(desktop, phone);
    await phone.getByRole('button', { name: 'Desktop shows these' }).click();
    await phone.locator('.composer textarea').waitFor();
    expect([one.presses(), two.presses()]).toEqual([2, 1]);
    expect([...one.reports, ...two.reports]).toEqual([]);
  }, 120_000);
});
