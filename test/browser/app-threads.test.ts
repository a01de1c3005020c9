import { randomBytes } from 'node:crypto';
import type { Browser, Locator, Page } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, DESKTOP, deviceRow, localUrl, openApp, openThread, PHONE, say, inThread } from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { keepPicture } from './keep-picture.ts';

/** A text from a sender who means harm. */
const HOSTILE = '<img src=x onerror=alert(1)> \u202etxt.exe javascript:alert(2) https://example.org/a?b=<c> `code`';

/** Moves a finger over the middle of an element. */
async function swipe(page: Page, element: Locator, [dx, dy]: [number, number]): Promise<void> {
  const box = await element.boundingBox();
  if (box === null) throw new Error('It is not shown');
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true });
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
  for (let step = 1; step <= 10; step += 1) {
    const at = { x: x + (dx * step) / 10, y: y + (dy * step) / 10 };
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [at] });
  }
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await session.detach();
}

withChromium.describe('threads in the app', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  async function pair(): Promise<{ phone: AppPage; desktop: AppPage }> {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const permissions = ['clipboard-read', 'clipboard-write'];
    const [phone, desktop] = await Promise.all([
      openApp(browser, { url: localUrl(site.one), user, name: 'Phone', viewport: PHONE }),
      openApp(browser, { url: localUrl(site.two), user, name: 'Desktop', permissions }),
    ]);
    await Promise.all([deviceRow(phone.page, 'Desktop').waitFor(), deviceRow(desktop.page, 'Phone').waitFor()]);
    return { phone, desktop };
  }

  test('a swipe copies a text, and one against the lines asks whether to remove it', async () => {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const permissions = ['clipboard-read', 'clipboard-write'];
    const [phone, desktop] = await Promise.all([
      openApp(browser, { url: localUrl(site.one), user, name: 'Phone', viewport: PHONE, permissions }),
      openApp(browser, { url: localUrl(site.two), user, name: 'Desktop' }),
    ]);
    await openThread(desktop.page, 'Phone');
    await say(desktop.page, 'the door code is 4711');
    await openThread(phone.page, 'Desktop');
    const { page } = phone;
    const bubble = page.locator('.theirs .bubble');
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    const dialog = page.getByRole('dialog');
    await bubble.waitFor();

    // The swipe is too short or not sideways: nothing happens, and the item stays where it was.
    await swipe(page, bubble, [50, 0]);
    await swipe(page, bubble, [90, 120]);
    expect([await copied(), await dialog.count()]).toEqual(['', 0]);
    expect(await bubble.evaluate((element: HTMLElement) => element.style.translate)).toBe('');

    await swipe(page, bubble, [90, 4]);
    await page.getByText('Copied').waitFor();
    expect(await copied()).toBe('the door code is 4711');

    await swipe(page, bubble, [-90, 4]);
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await bubble.waitFor({ state: 'detached' });
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('messages are marked as delivered, shown as text, kept over a reload, and found', async () => {
    const { phone, desktop } = await pair();
    await openThread(desktop.page, 'Phone');
    await say(desktop.page, HOSTILE);
    await desktop.page.locator('.mark.delivered').waitFor();
    await phone.page.locator('.count').waitFor();
    expect(await phone.page.title()).toBe('(1) Baton');
    expect(await phone.page.locator('.own-name').innerText()).toContain('This is Phone');
    await deviceRow(phone.page, 'Desktop').getByText('<img src=x onerror=alert(1)>').waitFor();
    await openThread(phone.page, 'Desktop');
    const bubble = phone.page.locator('.theirs .bubble');
    expect(await bubble.locator('p').innerText()).toBe(HOSTILE);
    expect(await bubble.locator('code').innerText()).toBe('code');
    expect(await bubble.locator('img').count()).toBe(0);
    const links = bubble.locator('a');
    await links.first().waitFor();
    expect(
      await links.evaluateAll((all) => all.map((one) => [one.getAttribute('href'), one.getAttribute('rel')])),
    ).toEqual([['https://example.org/a?b=', 'noopener noreferrer nofollow']]);
    await say(phone.page, 'for (;;) {\n  wait();\n}');
    await desktop.page.locator('.theirs pre').waitFor();
    await desktop.page.reload();
    await desktop.page.locator('.theirs pre').waitFor();
    await desktop.page.getByRole('link', { name: 'Search' }).click();
    await desktop.page.getByRole('searchbox').fill('ONERROR');
    await desktop.page.locator('.found mark', { hasText: /^onerror$/ }).waitFor();
    await desktop.page.locator('.found').click();
    await desktop.page.locator('.mine.sought .bubble').waitFor();
    await desktop.page.locator('.mine').getByRole('button', { name: 'More' }).click();
    await desktop.page.getByRole('button', { name: 'Remove' }).click();
    await desktop.page.getByRole('button', { name: 'Remove' }).click();
    await desktop.page.locator('.mine').waitFor({ state: 'detached' });
    await desktop.page.locator('.theirs').waitFor();
    // The item has no mark and is read, so no count is left.
    expect(await phone.page.locator('.count').count()).toBe(0);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('what was said with a device that has left stays in sight, and an only device is asked to add one', async () => {
    const { phone, desktop } = await pair();
    await openThread(phone.page, 'Desktop');
    await say(phone.page, 'keep this');
    await openThread(desktop.page, 'Phone');
    const { page } = desktop;
    const bubble = inThread(page).getByText('keep this');
    await bubble.waitFor();
    await phone.page.goto('about:blank');
    await page.evaluate(async () => {
      const { user, deviceId, name } = JSON.parse(localStorage.getItem('baton-development') ?? '');
      const headers = { 'X-Dev-User': user, 'X-Dev-Device': deviceId, 'X-Dev-Name': name };
      await fetch(`/api/devices/${location.hash.split('/').at(-1)}`, { method: 'DELETE', headers });
    });
    const note = page.locator('.composer-note');
    await note.waitFor();
    for (const size of [DESKTOP, PHONE]) {
      await page.setViewportSize(size);
      const [said, noted] = [await bubble.boundingBox(), await note.boundingBox()];
      const head = await page.locator('.pane-head').boundingBox();
      expect(said?.y).toBeGreaterThan((head?.y ?? NaN) + (head?.height ?? NaN));
      expect((said?.y ?? NaN) + (said?.height ?? NaN)).toBeLessThan(noted?.y ?? NaN);
      expect((noted?.y ?? NaN) + (noted?.height ?? NaN)).toBeCloseTo(size.height, 0);
    }
    await page.setViewportSize(DESKTOP);
    await page.evaluate(() => {
      location.hash = '#/';
    });
    await page.getByRole('heading', { name: 'Add your first device' }).waitFor();
    await page.getByRole('heading', { name: 'Only this device so far' }).waitFor();
    await page.getByText('Former devices').waitFor();
    expect(await page.getByRole('button', { name: 'Send', exact: true }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await keepPicture(page, 'alone-again-1440');
    expect(desktop.reports).toEqual([]);
  });

  test('a message to a device that is away is delivered when it comes back', async () => {
    const { phone, desktop } = await pair();
    await phone.context.setOffline(true);
    await phone.page.getByText('You are offline').waitFor();
    await openThread(desktop.page, 'Phone');
    await say(desktop.page, 'for later');
    await desktop.page.locator('.mark.sent').waitFor();
    await phone.context.setOffline(false);
    await phone.page.locator('.count').waitFor({ timeout: 60_000 });
    await desktop.page.locator('.mark.delivered').waitFor();
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  }, 120_000);

  test('the clipboard passes from one to the other, counts down, and is cleared for both', async () => {
    const { phone, desktop } = await pair();
    await desktop.page.evaluate(() => navigator.clipboard.writeText('copied on the desktop'));
    await desktop.page.getByRole('link', { name: 'Clipboard' }).click();
    await desktop.page.getByRole('button', { name: 'Paste from this device' }).click();
    await phone.page.getByRole('link', { name: 'Clipboard' }).click();
    // The text is hidden until it is touched, in every view.
    const words = inThread(phone.page).getByText('copied on the desktop');
    await inThread(phone.page).getByRole('button', { name: 'show' }).waitFor();
    expect(await words.count()).toBe(0);
    await inThread(phone.page).getByRole('button', { name: 'show' }).click();
    await words.waitFor();
    await phone.page.getByText(/From Desktop · gone in/).waitFor();
    await phone.page.getByLabel('Or type a text').fill('typed on the phone');
    await phone.page.getByRole('button', { name: 'Put in the clipboard' }).click();
    const card = desktop.page.locator('.clipboard-card');
    await card.getByText('Phone copied text').waitFor();
    expect(await card.innerText()).not.toContain('typed on the phone');
    await card.getByRole('button', { name: 'show' }).click();
    await card.getByText('typed on the phone').waitFor();
    await inThread(desktop.page).getByText('typed on the phone').waitFor();
    await card.getByRole('button', { name: 'Copy' }).click();
    await desktop.page.getByText('Copied', { exact: true }).waitFor();
    expect(await desktop.page.evaluate(() => navigator.clipboard.readText())).toBe('typed on the phone');
    await desktop.page.getByRole('button', { name: 'Clear' }).click();
    await phone.page.getByText('The clipboard is empty').waitFor();
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('two tabs show the same over one stream, and the second goes on when the first is closed', async () => {
    const { phone, desktop } = await pair();
    const second = await desktop.context.newPage();
    const asked: string[] = [];
    second.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await second.goto(localUrl(site.two));
    await deviceRow(second, 'Phone').getByText('Online').waitFor();
    // Other locks are held for a moment, such as that of an outbox that is being read.
    const leading = await second.evaluate(async () => {
      const { held = [], pending = [] } = await navigator.locks.query();
      return [held, pending].map((locks) => locks.filter(({ name }) => name?.startsWith('baton-leader-')).length);
    });
    expect(leading).toEqual([1, 1]);
    await openThread(phone.page, 'Desktop');
    await say(phone.page, 'one');
    await openThread(second, 'Phone');
    await inThread(second).getByText('one', { exact: true }).waitFor();
    // The leading tab sends it, at the request of the other one.
    await say(second, 'from the second tab');
    await inThread(phone.page).getByText('from the second tab').waitFor();
    expect(asked).not.toContain('/api/hub/events');
    await desktop.page.close();
    await say(phone.page, 'two');
    await inThread(second).getByText('two', { exact: true }).waitFor();
    await phone.page.locator('.mark.delivered').nth(1).waitFor();
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });
});
