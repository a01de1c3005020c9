import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { type PushSite, startPushSite, tell } from '../push/scene.ts';
import { makeDevice } from '../support/device.ts';
import { until } from '../support/redis/redis-processes.ts';
import { localUrl } from './app-page.ts';
import { launchWholeChromium, withChromium } from './chromium.ts';
import { type AtSettings, listed, openSettings, turnOn } from './push-page.ts';

const ON = 'Notifications are on.';
const isOn = (page: Page) => page.getByText(ON, { exact: true });

withChromium.describe('notifications that have come apart', () => {
  let push: PushSite;
  let browser: Browser;
  beforeAll(async () => {
    [push, browser] = await Promise.all([startPushSite({}, { alone: true }), launchWholeChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([push.stop(), browser.close()]));

  async function openWithPush(): Promise<AtSettings> {
    const app = await openSettings(browser, push, ['notifications']);
    await turnOn(app.page);
    await isOn(app.page).waitFor();
    return app;
  }

  /** Starts the app again, as a user does the next day. */
  async function restart({ page }: AtSettings): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${localUrl(push.site.one)}/#/settings`);
  }

  /** Expects that the service's only subscription is the browser's, so that pushes arrive there. */
  async function expectThatPushesArrive(app: AtSettings): Promise<void> {
    await isOn(app.page).waitFor();
    expect(await listed(push, app)).toMatchObject([{ device_id: app.id, platform: 'web', state: 'active' }]);
    expect(app.browserHas.now).not.toBeNull();
    await app.page.getByRole('button', { name: 'Send a test' }).click();
    const held = app.browserHas.now ?? undefined;
    expect((await push.service.received(1, held)).at(-1)?.payload).toMatchObject({ type: 'test' });
  }

  const removeAtService = async (app: AtSettings) => {
    for (const { subscription_id } of await listed(push, app)) {
      await app.phone.on(push.site.one).call('removePushSubscription', { params: { subscription_id } });
    }
  };
  const keyOfService = async ({ phone }: AtSettings): Promise<string> =>
    (await phone.on(push.site.one).call('getPushConfig')).body.vapid_public_key ?? '';
  const anotherKey = () => Buffer.concat([Buffer.from([4]), randomBytes(64)]).toString('base64url');

  test('are on again after a start when the service had lost the subscription', async () => {
    const app = await openWithPush();
    await removeAtService(app);
    await restart(app);
    await expectThatPushesArrive(app);
    expect(app.subscriptions).toHaveLength(1);
    expect(app.reports).toEqual([]);
  });

  test('are on again after a start when the browser had lost its subscription', async () => {
    const app = await openWithPush();
    app.browserHas.now = null;
    await restart(app);
    await expectThatPushesArrive(app);
    expect(app.subscriptions).toHaveLength(2);
  });

  /** Leaves the settings, which compare by themselves, and returns what makes the app look at the subscription. */
  async function goHome({ page }: AtSettings): Promise<{ comeBack: () => Promise<void> }> {
    await page.goto(`${localUrl(push.site.one)}/#/`);
    await page.getByRole('heading', { name: 'Choose a device' }).waitFor();
    return { comeBack: () => page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange'))) };
  }

  test('are on again while the app stays open, when somebody comes back to it', async () => {
    const app = await openWithPush();
    const { comeBack } = await goHome(app);
    app.browserHas.now = null;
    await comeBack();
    await until(
      async () => app.subscriptions.length,
      (count) => count === 2,
      'another subscription',
    );
    const held = app.browserHas.now ?? undefined;
    await until(
      () => listed(push, app),
      ([one]) => one?.state === 'active',
      'the subscription at the service',
    );
    await app.page.goto('about:blank');
    await tell(app.phone, app, push.site.one);
    expect((await push.service.received(1, held)).at(-1)?.payload).toMatchObject({ type: 'message' });
    expect(app.reports).toEqual([]);
  });

  test('are on again while the app stays open, when the network is back', async () => {
    const app = await openWithPush();
    await goHome(app);
    const key = await keyOfService(app);
    const made = { ...push.service.subscribe(key), key };
    app.browserHas.now = made;
    const told = app.page.waitForResponse('**/api/push/subscribe');
    await app.context.setOffline(true);
    await app.page.getByText('You are offline').waitFor();
    await app.context.setOffline(false);
    await told;
    await app.page.goto('about:blank');
    await tell(app.phone, app, push.site.one);
    expect((await push.service.received(1, made)).at(-1)?.payload).toMatchObject({ type: 'message' });
  });

  test('make no requests when somebody comes back to the app and nothing was lost', async () => {
    const app = await openWithPush();
    const { comeBack } = await goHome(app);
    const sent: string[] = [];
    app.page.on('request', (request) => sent.push(new URL(request.url()).pathname));
    await comeBack();
    app.browserHas.now = null;
    await comeBack();
    await until(
      async () => app.subscriptions.length,
      (count) => count === 2,
      'another subscription',
    );
    expect(sent.filter((path) => path === '/api/push/config')).toHaveLength(1);
  });

  test('are on again after a start when the browser had replaced its subscription', async () => {
    const app = await openWithPush();
    const key = await keyOfService(app);
    app.browserHas.now = { ...push.service.subscribe(key), key };
    await restart(app);
    await expectThatPushesArrive(app);
  });

  test('are on again after a start when the subscription is for a key that the service had before', async () => {
    const app = await openWithPush();
    const key = anotherKey();
    app.browserHas.now = { ...push.service.subscribe(key), key };
    await restart(app);
    await expectThatPushesArrive(app);
    expect(app.browserHas.now.key).toBe(await keyOfService(app));
  });

  test('are on again after a start when a push service refused a push, with a new subscription', async () => {
    const app = await openWithPush();
    const [first] = app.subscriptions;
    if (first === undefined) throw new Error('Nothing was subscribed');
    push.service.scriptOf(first).next(403);
    await app.page.goto('about:blank');
    await tell(app.phone, app, push.site.one);
    await push.service.received(1, first);
    await push.settled(app.phone);
    expect(await listed(push, app)).toMatchObject([{ state: 'suspended' }]);
    await restart(app);
    await expectThatPushesArrive(app);
    expect(app.browserHas.now?.endpoint).not.toBe(first.endpoint);
  });

  test('of a browser that had them before it kept what was told are mended too', async () => {
    const app = await openSettings(browser, push, ['notifications']);
    const key = anotherKey();
    await app.page.goto('about:blank');
    app.browserHas.now = { ...push.service.subscribe(key), key };
    await app.page.goto(localUrl(push.site.one));
    await app.page.evaluate(
      () =>
        new Promise((resolve) => {
          const asked = indexedDB.open('baton-here');
          asked.onsuccess = () => {
            const transaction = asked.result.transaction('here', 'readwrite');
            transaction.objectStore('here').clear();
            transaction.oncomplete = () => {
              asked.result.close();
              resolve(null);
            };
          };
        }),
    );
    app.browserHas.now = { ...push.service.subscribe(key), key };
    await restart(app);
    await expectThatPushesArrive(app);
  });

  test('are turned on although the browser has a subscription for another key', async () => {
    const app = await openSettings(browser, push, ['notifications']);
    await app.page.getByRole('button', { name: 'Turn on' }).waitFor();
    const key = anotherKey();
    app.browserHas.now = { ...push.service.subscribe(key), key };
    await turnOn(app.page);
    await expectThatPushesArrive(app);
  });

  test('are compared and left alone when both sides have the same', async () => {
    const app = await openWithPush();
    const before = await listed(push, app);
    const sent: string[] = [];
    app.page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/api/push/')) sent.push(request.url());
    });
    await restart(app);
    await isOn(app.page).waitFor();
    expect({ sent, now: await listed(push, app) }).toEqual({ sent: [], now: before });
  });

  test('are said to have stopped where they cannot be mended, and can be turned on by hand', async () => {
    const app = await openWithPush();
    app.browserHas.now = null;
    app.browserHas.isRefusing = true;
    await restart(app);
    await app.page.getByText('Notifications have stopped').waitFor();
    app.browserHas.isRefusing = false;
    await turnOn(app.page);
    await expectThatPushesArrive(app);
  });

  test('are not said to be on while the service cannot be asked', async () => {
    const app = await openWithPush();
    await app.context.route('**/api/push/**', (route) => route.abort());
    await restart(app);
    await app.page.getByText('Baton cannot find out now').waitFor();
    expect(await isOn(app.page).count()).toBe(0);
  });

  test('are off, with the reason, when the permission was taken back, and the service pushes no more', async () => {
    const app = await openWithPush();
    await app.context.clearPermissions();
    app.browserHas.now = null;
    await app.page.getByText(/blocks notifications|must ask you again/).waitFor();
    await restart(app);
    await app.page.getByText(/blocks notifications|must ask you again/).waitFor();
    expect(await listed(push, app)).toEqual([]);
    await app.context.grantPermissions(['notifications']);
    await expectThatPushesArrive(app);
  });

  test('end with signing out, in the browser and at the service, and the next account has none of them', async () => {
    const app = await openWithPush();
    const [first] = app.subscriptions;
    const { page } = app;
    await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.locator('.front').waitFor();
    expect({ browser: app.browserHas.now, service: await listed(push, app) }).toEqual({ browser: null, service: [] });

    const user = `user-${randomBytes(4).toString('hex')}`;
    const phone = makeDevice({ user, name: 'Other phone' });
    await phone.on(push.site.one).call('getMe');
    await page.evaluate(
      (text) => localStorage.setItem('baton-development', text),
      JSON.stringify({ user, name: 'Desktop', deviceId: randomBytes(9).toString('base64url') }),
    );
    await restart(app);
    await page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(await listed(push, { phone })).toEqual([]);
    expect(push.service.pushes.filter(({ subscriptionId }) => subscriptionId === first?.id)).toEqual([]);
  });

  test('of one account end when another one is signed in, without the first having signed out', async () => {
    const app = await openWithPush();
    const user = `user-${randomBytes(4).toString('hex')}`;
    await app.page.evaluate(
      (text) => localStorage.setItem('baton-development', text),
      JSON.stringify({ user, name: 'Desktop', deviceId: randomBytes(9).toString('base64url') }),
    );
    await restart(app);
    await app.page.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(app.browserHas.now).toBeNull();
  });
});
