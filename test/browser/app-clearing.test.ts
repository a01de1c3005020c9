import type { Browser, Page } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { accept, chooseFiles, inThread, openThread, say } from './app-page.ts';
import { openTwo, shownTexts } from './app-two.ts';
import { launchChromium, withChromium } from './chromium.ts';

withChromium.describe('a thread that is cleared while something in it is under way', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  async function openBoth() {
    const two = await openTwo(browser, site);
    await openThread(two.phone.page, 'Desktop');
    await openThread(two.desktop.page, 'Phone');
    return two;
  }

  async function clear(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'More about this device' }).click();
    await page.getByRole('button', { name: 'Clear history' }).click();
    const dialog = page.getByRole('dialog').filter({ hasText: 'This browser removes' });
    await dialog.getByText('What waits or is under way is cancelled.').waitFor();
    await dialog.getByRole('button', { name: 'Clear history' }).click();
    await inThread(page).getByText('Nothing yet').waitFor();
  }

  const file = (bytes: number) => ({ name: 'a.bin', mimeType: 'application/x', buffer: Buffer.alloc(bytes, 1) });

  test('takes back the files that it offered', async () => {
    const { phone, desktop } = await openBoth();
    await chooseFiles(desktop.page, file(10));
    await phone.page.getByRole('button', { name: 'Accept', exact: true }).waitFor();
    await clear(desktop.page);
    await inThread(phone.page).getByText('Cancelled').waitFor();
    expect(await phone.page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0);
    await desktop.page.reload();
    await inThread(desktop.page).getByText('Nothing yet').waitFor();
    expect(desktop.reports).toEqual([]);
  });

  test('refuses the files that it was offered, which do not come again', async () => {
    const { phone, desktop } = await openBoth();
    await chooseFiles(phone.page, file(10));
    await desktop.page.getByRole('button', { name: 'Accept', exact: true }).waitFor();
    await clear(desktop.page);
    await inThread(phone.page).getByText('Refused').waitFor();
    await desktop.page.reload();
    await say(phone.page, 'later');
    await inThread(desktop.page).getByText('later').waitFor();
    expect(await shownTexts(desktop.page)).toEqual(['later']);
  });

  test.each(['sender', 'receiver'] as const)('ends the files that move: the %s clears it', async (who) => {
    const { phone, desktop } = await openBoth();
    const session = await desktop.context.newCDPSession(desktop.page);
    await session.send('Network.enable');
    const slowly = { offline: false, latency: 0, downloadThroughput: 200_000, uploadThroughput: 200_000 };
    await session.send('Network.emulateNetworkConditions', slowly);
    await chooseFiles(desktop.page, file(6_000_000));
    await accept(phone.page);
    await phone.page.getByRole('progressbar').first().waitFor();
    const [one, other] = who === 'sender' ? [desktop, phone] : [phone, desktop];
    await clear(one.page);
    await inThread(other.page).getByText('Cancelled').waitFor();
    await say(other.page, 'later');
    await inThread(one.page).getByText('later').waitFor();
    expect(await shownTexts(one.page)).toEqual(['later']);
    expect(await one.page.getByText('under way').count()).toBe(0);
    expect([phone.reports, desktop.reports]).toEqual([[], []]);
  });

  test('drops the messages that wait', async () => {
    const { phone, desktop } = await openBoth();
    await desktop.context.setOffline(true);
    await say(desktop.page, 'never sent');
    await desktop.page.getByText('Waits until you are online.').waitFor();
    await clear(desktop.page);
    await desktop.context.setOffline(false);
    await say(desktop.page, 'sent');
    await desktop.page.locator('.mark.delivered').waitFor();
    expect(await shownTexts(phone.page)).toEqual(['sent']);
    expect(await shownTexts(desktop.page)).toEqual(['sent']);
  });
});
