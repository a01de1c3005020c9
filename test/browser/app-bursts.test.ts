import type { Browser, Page } from 'playwright-core';
import { makeDevice, type TestDevice } from '../support/device.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, deviceRow, localUrl, openApp, openThread, inThread } from './app-page.ts';
import { keepMessages, openTwo, randomUser, shownTexts } from './app-two.ts';
import { launchChromium, withChromium } from './chromium.ts';

const SHOWN_WITHIN = { timeout: 60_000 };

withChromium.describe('many messages at once in an open thread', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  /** Opens the app as Desktop in the thread of Robot, which has already said this much. */
  async function open(before: number): Promise<{ app: AppPage; robot: TestDevice }> {
    const user = randomUser();
    const robot = makeDevice({ user, name: 'Robot' });
    await robot.on(site.one).call('getMe');
    const app = await openApp(browser, { url: localUrl(site.two), user, name: 'Desktop' });
    await deviceRow(app.page, 'Robot').waitFor();
    await openThread(app.page, 'Robot');
    if (before > 0) {
      await burst(robot, 0, before);
      await settled(app.page, before);
    }
    return { app, robot };
  }

  /** Sends messages `from` up to `end`, excluding `end`, in their order and as fast as the service takes them. */
  async function burst(robot: TestDevice, from: number, end: number): Promise<void> {
    for (let i = from; i < end; i += 1) {
      await robot.on(site.one).call('sendMessage', { body: { to: 'Desktop', content: `number ${i}.` } });
    }
  }

  const kept = (page: Page): Promise<number> =>
    page.evaluate(async () => {
      const name = (await indexedDB.databases()).find((one) => one.name?.startsWith('baton-user-'))?.name ?? '';
      return new Promise<number>((resolve) => {
        indexedDB.open(name).onsuccess = ({ target }) => {
          const database = (target as IDBOpenDBRequest).result;
          database.transaction('items').objectStore('items').count().onsuccess = (event) => {
            database.close();
            resolve((event.target as IDBRequest<number>).result);
          };
        };
      });
    });

  const numbers = (page: Page): Promise<number[]> =>
    page
      .locator('.item .bubble')
      .evaluateAll((all) => all.map((one) => Number(/number (\d+)\./.exec(one.textContent ?? '')?.[1])));

  /** Waits until everything has come and the newest message is shown. */
  async function settled(page: Page, count: number): Promise<void> {
    await inThread(page)
      .getByText(`number ${count - 1}.`, { exact: true })
      .waitFor(SHOWN_WITHIN);
    await until(
      () => kept(page),
      (all) => all === count,
      `${count} messages are kept`,
    );
  }

  const row = (from: number, end: number): number[] => Array.from({ length: end - from }, (_, i) => from + i);

  /** Expects that the shown rows have no hole, and that "Show older" fills them up to the first. */
  async function expectWhole(page: Page, count: number): Promise<void> {
    const older = page.getByRole('button', { name: 'Show older' });
    for (;;) {
      const shown = await numbers(page);
      expect(shown).toEqual(row(count - shown.length, count));
      if (!(await older.isVisible())) break;
      await older.click();
      await page.locator('.item', { hasText: `number ${(shown[0] as number) - 1}.` }).waitFor();
    }
    expect(await numbers(page)).toEqual(row(0, count));
  }

  test.each([130, 300])(
    '%d messages come while the newest are in sight: none is missing, and the end is seen',
    async (many) => {
      const { app, robot } = await open(0);
      await burst(robot, 0, many);
      await settled(app.page, many);
      const fromEnd = await app.page
        .locator('.items-box')
        .evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
      expect(fromEnd).toBeLessThan(2);
      await expectWhole(app.page, many);
      expect(app.reports).toEqual([]);
    },
    240_000,
  );

  test('130 messages come while somebody reads above: what is read stays where it is, and none is missing', async () => {
    const { app, robot } = await open(100);
    const { page } = app;
    const read = page.locator('.item', { hasText: 'number 50.' });
    await read.evaluate((item) => item.scrollIntoView({ block: 'start' }));
    const top = async () => Math.round((await read.boundingBox())?.y ?? -1);
    const before = await top();
    await burst(robot, 100, 230);
    await inThread(page)
      .getByText('number 229.', { exact: true })
      .waitFor({ ...SHOWN_WITHIN, state: 'attached' });
    expect(await top()).toBe(before);
    await page.getByRole('button', { name: '130 new' }).click();
    // A reader at the newest message stays there when something grows, like a picture that has loaded.
    const isAtEnd = () => {
      const box = document.querySelector('.items-box');
      return box !== null && box.scrollHeight - box.scrollTop - box.clientHeight < 2;
    };
    await page.waitForFunction(isAtEnd);
    await page
      .locator('.bubble')
      .last()
      .evaluate((bubble) => {
        bubble.style.minBlockSize = '300px';
      });
    await page.waitForFunction(isAtEnd);
    await expectWhole(page, 230);
    expect(app.reports).toEqual([]);
  }, 240_000);

  test('older messages are asked for while new ones come: nothing is missing, and what was read stays in sight', async () => {
    const { app, robot } = await open(200);
    const { page } = app;
    await page.reload();
    await inThread(page).getByText('number 199.', { exact: true }).waitFor();
    const sending = burst(robot, 200, 300);
    await page.locator('.items-box').evaluate((box) => box.scrollTo(0, 0));
    const [first] = await numbers(page);
    const read = page.locator('.item', { hasText: `number ${first}.` });
    const before = Math.round((await read.boundingBox())?.y ?? -1);
    await page.getByRole('button', { name: 'Show older' }).click();
    await page.locator('.item', { hasText: `number ${(first as number) - 1}.` }).waitFor();
    expect(Math.abs(Math.round((await read.boundingBox())?.y ?? -1) - before)).toBeLessThan(40);
    await sending;
    await inThread(page)
      .getByText('number 299.', { exact: true })
      .waitFor({ ...SHOWN_WITHIN, state: 'attached' });
    await expectWhole(page, 300);
    expect(app.reports).toEqual([]);
  }, 240_000);

  test('messages of one and the same millisecond are all there, over the pages too', async () => {
    const { user, desktop } = await openTwo(browser, site);
    const texts = row(0, 200).map((i) => `number ${i}.`);
    await keepMessages(desktop.page, user, texts, Date.now());
    expect((await shownTexts(desktop.page)).length).toBeGreaterThanOrEqual(60);
    await expectWhole(desktop.page, 200);
  });

  test('a message that was found by its words is shown, however many came after it', async () => {
    const { user, desktop } = await openTwo(browser, site);
    const { page } = desktop;
    await keepMessages(
      page,
      user,
      row(0, 200).map((i) => `number ${i}.`),
    );
    await page.getByRole('link', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('number 7.');
    await page.locator('.found').click();
    await inThread(page).getByText('number 7.', { exact: true }).waitFor();
    expect(await inThread(page).getByText('number 7.', { exact: true }).isVisible()).toBe(true);
    await expectWhole(page, 200);
  });

  test('rows that left the page are not kept in memory', async () => {
    const { app, robot } = await open(0);
    const session = await app.context.newCDPSession(app.page);
    await session.send('Performance.enable');
    const nodes = async (): Promise<number> => {
      await session.send('HeapProfiler.collectGarbage');
      const { metrics } = await session.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'Nodes')?.value ?? NaN;
    };
    let acknowledged = 0;
    app.page.on('response', (answer) => {
      if (!answer.url().endsWith('/api/message/ack')) return;
      const { message_ids } = answer.request().postDataJSON() as { message_ids: string[] };
      acknowledged += message_ids.length;
    });
    const arrive = async (from: number, end: number): Promise<void> => {
      for (let next = from; next < end; next += 60) {
        await burst(robot, next, next + 60);
        await settled(app.page, next + 60);
        // A mailbox has room for 500 messages.
        await until(
          async () => acknowledged,
          (all) => all >= next + 60,
          'the mailbox is empty',
        );
      }
    };
    await arrive(0, 240);
    const shown = await nodes();
    await arrive(240, 900);
    // The page shows no more than before, give or take a page of items.
    expect(await nodes()).toBeLessThan(2 * shown);
  }, 240_000);
});
