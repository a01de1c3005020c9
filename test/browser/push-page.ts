import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { PushSite } from '../push/scene.ts';
import { makeDevice, type TestDevice } from '../support/device.ts';
import type { FakePushService, FakeSubscription } from '../support/fake-push/push-service.ts';
import { type AppPage, localUrl, openApp } from './app-page.ts';
import { untilWorker } from './service-worker.ts';

/** A subscription in the browser. */
export interface HeldSubscription extends FakeSubscription {
  /** The `applicationServerKey` that it was made for. */
  readonly key: string;
}

/** The app with its settings open. */
export interface AtSettings extends AppPage {
  readonly id: string;
  readonly user: string;
  /** Another device of the account. */
  readonly phone: TestDevice;
  /** What the page asked its browser for, in order. */
  readonly asked: readonly { userVisibleOnly: boolean; key: string }[];
  /** All subscriptions that were made, in order. */
  readonly subscriptions: readonly HeldSubscription[];
  /** What the browser has now. A test may lose it, or put another one there. */
  readonly browserHas: { now: HeldSubscription | null; isRefusing: boolean };
}

type PushServiceOf = 'own' | 'real' | 'silent';

interface Fake {
  getSubscriptionAtFake(): Promise<HeldSubscription | null>;
  unsubscribeAtFake(): Promise<boolean>;
  subscribeAtFake(userVisibleOnly: boolean, key: string): Promise<HeldSubscription | string>;
}

/**
 * Fakes, in the page, the parts of `PushManager` that the app uses, by the specification. The test keeps the
 * subscription.
 */
function fakePushManager(): void {
  const fake = window as unknown as Fake;
  const bytesOf = (key: string) =>
    Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0)).buffer;
  const asSubscription = ({ endpoint, keys, key }: HeldSubscription) =>
    ({
      endpoint,
      options: { userVisibleOnly: true, applicationServerKey: bytesOf(key) },
      toJSON: () => ({ endpoint, keys }),
      unsubscribe: () => fake.unsubscribeAtFake(),
    }) as unknown as PushSubscription;
  PushManager.prototype.getSubscription = async () => {
    const held = await fake.getSubscriptionAtFake();
    return held === null ? null : asSubscription(held);
  };
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey } = {}) => {
    const letters = String.fromCharCode(...(applicationServerKey as Uint8Array));
    const key = btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    const made = await fake.subscribeAtFake(userVisibleOnly === true, key);
    if (typeof made === 'string') throw new DOMException('Registration failed', made);
    return asSubscription(made);
  };
}

/** Gives a context the fake push service before a page is opened in it. */
export async function giveFake(context: BrowserContext, service: Pick<FakePushService, 'subscribe'>, isUsed = true) {
  const [asked, subscriptions]: [AtSettings['asked'][number][], HeldSubscription[]] = [[], []];
  const browserHas: AtSettings['browserHas'] = { now: null, isRefusing: false };
  await context.exposeFunction('getSubscriptionAtFake', () => browserHas.now);
  await context.exposeFunction('unsubscribeAtFake', () => {
    browserHas.now = null;
    return true;
  });
  await context.exposeFunction('subscribeAtFake', (userVisibleOnly: boolean, key: string) => {
    asked.push({ userVisibleOnly, key });
    if (browserHas.isRefusing) return 'AbortError';
    if (browserHas.now !== null && browserHas.now.key !== key) return 'InvalidStateError';
    if (browserHas.now !== null) return browserHas.now;
    const made = { ...service.subscribe(key), key };
    subscriptions.push(made);
    browserHas.now = made;
    return made;
  });
  if (isUsed) await context.addInitScript(fakePushManager);
  return { asked, subscriptions, browserHas };
}

/**
 * Opens a browser with the fake push service. Chromium only has Google's. In a context like that of a test it answers
 * `subscribe` with "permission denied", whatever was permitted. With a profile it waits for Google for ever.
 */
export async function openSettings(
  browser: Browser,
  push: PushSite,
  permissions: string[] | null,
  pushService: PushServiceOf = 'own',
): Promise<AtSettings> {
  const user = `user-${randomBytes(4).toString('hex')}`;
  const phone = makeDevice({ user, name: 'Phone' });
  await phone.on(push.site.one).call('getMe');
  const app = await openApp(browser, {
    url: 'about:blank#',
    user,
    name: 'Desktop',
    ...(permissions && { permissions }),
  });
  const fake = await giveFake(app.context, push.service, pushService === 'own');
  if (pushService === 'silent') {
    await app.context.addInitScript(() => {
      PushManager.prototype.subscribe = () => new Promise(() => {});
    });
  }
  await app.page.goto(`${localUrl(push.site.one)}/#/settings`);
  await untilWorker(app.page);
  const identity = await app.page.evaluate(() => localStorage.getItem('baton-development'));
  const { deviceId: id } = JSON.parse(identity ?? '') as { deviceId: string };
  return { ...app, ...fake, id, user, phone };
}

export const turnOn = (page: Page) => page.getByRole('button', { name: 'Turn on' }).click();

/** Returns what the service has for the account. */
export const listed = async (push: PushSite, { phone }: Pick<AtSettings, 'phone'>) =>
  (await phone.on(push.site.one).call('listPushSubscriptions')).body.subscriptions;
