import type { Browser, Page } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { deviceRow, localUrl, openThread } from './app-page.ts';
import { openTwo, shownTexts } from './app-two.ts';
import { launchChromium, withChromium } from './chromium.ts';

const field = (page: Page) => page.locator('.composer textarea');

/** Pastes as a browser tells a page: with the content of the clipboard in several forms at once. */
const paste = (page: Page, forms: Record<string, string>, files: readonly string[]) =>
  field(page).evaluate(
    (area, given) => {
      const data = new DataTransfer();
      for (const [type, text] of Object.entries(given.forms)) data.setData(type, text);
      for (const name of given.files) data.items.add(new File(['bytes'], name, { type: 'image/png' }));
      const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
      area.dispatchEvent(event);
      return event.defaultPrevented;
    },
    { forms, files },
  );

withChromium.describe('the field that messages are written in', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  test('the Enter that ends a word of an input method does not send', async () => {
    const { phone, desktop } = await openTwo(browser, site);
    const { page } = desktop;
    await openThread(page, 'Phone');
    await field(page).fill('にほ');
    const press = (init: { keyCode?: number; isComposing?: boolean; shiftKey?: boolean }) =>
      field(page).evaluate((area, given) => {
        const event = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...given });
        return area.dispatchEvent(event);
      }, init);
    // In Safari the composition has already ended. In other browsers it has not.
    expect(await press({ keyCode: 229 })).toBe(true);
    expect(await press({ isComposing: true })).toBe(true);
    expect(await press({ shiftKey: true, keyCode: 13 })).toBe(true);
    expect(await field(page).inputValue()).toBe('にほ');
    expect(await page.locator('.item').count()).toBe(0);
    expect(await press({ keyCode: 13 })).toBe(false);
    await page.locator('.mine').waitFor();
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('a real composition is written to its end, and only the next Enter sends it', async () => {
    const { desktop } = await openTwo(browser, site);
    const { page, context } = desktop;
    await openThread(page, 'Phone');
    await field(page).focus();
    const session = await context.newCDPSession(page);
    await session.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 });
    const key = { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 229 };
    await session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key });
    await session.send('Input.insertText', { text: 'に' });
    await session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
    expect(await field(page).inputValue()).toBe('に');
    expect(await page.locator('.item').count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.locator('.mine').waitFor();
    expect(await shownTexts(page)).toEqual(['に']);
  });

  test('cells of a spreadsheet are pasted as their text; a picture, or files with their names, as files', async () => {
    const { desktop } = await openTwo(browser, site);
    const { page } = desktop;
    await openThread(page, 'Phone');
    expect(await paste(page, { 'text/plain': 'a\tb', 'text/html': '<table></table>' }, ['image.png'])).toBe(false);
    expect(await paste(page, { 'text/plain': 'words of Word', 'text/rtf': '{}' }, ['image.png'])).toBe(false);
    expect(await paste(page, { 'text/plain': 'words' }, [])).toBe(false);
    expect(await page.locator('.item').count()).toBe(0);
    expect(await paste(page, { 'text/html': '<img>' }, ['image.png'])).toBe(true);
    await page.locator('.bubble.files').waitFor();
    expect(await paste(page, { 'text/plain': 'photo of us.png' }, ['photo of us.png'])).toBe(true);
    await page.locator('.bubble.files').nth(1).waitFor();
    const paths = { 'text/plain': 'file:///home/ann/one%20picture.png\r\n/home/ann/two.png' };
    expect(await paste(page, paths, ['one picture.png', 'two.png'])).toBe(true);
    await page.locator('.bubble.files').nth(2).waitFor();
    // This works outside a thread too.
    await page.getByRole('link', { name: 'Clipboard' }).click();
    await page.getByLabel('Or type a text').evaluate((area) => {
      const data = new DataTransfer();
      data.setData('text/plain', 'a\tb');
      data.items.add(new File(['bytes'], 'image.png', { type: 'image/png' }));
      area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    });
    expect(new URL(page.url()).hash).toBe('#/clipboard');
  });

  test('a draft is there after another pane, another device and a reload, and is gone once it was sent', async () => {
    const { user, desktop, phone } = await openTwo(browser, site);
    const { page } = desktop;
    await openThread(page, 'Phone');
    await field(page).fill('  not sent yet\n  ');
    await page.getByRole('link', { name: 'Clipboard' }).click();
    await openThread(page, 'Phone');
    expect(await field(page).inputValue()).toBe('  not sent yet\n  ');
    await page.reload();
    await field(page).waitFor();
    expect(await field(page).inputValue()).toBe('  not sent yet\n  ');
    await field(page).press('Enter');
    await page.locator('.mine').waitFor();
    expect(await field(page).inputValue()).toBe('');
    await page.reload();
    await page.locator('.mine').waitFor();
    expect(await field(page).inputValue()).toBe('');
    // Each account has its own drafts, and signing out removes them.
    await field(page).fill('of this account');
    const keys = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('draft')));
    expect((await keys()).every((key) => key.includes(user))).toBe(true);
    expect(await keys()).toHaveLength(1);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
    await page.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    expect(await keys()).toEqual([]);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('of two tabs the last one that was written in is right, and neither writes against the other', async () => {
    const { desktop } = await openTwo(browser, site);
    const { page } = desktop;
    await openThread(page, 'Phone');
    const second = await desktop.context.newPage();
    await second.goto(localUrl(site.two));
    await deviceRow(second, 'Phone').click();
    await field(second).waitFor();
    await field(page).fill('from the first');
    await second.waitForFunction(() => document.querySelector('textarea')?.value === 'from the first');
    await second.evaluate(() => {
      const counts = { writes: 0 };
      Object.assign(globalThis, { counts });
      addEventListener('storage', () => {
        counts.writes += 1;
      });
    });
    await field(second).pressSequentially(' and second');
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'from the first and second');
    expect(await second.evaluate(() => (globalThis as unknown as { counts: { writes: number } }).counts.writes)).toBe(
      0,
    );
    await field(second).press('Enter');
    await page.waitForFunction(() => document.querySelector('textarea')?.value === '');
    await page.locator('.mine').waitFor();
    expect(await page.locator('.mine').count()).toBe(1);
  });

  test('what is pasted can be undone, and a text that is too long says so and can go as a file', async () => {
    const { desktop } = await openTwo(browser, site, { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = desktop;
    await openThread(page, 'Phone');
    await field(page).pressSequentially('before ');
    await page.evaluate(() => navigator.clipboard.writeText('ä'.repeat(3_000)));
    await page.keyboard.press('Control+V');
    await page.getByRole('status').getByText('1911 bytes too long').waitFor();
    await page.keyboard.press('Enter');
    expect(await page.locator('.item').count()).toBe(0);
    await page.keyboard.press('Control+Z');
    expect(await field(page).inputValue()).toBe('before ');
    await page.keyboard.press('Control+V');
    await page.getByRole('button', { name: 'Send as file' }).click();
    await page.locator('.bubble.files', { hasText: 'message.txt' }).waitFor();
    expect(await field(page).inputValue()).toBe('');
  });
});
