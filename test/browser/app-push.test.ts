import type { Browser } from 'playwright-core';
import { type PushSite, startPushSite, tell } from '../push/scene.ts';
import type { FakeSubscription } from '../support/fake-push/push-service.ts';
import { localUrl } from './app-page.ts';
import { launchWholeChromium, withChromium } from './chromium.ts';
import { type AtSettings, listed, openSettings, turnOn } from './push-page.ts';
import { deliverPush, shownNotification } from './service-worker.ts';

withChromium.describe('notifications of the app', () => {
  let push: PushSite;
  let browser: Browser;
  beforeAll(async () => {
    [push, browser] = await Promise.all([startPushSite({}, { alone: true }), launchWholeChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([push.stop(), browser.close()]));

  const open = (permissions: string[] | null, pushService: 'own' | 'real' | 'silent' = 'own') =>
    openSettings(browser, push, permissions, pushService);

  test('are turned on, tested, come with what was chosen while the app is closed, and are turned off', async () => {
    const app = await open(['notifications']);
    const { page, id, phone } = app;
    await page.getByLabel('Who sent it', { exact: true }).check();
    await turnOn(page);
    await page.getByText('Notifications are on.').waitFor();
    const { vapid_public_key: key } = (await phone.on(push.site.one).call('getPushConfig')).body;
    expect(app.asked).toEqual([{ userVisibleOnly: true, key }]);
    expect(await listed(push, app)).toMatchObject([{ device_id: id, platform: 'web', state: 'active' }]);

    await page.getByRole('button', { name: 'Send a test' }).click();
    const [first] = app.subscriptions;
    const [test] = await push.service.received(1, first);
    expect(test?.payload).toMatchObject({ type: 'test' });
    // From here on the browser's push service would hand it to the worker, which the test does instead.
    await deliverPush(app, localUrl(push.site.one), test?.payload ?? {});
    expect(await shownNotification(page)).toEqual({ title: 'Baton', body: 'Notifications work.', path: '/#/settings' });

    await page.goto('about:blank');
    await tell(phone, { id }, push.site.one);
    const [, message] = await push.service.received(2, first);
    expect(message?.payload).toMatchObject({ type: 'message', count: 1, from: 'Phone' });
    expect(message?.payload).not.toHaveProperty('text');

    await page.goto(`${localUrl(push.site.one)}/#/settings`);
    await page.getByText('Notifications are on.').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(await listed(push, app)).toEqual([]);
    expect(app.browserHas.now).toBeNull();
    await page.reload();
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(app.asked).toHaveLength(1);
    expect(push.service.complaints).toEqual([]);
    expect(app.reports).toEqual([]);
  });

  /** Makes the browser replace its subscription while no page is open, and tell the worker. */
  async function replaceInWorker(app: AtSettings, made: FakeSubscription): Promise<void> {
    const [worker] = app.context.serviceWorkers();
    await worker?.evaluate(
      async ({ endpoint, keys }) => {
        const subscription = { endpoint, toJSON: () => ({ endpoint, keys }) } as unknown as PushSubscription;
        PushManager.prototype.getSubscription = async () => null;
        PushManager.prototype.subscribe = async () => subscription;
        let done: unknown;
        const event = Object.assign(new Event('pushsubscriptionchange'), {
          waitUntil: (work: unknown) => {
            done = work;
          },
        });
        self.dispatchEvent(event);
        await done;
      },
      { endpoint: made.endpoint, keys: made.keys },
    );
  }

  test('go on when the browser replaces its subscription while the app is closed', async () => {
    const app = await open(['notifications']);
    await app.page.getByLabel('Who sent it', { exact: true }).check();
    await turnOn(app.page);
    await app.page.getByText('Notifications are on.').waitFor();
    // The worker needs a page to live, so this opens one of its address without the app.
    await app.page.goto(`${localUrl(push.site.one)}/api/docs`);
    const key = (await app.phone.on(push.site.one).call('getPushConfig')).body.vapid_public_key ?? '';
    const made = { ...push.service.subscribe(key), key };
    await replaceInWorker(app, made);
    app.browserHas.now = made;
    await tell(app.phone, app, push.site.one);
    const [message] = await push.service.received(1, made);
    expect(message?.payload).toMatchObject({ type: 'message', from: 'Phone' });
    expect(await listed(push, app)).toHaveLength(1);
    // At the next start the app finds that browser and service have the same subscription.
    await app.page.goto(`${localUrl(push.site.one)}/#/settings`);
    await app.page.getByText('Notifications are on.').waitFor();
    expect(app.browserHas.now).toBe(made);
    expect(app.asked).toHaveLength(1);
  });

  test('are mended by the next start when the worker could not tell the service', async () => {
    const app = await open(['notifications']);
    await turnOn(app.page);
    await app.page.getByText('Notifications are on.').waitFor();
    await app.page.goto(`${localUrl(push.site.one)}/api/docs`);
    const key = (await app.phone.on(push.site.one).call('getPushConfig')).body.vapid_public_key ?? '';
    const made = { ...push.service.subscribe(key), key };
    await app.context.serviceWorkers()[0]?.evaluate(() => {
      self.fetch = () => Promise.reject(new TypeError('Failed to fetch'));
    });
    await replaceInWorker(app, made);
    app.browserHas.now = made;
    await app.page.goto(`${localUrl(push.site.one)}/#/settings`);
    await app.page.getByText('Notifications are on.').waitFor();
    await app.page.getByRole('button', { name: 'Send a test' }).click();
    expect((await push.service.received(1, made))[0]?.payload).toMatchObject({ type: 'test' });
  });

  test('are not turned on when the person does not permit them, and the settings say how to', async () => {
    const app = await open(null);
    await turnOn(app.page);
    await app.page.getByText('This browser blocks notifications from Baton').waitFor();
    expect(app.asked).toEqual([]);
    expect(await listed(push, app)).toEqual([]);
    expect(app.reports).toEqual([]);
  });

  test('are waited for, and the settings say so, while the push service does not answer', async () => {
    const { page, reports } = await open(['notifications'], 'silent');
    await turnOn(page);
    await page.getByText('Waiting for this browser and its push service').waitFor();
    expect(await page.getByRole('button', { name: 'Turn on' }).isDisabled()).toBe(true);
    expect(reports).toEqual([]);
  });

  test('stay off, with a word why, in a browser that reaches no push service', async () => {
    const app = await open(['notifications'], 'real');
    await turnOn(app.page);
    await app.page.locator('.notice').waitFor();
    await app.page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(await listed(push, app)).toEqual([]);
    expect(app.reports).toEqual([]);
  });
});
