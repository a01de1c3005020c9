import type { Browser, Page } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, deviceRow, localUrl, openThread, say } from './app-page.ts';
import { openTwo, shownTexts } from './app-two.ts';
import { launchChromium, withChromium } from './chromium.ts';

withChromium.describe('a tab that the browser has frozen', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  /** Opens a second tab of the app, while the first one leads, and the thread of the phone in it. */
  async function openSecond({ context }: AppPage): Promise<Page> {
    const second = await context.newPage();
    await second.goto(localUrl(site.two));
    await deviceRow(second, 'Phone').waitFor();
    await openThread(second, 'Phone');
    return second;
  }

  /**
   * Stops everything in a page, as a browser does with one that it freezes: what comes meanwhile is done afterwards. (Browsers
   * without windows freeze no page.) It waits until the page has no transaction open, because a browser freezes none in the
   * middle of one. The returned function lets it go on.
   */
  async function freeze({ context }: AppPage, page: Page): Promise<() => Promise<void>> {
    const session = await context.newCDPSession(page);
    await session.send('Debugger.enable');
    const isPaused = new Promise((resolve) => session.once('Debugger.paused', resolve));
    await page.evaluate(async () => {
      let open = 0;
      const begin = IDBDatabase.prototype.transaction;
      IDBDatabase.prototype.transaction = function (...given: Parameters<typeof begin>) {
        const transaction = begin.apply(this, given);
        open += 1;
        const end = () => {
          open -= 1;
        };
        transaction.addEventListener('complete', end);
        transaction.addEventListener('abort', end);
        return transaction;
      };
      // These transactions end after all that began before them.
      for (const { name = '' } of await indexedDB.databases()) {
        const database = await new Promise<IDBDatabase>((resolve) => {
          indexedDB.open(name).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
        });
        const transaction = begin.call(database, [...database.objectStoreNames], 'readwrite');
        await new Promise((resolve) => {
          transaction.oncomplete = resolve;
        });
        database.close();
      }
      const stop = () => {
        if (open > 0) return setTimeout(stop, 10);
        // oxlint-disable-next-line no-debugger -- it stops the page
        debugger;
        return null;
      };
      setTimeout(stop);
    });
    await isPaused;
    return async () => {
      await session.send('Debugger.disable');
    };
  }

  const untilTexts = (page: Page, texts: readonly string[]) =>
    page.waitForFunction(
      (wanted) => {
        const bubbles = [...document.querySelectorAll('.item .bubble')].map((bubble) => {
          const copy = bubble.cloneNode(true) as Element;
          copy.querySelector('.item-foot')?.remove();
          return copy.textContent ?? '';
        });
        return JSON.stringify(bubbles) === JSON.stringify(wanted);
      },
      texts,
      { polling: 50, timeout: 40_000 },
    );

  test('does not keep the others from leading, and steps back when it moves again', async () => {
    const { phone, desktop } = await openTwo(browser, site);
    await openThread(desktop.page, 'Phone');
    await openThread(phone.page, 'Desktop');
    const second = await openSecond(desktop);
    const thaw = await freeze(desktop, desktop.page);
    await say(phone.page, 'while it is frozen');
    await untilTexts(second, ['while it is frozen']);
    await phone.page.locator('.mark.delivered').waitFor();
    await say(second, 'from the second');
    await untilTexts(phone.page, ['while it is frozen', 'from the second']);

    await thaw();
    await say(phone.page, 'after it');
    const all = ['while it is frozen', 'from the second', 'after it'];
    await untilTexts(desktop.page, all);
    await untilTexts(second, all);
    await say(desktop.page, 'from the first');
    await untilTexts(phone.page, [...all, 'from the first']);
    // The second still leads: when it is closed, the first does again.
    await second.close();
    await say(phone.page, 'in the end');
    await untilTexts(desktop.page, [...all, 'from the first', 'in the end']);
    expect(await shownTexts(phone.page)).toEqual([...all, 'from the first', 'in the end']);
    expect(desktop.reports).toEqual([]);
  });

  test('in the middle of sending, does not block what another tab sends, and nothing is sent twice', async () => {
    const { phone, desktop } = await openTwo(browser, site);
    await openThread(phone.page, 'Desktop');
    await openThread(desktop.page, 'Phone');
    const second = await openSecond(desktop);
    let go = (): void => {};
    const isHeld = new Promise<void>((resolve) => {
      void desktop.page.route(
        '**/api/message',
        async (route) => {
          const until = new Promise<void>((free) => {
            go = free;
          });
          resolve();
          await until;
          await route.continue();
        },
        { times: 1 },
      );
    });
    await say(desktop.page, 'one');
    await isHeld;
    await untilTexts(second, ['one']);
    const thaw = await freeze(desktop, desktop.page);
    await say(second, 'two');
    await untilTexts(phone.page, ['one', 'two']);
    go();
    await thaw();
    await say(desktop.page, 'three');
    await untilTexts(phone.page, ['one', 'two', 'three']);
    await untilTexts(desktop.page, ['one', 'two', 'three']);
    expect(await desktop.page.locator('.mark.failed').count()).toBe(0);
    expect(desktop.reports).toEqual([]);
  });

  test('that only is busy for long steps back too', async () => {
    const { phone, desktop } = await openTwo(browser, site);
    await openThread(phone.page, 'Desktop');
    const second = await openSecond(desktop);
    const began = performance.now();
    await desktop.page.evaluate(() => {
      setTimeout(() => {
        const end = performance.now() + 20_000;
        while (performance.now() < end);
      });
    });
    await say(phone.page, 'while it is busy');
    await untilTexts(second, ['while it is busy']);
    expect(performance.now() - began).toBeLessThan(20_000);
    await phone.page.locator('.mark.delivered').waitFor();
    await openThread(desktop.page, 'Phone');
    await untilTexts(desktop.page, ['while it is busy']);
    await say(phone.page, 'after it');
    await untilTexts(desktop.page, ['while it is busy', 'after it']);
    await untilTexts(second, ['while it is busy', 'after it']);
    expect(desktop.reports).toEqual([]);
  });
});
