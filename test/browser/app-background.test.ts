import type { Browser, Page } from 'playwright-core';
import { type PushSite, startPushSite } from '../push/scene.ts';
import { accept, chooseFiles, deviceRow, localUrl, openApp, openThread, say, type AppPage } from './app-page.ts';
import { launchWholeChromium, withChromium } from './chromium.ts';
import { type AtSettings, openSettings, turnOn } from './push-page.ts';
import { deliverPush } from './service-worker.ts';

interface Shown {
  title: string;
  body: string;
  tag: string;
  renotify: boolean;
  silent: boolean | null;
}

withChromium.describe('the app in a tab that nobody looks at', () => {
  let push: PushSite;
  let browser: Browser;
  beforeAll(async () => {
    [push, browser] = await Promise.all([startPushSite({}, { alone: true }), launchWholeChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([push.stop(), browser.close()]));

  /** Opens the app with notifications that show this much, and a phone in the app of another browser. */
  async function open(preview: string): Promise<{ desktop: AtSettings; phone: AppPage }> {
    const desktop = await openSettings(browser, push, ['notifications']);
    await desktop.page.getByLabel(preview, { exact: true }).check();
    await turnOn(desktop.page);
    await desktop.page.getByText('Notifications are on.').waitFor();
    const phone = await openApp(browser, { url: localUrl(push.site.one), user: desktop.user, name: 'Pixel' });
    await deviceRow(phone.page, 'Desktop').waitFor();
    await openThread(phone.page, 'Desktop');
    return { desktop, phone };
  }

  /** Sets what a page believes: a browser without windows shows every page. */
  const see = (page: Page, state: 'visible' | 'hidden') =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, state);

  /** Puts another tab before the app. The page and its worker hear of it. */
  async function cover({ context, page }: AppPage, other?: Page): Promise<void> {
    const front = other ?? (await context.newPage());
    // Playwright lets each page believe that it has the focus.
    for (const one of [page, front]) {
      const session = await context.newCDPSession(one);
      await session.send('Emulation.setFocusEmulationEnabled', { enabled: false });
    }
    await front.bringToFront();
    await page.waitForFunction(() => !document.hasFocus());
    await see(page, 'hidden');
  }

  async function comeBack({ page }: AppPage): Promise<void> {
    await page.bringToFront();
    await page.waitForFunction(() => document.hasFocus());
    await see(page, 'visible');
  }

  /** Resolves to what is shown, once the texts are these. */
  const shown = ({ page }: AppPage, ...bodies: string[]): Promise<Shown[]> =>
    page.evaluate(async (wanted) => {
      const registration = await navigator.serviceWorker.ready;
      for (;;) {
        const all = await navigator.locks.request('baton-notifications', () => registration.getNotifications());
        if (JSON.stringify(all.map(({ body }) => body).sort()) === JSON.stringify(wanted)) {
          return all.map((one) => {
            const { title, body, tag, renotify, silent } = one as Notification & { renotify: boolean };
            return { title, body, tag, renotify, silent };
          });
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }, bodies.sort());

  const unread = ({ page }: AppPage, count: string) =>
    deviceRow(page, 'Pixel').locator('.count', { hasText: count }).waitFor();

  test('tells of messages, with the text if that was chosen, once, and a late push of the same is silent', async () => {
    const { desktop, phone } = await open('Who sent it, and the text');
    await say(phone.page, 'seen at once');
    await unread(desktop, '1');
    await cover(desktop);
    // The page may have let go of the body of a response before a test reads it.
    const accepted = new Promise<string>((resolve) => {
      void phone.page.route('**/api/message', async (route) => {
        const response = await route.fetch();
        resolve(((await response.json()) as { message_id: string }).message_id);
        await route.fulfill({ response });
      });
    });
    await say(phone.page, 'look at this');
    const id = await accepted;
    expect(await shown(desktop, 'look at this')).toEqual([
      { title: 'Pixel', body: 'look at this', tag: 'message Pixel', renotify: true, silent: false },
    ]);
    await deliverPush(desktop, localUrl(push.site.one), {
      v: 1,
      type: 'message',
      count: 1,
      id,
      from: 'Pixel',
      text: 'again',
    });
    expect(await shown(desktop, 'again')).toMatchObject([{ renotify: false, silent: true }]);
    expect(desktop.reports).toEqual([]);
  });

  test('counts what came in the background, and tells neither who nor what if that was chosen', async () => {
    const { desktop, phone } = await open('Only that something arrived');
    await say(phone.page, 'seen at once');
    await unread(desktop, '1');
    await cover(desktop);
    await say(phone.page, 'one');
    await shown(desktop, 'A new message');
    await say(phone.page, 'two');
    expect(await shown(desktop, '2 new messages')).toMatchObject([{ title: 'Baton', tag: 'message' }]);
  });

  test('tells nothing while another tab of the app is in front, and once when none is', async () => {
    const { desktop, phone } = await open('Who sent it');
    const second = await desktop.context.newPage();
    await second.goto(localUrl(push.site.one));
    await deviceRow(second, 'Pixel').waitFor();
    await cover(desktop, second);
    await say(phone.page, 'seen in the second tab');
    await unread({ ...desktop, page: second }, '1');
    await cover({ ...desktop, page: second });
    await say(phone.page, 'seen in none');
    expect(await shown(desktop, 'A new message')).toMatchObject([{ title: 'Pixel' }]);
  });

  test('tells of an offer, and of files that arrive, until somebody comes back', async () => {
    const { desktop, phone } = await open('Who sent it');
    await cover(desktop);
    const file = (name: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) });
    await chooseFiles(phone.page, file('first.txt'));
    await shown(desktop, 'Somebody wants to send you a file');
    await comeBack(desktop);
    await deviceRow(desktop.page, 'Pixel').click();
    await shown(desktop);
    await desktop.page.getByLabel('Always accept from this device').check();
    await accept(desktop.page);
    await desktop.page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    await cover(desktop);
    await chooseFiles(phone.page, [file('second.txt'), file('third.txt')]);
    expect(await shown(desktop, '2 files arrived')).toMatchObject([{ title: 'Pixel', tag: 'arrived Pixel' }]);
    await comeBack(desktop);
    await shown(desktop);
    expect(desktop.reports).toEqual([]);
  });

  test('tells nothing if notifications were turned off', async () => {
    const { desktop, phone } = await open('Who sent it');
    await desktop.page.getByRole('button', { name: 'Turn off' }).click();
    await desktop.page.getByRole('button', { name: 'Turn on' }).waitFor();
    await cover(desktop);
    await say(phone.page, 'not told');
    await unread(desktop, '1');
    await comeBack(desktop);
    await turnOn(desktop.page);
    await desktop.page.getByText('Notifications are on.').waitFor();
    await cover(desktop);
    await say(phone.page, 'told');
    expect(await shown(desktop, 'A new message')).toHaveLength(1);
  });
});
