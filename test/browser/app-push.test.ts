import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { type PushSite, startPushSite, tell } from '../push/scene.ts';
import { makeDevice, type TestDevice } from '../support/device.ts';
import type { FakeSubscription } from '../support/fake-push/push-service.ts';
import { type AppPage, localUrl, openApp } from './app-page.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { deliverPush, shownNotification, untilWorker } from './service-worker.ts';

/** The app at its settings. */
interface AtSettings extends AppPage {
  readonly id: string;
  /** Another device of the account. */
  readonly phone: TestDevice;
  /** What the page asked its browser for, in order. */
  readonly asked: readonly { userVisibleOnly: boolean; key: string }[];
  readonly subscriptions: readonly FakeSubscription[];
}

withChromium.describe('notifications of the app', () => {
  let push: PushSite;
  let browser: Browser;
  beforeAll(async () => {
    [push, browser] = await Promise.all([startPushSite({}, { alone: true }), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([push.stop(), browser.close()]));

  /**
   * A browser with a push service: the fake one. Chromium has only Google's. In a context it answers `subscribe` with
   * "permission denied", as the last test has it, whatever was permitted, and with a profile it waits for Google for good.
   */
  async function openSettings(
    permissions: string[] | null,
    pushService: 'own' | 'real' | 'silent' = 'own',
  ): Promise<AtSettings> {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const [asked, subscriptions]: [AtSettings['asked'][number][], FakeSubscription[]] = [[], []];
    const phone = makeDevice({ user, name: 'Phone' });
    await phone.on(push.site.one).call('getMe');
    const app = await openApp(browser, {
      url: 'about:blank#',
      user,
      name: 'Desktop',
      ...(permissions && { permissions }),
    });
    await app.context.exposeFunction('subscribeAtFake', (userVisibleOnly: boolean, key: string) => {
      asked.push({ userVisibleOnly, key });
      const made = push.service.subscribe(key);
      subscriptions.push(made);
      return { endpoint: made.endpoint, keys: made.keys };
    });
    if (pushService === 'silent') {
      await app.context.addInitScript(() => {
        PushManager.prototype.subscribe = () => new Promise(() => {});
      });
    }
    if (pushService === 'own') {
      await app.context.addInitScript(() => {
        PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey } = {}) => {
          const letters = String.fromCharCode(...(applicationServerKey as Uint8Array));
          const key = btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
          const { subscribeAtFake } = window as unknown as { subscribeAtFake: (...said: unknown[]) => Promise<object> };
          const made = await subscribeAtFake(userVisibleOnly, key);
          return { toJSON: () => made } as PushSubscription;
        };
      });
    }
    await app.page.goto(`${localUrl(push.site.one)}/#/settings`);
    await untilWorker(app.page);
    // Looked at when the settings open: the worker may have come after that.
    await app.page.reload();
    const identity = await app.page.evaluate(() => localStorage.getItem('baton-development'));
    const { deviceId: id } = JSON.parse(identity ?? '') as { deviceId: string };
    return { ...app, id, phone, asked, subscriptions };
  }

  const turnOn = (page: Page) => page.getByRole('button', { name: 'Turn on' }).click();
  const listed = async ({ phone }: AtSettings) =>
    (await phone.on(push.site.one).call('listPushSubscriptions')).body.subscriptions;

  test('are turned on, tested, come with what was chosen while the app is closed, and are turned off', async () => {
    const app = await openSettings(['notifications']);
    const { page, id, phone } = app;
    await page.getByLabel('Who sent it', { exact: true }).check();
    await turnOn(page);
    await page.getByText('Notifications are on.').waitFor();
    const { vapid_public_key: key } = (await phone.on(push.site.one).call('getPushConfig')).body;
    expect(app.asked).toEqual([{ userVisibleOnly: true, key }]);
    expect(await listed(app)).toMatchObject([{ device_id: id, platform: 'web', state: 'active' }]);

    await page.getByRole('button', { name: 'Send a test' }).click();
    const [first] = app.subscriptions;
    const [test] = await push.service.received(1, first);
    expect(test?.payload).toMatchObject({ type: 'test' });
    // From here on it is the browser's push service that hands it to the worker.
    await deliverPush(app, localUrl(push.site.one), test?.payload ?? {});
    expect(await shownNotification(page)).toEqual({ title: 'Baton', body: 'Notifications work.', path: '/#/settings' });

    await page.goto('about:blank');
    await tell(phone, { id }, push.site.one);
    const [, message] = await push.service.received(2, first);
    expect(message?.payload).toMatchObject({ type: 'message', count: 1, from: 'Phone' });
    expect(message?.payload).not.toHaveProperty('text');

    await page.goto(`${localUrl(push.site.one)}/#/settings`);
    await turnOn(page);
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(await listed(app)).toEqual([]);
    expect(push.service.complaints).toEqual([]);
    expect(app.reports).toEqual([]);
  });

  test('are not turned on when the person does not permit them, and the settings say how to', async () => {
    const app = await openSettings(null);
    await turnOn(app.page);
    await app.page.getByText('This browser blocks notifications of this page').waitFor();
    expect(app.asked).toEqual([]);
    expect(await listed(app)).toEqual([]);
    expect(app.reports).toEqual([]);
  });

  test('are waited for, and the settings say so, while the push service does not answer', async () => {
    const { page, reports } = await openSettings(['notifications'], 'silent');
    await turnOn(page);
    await page.getByText('Waiting for this browser and its push service').waitFor();
    expect(await page.getByRole('button', { name: 'Turn on' }).isDisabled()).toBe(true);
    expect(reports).toEqual([]);
  });

  test('stay off, with a word why, in a browser that reaches no push service', async () => {
    const app = await openSettings(['notifications'], 'real');
    await turnOn(app.page);
    await app.page.locator('.notice').waitFor();
    await app.page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(await listed(app)).toEqual([]);
    expect(app.reports).toEqual([]);
  });
});
