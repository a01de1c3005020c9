import { type Browser, chromium } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, chooseFiles, deviceRow, localUrl, openApp, openThread, say, inThread } from './app-page.ts';
import { randomUser, shownTexts } from './app-two.ts';
import { CHROMIUM_ARGUMENTS, chromiumPath, withChromium } from './chromium.ts';

/** The address is neither https nor this machine's own name, so there is no secure context. */
const ADDRESS = 'http://baton.test';

withChromium.describe('the app over plain http', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    site = await startSite({ APP_PUBLIC_URL: ADDRESS }, { alone: true });
    const rules = `MAP baton.test:80 ${new URL(site.one.url).host}, MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1`;
    const args = [...CHROMIUM_ARGUMENTS, `--host-resolver-rules=${rules}`];
    browser = await chromium.launch({ executablePath: chromiumPath as string, args });
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  const pasted = (app: AppPage) => app.page.getByLabel('Or type a text');

  test('messages pass, copying works, and it says why pasting and receiving files do not', async () => {
    const user = randomUser();
    const app = await openApp(browser, { url: ADDRESS, user, name: 'Desktop' });
    const phone = await openApp(browser, { url: ADDRESS, user, name: 'Phone' });
    const { page } = app;
    expect(await page.evaluate(() => [isSecureContext, 'clipboard' in navigator, 'locks' in navigator])).toEqual([
      false,
      false,
      false,
    ]);
    await deviceRow(page, 'Phone').waitFor();
    await deviceRow(phone.page, 'Desktop').waitFor();
    await Promise.all([openThread(page, 'Phone'), openThread(phone.page, 'Desktop')]);
    const text = '  to be copied\n\n```\nexactly\n```\n';
    await say(phone.page, text);
    await page.locator('.theirs').waitFor();
    expect(await shownTexts(page)).toEqual([text]);
    await page.locator('.theirs').hover();
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied', { exact: true }).last().waitFor();
    // The copied text is pasted as a person does it.
    await page.locator('.composer textarea').focus();
    await page.keyboard.press('Control+V');
    expect(await page.locator('.composer textarea').inputValue()).toBe(text);
    await page.locator('.composer textarea').fill('');

    await page.getByRole('link', { name: 'Clipboard' }).click();
    await page.getByRole('button', { name: 'Paste from this device' }).click();
    await page.getByText('Without https a page cannot read the clipboard').waitFor();
    await pasted(app).fill('by hand');
    await page.getByRole('button', { name: 'Put in the clipboard' }).click();
    await page.getByRole('button', { name: 'Copy to this device' }).click();
    await pasted(app).fill('');
    await page.getByText('Copied', { exact: true }).last().waitFor();
    await pasted(app).focus();
    await page.keyboard.press('Control+V');
    expect(await pasted(app).inputValue()).toBe('by hand');

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('This address is not https').waitFor();
    await page.getByText('Not possible in this browser, or at this address').waitFor();
    await chooseFiles(phone.page, { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
    await openThread(page, 'Phone');
    await page.locator('.offer').getByText('Files can only be received over https.').waitFor();
    await page.reload();
    await inThread(page).getByText('to be copied').waitFor();
    expect([...app.reports, ...phone.reports]).toEqual([]);
  }, 120_000);

  test('a browser that copies nothing for pages has somebody told to do it', async () => {
    const user = randomUser();
    const app = await openApp(browser, { url: ADDRESS, user, name: 'Desktop' });
    const phone = await openApp(browser, { url: localUrl(site.one), user, name: 'Phone' });
    await deviceRow(app.page, 'Phone').waitFor();
    await openThread(app.page, 'Phone');
    await say(app.page, 'mine');
    await app.page.evaluate(() => {
      Object.assign(Document.prototype, { execCommand: () => false });
    });
    await app.page.locator('.mine').hover();
    await app.page.getByRole('button', { name: 'Copy' }).click();
    await app.page.getByText('Select the text and copy it').waitFor();
    expect([...app.reports, ...phone.reports]).toEqual([]);
  });
});
