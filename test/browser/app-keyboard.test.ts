import type { Browser, Page } from 'playwright-core';
import { makeDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { deviceRow, localUrl, openApp, openThread } from './app-page.ts';
import { randomUser } from './app-two.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';

withChromium.describe('the keys of the app', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '');

  test('lead through the devices, to the search, out again, and are listed', async () => {
    const user = randomUser();
    for (const name of ['Phone', 'Tablet']) await makeDevice({ user, name, type: 'ios' }).on(site.one).call('getMe');
    const { page, reports } = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop' });
    await deviceRow(page, 'Tablet').waitFor();
    const names = await page.locator('.device-name').allInnerTexts();
    for (const [key, name] of [
      ['ArrowDown', names[0]],
      ['ArrowDown', names[1]],
      ['ArrowDown', names[1]],
      ['ArrowUp', names[0]],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused(page)).toContain(name);
    }
    await page.keyboard.press('Enter');
    const field = page.locator('.composer textarea');
    await field.waitFor();
    // After a thread is opened, typed text goes into its field. A space scrolls, and keys with a meaning keep their
    // meaning.
    await page.keyboard.press(' ');
    await page.keyboard.type('Hi /?');
    expect(await field.inputValue()).toBe('Hi /?');
    await field.fill('');
    await page.keyboard.press('Escape');

    // In a field the keys are letters.
    await openThread(page, 'Phone');
    await page.locator('.composer textarea').focus();
    await page.keyboard.type('a/b?');
    expect(await page.locator('.composer textarea').inputValue()).toBe('a/b?');
    await page.keyboard.press('Escape');
    expect(new URL(page.url()).hash).toContain('#/device/');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Choose a device' }).waitFor();

    await page.keyboard.press('?');
    await page
      .getByRole('dialog', { name: 'Keyboard shortcuts' })
      .getByText('Up and down through the devices')
      .waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Choose a device' }).waitFor();
    expect(reports).toEqual([]);
  });
});
