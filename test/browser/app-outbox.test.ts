import type { Browser, Page } from 'playwright-core';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { type AppPage, deviceRow, localUrl, openApp, openThread, say, inThread } from './app-page.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { startFaultyWay } from './faulty-way.ts';
import { untilWorker } from './service-worker.ts';

const MESSAGE = '/api/message';
const WITHIN = { timeout: 60_000 };

/** Moves the first attempt of everything that waits this far into the past. */
const age = (page: Page, user: string, ms: number): Promise<void> =>
  page.evaluate(
    async ([account, by]) => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        indexedDB.open(`baton-${account}`).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
      });
      const transaction = database.transaction('settings', 'readwrite');
      const settings = transaction.objectStore('settings');
      settings.get('sealed-outbox').onsuccess = ({ target }) => {
        const waiting = (target as IDBRequest<{ unknownSince: number | null }[]>).result;
        settings.put(
          waiting.map((one) => ({ ...one, unknownSince: one.unknownSince === null ? null : one.unknownSince - by })),
          'sealed-outbox',
        );
      };
      await new Promise((resolve) => {
        transaction.oncomplete = resolve;
      });
      database.close();
    },
    [user, ms] as const,
  );

withChromium.describe('what is written in the app waits until the service takes it', () => {
  let redis: OwnRedis;
  let one: ReplicaProcess;
  let browser: Browser;
  const prefix = randomPrefix();
  const start = () => startReplica({ redisUrl: redis.url, keyPrefix: prefix });
  beforeAll(async () => {
    [redis, browser] = await Promise.all([startOwnRedis(), launchChromium()]);
    one = await start();
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await Promise.all([stopReplicas(), browser.close()]);
    await redis.stop();
  });

  /**
   * Opens the app with the thread of a phone that takes nothing from its mailbox, so that everything that came lies
   * there.
   */
  async function scene(url = localUrl(one)): Promise<AppPage & { user: string; phone: TestDevice }> {
    const user = randomUser();
    const phone = makeDevice({ user, name: 'Phone' });
    await phone.on(one).call('getMe');
    const app = await openApp(browser, { url, user, name: 'Desktop' });
    await openThread(app.page, 'Phone');
    return { ...app, user, phone };
  }

  const arrived = async (phone: TestDevice, replica = one): Promise<string[]> =>
    (await phone.on(replica).call('listMessages')).body.messages.map(({ content }) => content);

  const sent = (page: Page, count: number): Promise<void> =>
    page
      .locator('.mark.sent, .mark.delivered')
      .nth(count - 1)
      .waitFor(WITHIN);

  test('messages written offline wait beside their reason, survive a reload, and arrive once each in their order', async () => {
    const { page, context, phone, reports } = await scene();
    await untilWorker(page);
    await context.setOffline(true);
    await say(page, 'one');
    await page.getByText('Waits until you are online.').waitFor();
    await say(page, 'two');
    await page.getByText('Waits until you are online.').nth(1).waitFor();
    await page.reload();
    await page.getByText('Waits until you are online.').nth(1).waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.locator('.composer textarea').waitFor();
    await say(other, 'three');
    await other.getByText('Waits until you are online.').nth(2).waitFor();
    expect(await arrived(phone)).toEqual([]);
    await context.setOffline(false);
    await Promise.all([sent(page, 3), sent(other, 3)]);
    expect(await arrived(phone)).toEqual(['one', 'two', 'three']);
    expect(await page.locator('.mine .bubble p').allInnerTexts()).toEqual(['one', 'two', 'three']);
    expect(reports).toEqual([]);
  }, 180_000);

  test('a tab that is closed leaves what waits to the one that is open', async () => {
    const { page, context, phone } = await scene();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.locator('.composer textarea').waitFor();
    await context.setOffline(true);
    await say(page, 'of a closed tab');
    await other.getByText('Waits until you are online.').waitFor();
    await page.close();
    await context.setOffline(false);
    await sent(other, 1);
    expect(await arrived(phone)).toEqual(['of a closed tab']);
  }, 180_000);

  test('while the store stands still messages wait, say that it is the store, and arrive in their order', async () => {
    const { page, phone } = await scene();
    await say(page, 'before');
    await sent(page, 1);
    redis.pause();
    try {
      for (const text of ['1', '2', '3']) await say(page, text);
      await page.getByText('Waits: the service cannot reach its store.').nth(2).waitFor(WITHIN);
      expect(await page.getByText(/sign-in/i).count()).toBe(0);
    } finally {
      redis.resume();
    }
    await sent(page, 4);
    expect(await arrived(phone)).toEqual(['before', '1', '2', '3']);
  }, 180_000);

  test('a message whose answer is lost is repeated with its key, and arrives once', async () => {
    const way = await startFaultyWay(one);
    try {
      const { page, phone } = await scene(way.url);
      // That is more often than the library repeats a call by itself.
      let losses = 4;
      way.fail(MESSAGE, 'lost', () => {
        losses -= 1;
        if (losses === 0) way.fail(MESSAGE, 'passed');
      });
      await say(page, 'once');
      await say(page, 'and behind it');
      await sent(page, 2);
      expect(await arrived(phone)).toEqual(['once', 'and behind it']);
      expect(way.made.map(({ status }) => status < 300)).toEqual([false, false, false, false, true, true]);
      const keys = way.made.map(({ key }) => key);
      expect([new Set(keys.slice(0, 5)).size, new Set(keys).size]).toEqual([1, 2]);
    } finally {
      await way.stop();
    }
  }, 180_000);

  test('a replica that is killed with a message in its hands loses none and doubles none', async () => {
    const [doomed, way] = await Promise.all([start(), startFaultyWay(one)]);
    way.lead(doomed);
    try {
      const { page, phone } = await scene(way.url);
      way.fail(MESSAGE, 'lost', () => {
        way.fail(MESSAGE, 'passed');
        way.lead(one);
        void doomed.kill();
      });
      for (const text of ['1', '2', '3']) await say(page, text);
      await sent(page, 3);
      expect(await arrived(phone)).toEqual(['1', '2', '3']);
    } finally {
      await way.stop();
    }
  }, 180_000);

  test('what may have arrived ten minutes ago is not repeated by itself: a person decides', async () => {
    const way = await startFaultyWay(one);
    try {
      const { page, user, phone } = await scene(way.url);
      way.fail(MESSAGE, 'lost', () => way.fail(MESSAGE, 'refused'));
      await say(page, 'maybe');
      await say(page, 'for sure');
      await page.getByText('Waits: the service cannot be reached.').nth(1).waitFor(WITHIN);
      await page.goto('about:blank');
      await page.goto(`${way.url}/favicon.ico`);
      await age(page, user, 10 * 60_000);
      way.fail(MESSAGE, 'passed');
      await page.goto(way.url);
      await deviceRow(page, 'Phone').click();
      await page.locator('.mark.failed', { hasText: 'Maybe sent' }).waitFor(WITHIN);
      await sent(page, 1);
      expect(await arrived(phone)).toEqual(['maybe', 'for sure']);
      await page.getByRole('button', { name: 'Send again' }).click();
      await sent(page, 2);
      expect(await arrived(phone)).toEqual(['maybe', 'for sure', 'maybe']);
    } finally {
      await way.stop();
    }
  }, 180_000);

  test('what the service refuses for good says why, holds up nothing, and can be removed', async () => {
    const { page, context, user, phone } = await scene();
    const tablet = makeDevice({ user, name: 'Tablet' });
    await tablet.on(one).call('getMe');
    await deviceRow(page, 'Tablet').waitFor();
    await context.setOffline(true);
    await say(page, 'to nobody');
    await openThread(page, 'Tablet');
    await say(page, 'to the tablet');
    await page.getByText('Waits until you are online.').waitFor();
    await tablet.on(one).call('removeDevice', { params: { device_id: phone.id } });
    await context.setOffline(false);
    await sent(page, 1);
    expect(await arrived(tablet)).toEqual(['to the tablet']);
    // The group shows it even while it is closed.
    await page.locator('summary', { hasText: 'Former devices' }).getByText('Not sent').waitFor(WITHIN);
    await page.getByText('Former devices').click();
    await deviceRow(page, 'Phone').getByText('Not sent').waitFor();
    await deviceRow(page, 'Phone').click();
    await page.locator('.mark.failed', { hasText: 'Not sent' }).waitFor(WITHIN);
    await page.getByText('It no longer exists.').waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await inThread(page).getByText('to nobody').waitFor({ state: 'detached' });
  }, 180_000);
});
