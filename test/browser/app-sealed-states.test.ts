import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { serviceOf } from '../broker/support/service.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { askForCode, DESKTOP, deviceRow, leaveFirstThread, openApp, openThread, PHONE, say } from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, launchWholeChromium, withChromium } from './chromium.ts';
import { deliverPush, shownNotification, untilWorker } from './service-worker.ts';
import { type KeyedDevice, makeKeyedDevice } from './keyed-device.ts';
import { keepPicture } from './keep-picture.ts';

/* What the app does when its keys, or those of the account, are not as they should be. */

const GONE = 'The keys of this browser are gone. What you write waits.';

withChromium.describe('keys of the app that are gone, old or refused', () => {
  let site: SignInSite;
  let url: string;
  let redis: ReturnType<typeof connectTo>;
  let browser: Browser;
  let whole: Browser | undefined;
  beforeAll(async () => {
    redis = connectTo(sharedRedisUrl());
    const port = await freePort();
    url = `http://localhost:${port}`;
    [site, browser] = await Promise.all([
      startSignInSite({ APP_RATE_LIMIT_SCALE: '0', APP_PUBLIC_URL: url }),
      launchChromium(),
    ]);
    await site.startReplica({ APP_PORT: String(port) });
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    redis.disconnect();
    await whole?.close();
    await browser.close();
    await site.stop();
  });

  const word = (name: string): string => `${name}-${randomBytes(6).toString('hex')}`;
  const holding = (text: string) => dumpsHolding(redis, site.prefix, text);
  const open = (viewport = DESKTOP, by = browser) => openApp(by, { url, locale: 'en', viewport });
  const linkOn = async (page: Page) => String(await page.locator('a.link-text').getAttribute('href'));
  const encryption = (page: Page) => page.getByRole('region', { name: 'Encryption' });
  const stateOf = (page: Page) => page.evaluate(() => localStorage.getItem('baton-keys'));

  async function look(page: Page, name: string): Promise<void> {
    expect(await violations(page)).toEqual([]);
    await keepPicture(page, name);
  }

  /** Makes a laptop with the key, and a browser that got it from the laptop. */
  async function makePair(viewport = DESKTOP, by = browser) {
    const laptop = makeKeyedDevice(site, url);
    await laptop.signIn('Laptop');
    await laptop.sealing().rings.create({ kind: 'cli' });
    const app = await open(viewport, by);
    await letInBy(laptop, app.page);
    return { laptop, ...app };
  }

  async function letInBy(laptop: KeyedDevice, page: Page): Promise<void> {
    await askForCode(page);
    await laptop.letIn(await linkOn(page));
    await page.getByRole('button', { name: 'Laptop shows these' }).click();
    await leaveFirstThread(page);
  }

  /** Gets the key again from the settings. */
  async function getKey(laptop: KeyedDevice, page: Page): Promise<void> {
    await encryption(page).getByRole('button', { name: 'Get the key' }).click();
    await encryption(page).locator('.qr').waitFor();
    await laptop.letIn(await linkOn(page));
    await page.getByRole('button', { name: 'Laptop shows these' }).click();
    await encryption(page).locator('.fingerprint').first().waitFor();
  }

  /** Does what a browser does that clears storage and keeps cookies. */
  const clearStorage = (page: Page): Promise<void> =>
    page.evaluate(async () => {
      for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name ?? '');
      localStorage.clear();
      sessionStorage.clear();
      // The page comes back from the log-in.
      localStorage.setItem('baton-language', 'en');
      localStorage.setItem('baton-logging-in', 'yes');
    });

  /** Opens a browser that is the only device of a new account, and has no keys. */
  async function onlyBrowser() {
    const login = await site.logIn();
    const app = await open();
    const [name = '', value = ''] = login.cookie.split(/=(.*)/s);
    await app.context.addCookies([{ name, value, url, httpOnly: true }]);
    await app.page.evaluate(() => localStorage.setItem('baton-logging-in', 'yes'));
    await app.page.reload();
    await app.page.getByLabel('Device name').waitFor();
    await app.page.keyboard.press('Enter');
    await app.page.getByRole('link', { name: 'Add a device' }).first().waitFor();
    return { ...app, user: login.user };
  }

  async function approve(page: Page, link: string): Promise<void> {
    await page.goto(`${url}/#/add`);
    const field = page.getByLabel(/paste the link/);
    await field.fill(link);
    await field.press('Enter');
  }

  test('a browser whose storage was cleared while its cookie stayed sends nothing unencrypted, and says so where one writes', async () => {
    const { laptop, page, reports } = await makePair(PHONE);
    await clearStorage(page);
    await page.reload();
    const text = word('cleared');
    await openThread(page, 'Laptop');
    await say(page, text);
    await page.locator('.composer-note').getByText(GONE).waitFor();
    await page.getByText('Waits: the keys of this browser are gone.').waitFor();
    await look(page, 'keys-cleared-phone');
    expect(await laptop.client.messages.list()).toEqual([]);
    expect(await holding(text)).toEqual([]);
    await page.locator('.composer-note').getByRole('link', { name: 'Get the key' }).click();
    await getKey(laptop, page);
    await page.goto(`${url}/#/`);
    await openThread(page, 'Laptop');
    await page.locator('.mine .lock.is-sealed').waitFor();
    expect(await laptop.read()).toEqual([text]);
    expect(reports).toEqual([]);
  }, 120_000);

  test('a browser that never had keys asks once, and goes on', async () => {
    const laptop = makeKeyedDevice(site, url);
    await laptop.signIn('Laptop');
    await laptop.sealing().rings.create({ kind: 'cli' });
    const { page } = await open();
    await askForCode(page);
    const shown = String((await linkOn(page)).split('#')[0]);
    await laptop.client.signIns.approve(shown, { scope: 'full', persist: 'persist' });
    await openThread(page, 'Laptop');
    await say(page, 'in the clear');
    await page.locator('.mine .mark.sent, .mine .mark.delivered').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    await page.reload();
    await openThread(page, 'Laptop');
    await say(page, 'again');
    await page.locator('.mine .mark.sent, .mine .mark.delivered').nth(1).waitFor();
    expect(asked.filter((path) => path === '/api/keys')).toEqual([]);
  }, 120_000);

  /** Opens a page that looks to other tabs like a tab of a version that knows no keys. */
  async function openOlderTab(context: BrowserContext, account: string): Promise<Page> {
    const older = await context.newPage();
    await older.goto(`${url}/api/docs`);
    await older.evaluate((name) => {
      const heard: unknown[] = [];
      const channel = new BroadcastChannel(name);
      channel.addEventListener('message', ({ data }) => heard.push(data));
      Object.assign(window, { heard, channel });
    }, `baton-${account}`);
    return older;
  }

  test('a tab of a version that knows no keys is made to reload, and finds nothing to send unencrypted', async () => {
    const { laptop, page, context } = await makePair();
    const account = await page.evaluate(
      () => (JSON.parse(localStorage.getItem('baton-session') ?? '') as { user: { user_id: string } }).user.user_id,
    );
    const older = await openOlderTab(context, account);
    await page.reload();
    await openThread(page, 'Laptop');
    const heard = () => older.evaluate(() => (window as unknown as { heard: unknown[] }).heard);
    await until(heard, (found) => found.length > 0, 'the older tab is told');
    expect(await heard()).toEqual([{ type: 'signed-out', reason: 'expired' }]);

    /** Moves the queue to the place where the older version has it. */
    const lines = (isMoved: boolean) =>
      page.evaluate(
        async ([name, isOld]) => {
          const database = await new Promise<IDBDatabase>((resolve) => {
            indexedDB.open(name).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
          });
          const settings = database.transaction('settings', 'readwrite').objectStore('settings');
          const read = (key: string) =>
            new Promise<unknown[]>((resolve) => {
              settings.get(key).onsuccess = ({ target }) => resolve((target as IDBRequest<unknown[]>).result ?? []);
            });
          const [old, own] = [await read('outbox'), await read('sealed-outbox')];
          if (isOld) {
            settings.put(own, 'outbox');
            settings.put([], 'sealed-outbox');
          }
          database.close();
          return [old.length, own.length];
        },
        [`baton-${account}`, isMoved] as const,
      );
    await context.setOffline(true);
    const text = word('waiting');
    await say(page, text);
    await page.locator('.mine .item-note').waitFor();
    // The older version finds nothing to send.
    expect(await lines(true)).toEqual([0, 1]);
    await context.setOffline(false);
    await page.locator('.mine .lock.is-sealed').waitFor();
    expect(await laptop.read()).toEqual([text]);
    expect(await lines(false)).toEqual([0, 0]);
    expect(await holding(text)).toEqual([]);
  }, 120_000);

  test('a device whose session expired keeps its place, and stops nobody from sealing', async () => {
    const { laptop, page } = await makePair();
    const tablet = makeKeyedDevice(site, url);
    const joining = await tablet.askToJoin('Tablet');
    await laptop.letIn(joining.link);
    await joining.digits;
    await deviceRow(page, 'Tablet').waitFor();
    const devices = await laptop.client.devices.list();
    const id = devices.find(({ name }) => name === 'Tablet')?.device_id ?? '';
    const { user_id } = await laptop.client.me();
    await serviceOf(site.broker).tryRevoke({ subject: user_id, meta: id, reason: 'elsewhere' });
    // By the list of sessions the service notices that the session is over.
    await laptop.client.sessions.list();
    await deviceRow(page, 'Tablet').waitFor({ state: 'detached' });
    const text = word('expired');
    await openThread(page, 'Laptop');
    await say(page, text);
    await page.locator('.mine .lock.is-sealed').waitFor();
    expect(await laptop.read()).toEqual([text]);
    await page.goto(`${url}/#/settings`);
    await encryption(page).getByText('keeps its key for 90 days').waitFor();
    expect((await laptop.ring()).ring.body).toMatchObject({ epoch: 1, members: { length: 3 } });
    // A removed device leaves, even if nobody took it out of the ring before.
    await laptop.client.devices.remove(
      (await laptop.client.devices.list()).find((d) => d.name === 'Laptop')?.device_id ?? '',
    );
    await encryption(page).locator('.fingerprint').nth(2).waitFor({ state: 'detached', timeout: 60_000 });
  }, 120_000);

  test('the preview of a sealed message is made on the device, as its user chose, and only with keys that are confirmed', async () => {
    whole = await launchWholeChromium();
    const { laptop, page, context } = await makePair(DESKTOP, whole);
    await context.grantPermissions(['notifications']);
    await untilWorker(page);
    const choose = (preview: string, keyed: boolean) =>
      page.evaluate(
        async ([chosen, isKeyed]) => {
          const { user, device } = JSON.parse(localStorage.getItem('baton-session') ?? '') as {
            user: { user_id: string };
            device: { device_id: string };
          };
          const database = await new Promise<IDBDatabase>((resolve) => {
            indexedDB.open('baton-here').onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
          });
          const store = database.transaction('here', 'readwrite').objectStore('here');
          const about = { account: user.user_id, deviceId: device.device_id, headers: {} };
          store.put({ ...about, isWanted: true, preview: chosen, told: null }, 'push');
          if (!isKeyed) store.put(null, 'keyed');
          await new Promise((resolve) => {
            store.transaction.oncomplete = resolve;
          });
          database.close();
        },
        [preview, keyed] as const,
      );
    const bodyOf = async (id: string) => {
      await deliverPush({ page, context, reports: [] }, url, { v: 1, type: 'message', count: 1, id });
      const shown = await shownNotification(page);
      await page.evaluate(async () => {
        for (const one of await (await navigator.serviceWorker.ready).getNotifications()) one.close();
      });
      return [shown.title, shown.body];
    };
    // This page has no app, which would show and acknowledge the message.
    await page.goto(`${url}/api/docs`);
    await choose('full', true);
    const devices = await laptop.client.devices.list();
    const to = devices.find(({ name }) => name === 'Chrome on Linux')?.device_id ?? '';
    const sent = await laptop.sealing().texts.send(await laptop.ring(), { to, text: 'only for you', devices });
    const id = String(sent.messageIds[0]);
    expect(await bodyOf(id)).toEqual(['Laptop', 'only for you']);
    await choose('sender', true);
    expect(await bodyOf(id)).toEqual(['Laptop', 'A new message']);
    await choose('none', true);
    expect(await bodyOf(id)).toEqual(['Baton', 'A new message']);
    await choose('full', true);
    // A guest came while no page was open, without a further ring.
    const visitor = makeKeyedDevice(site, url);
    const joining = await visitor.askToJoin('Visitor');
    await laptop.letIn(joining.link, { scope: 'full', persist: 'once' });
    await joining.digits;
    const all = await visitor.client.devices.list();
    const told = await visitor.sealing().texts.send(await visitor.ring(), { to, text: 'from a guest', devices: all });
    expect(await bodyOf(String(told.messageIds[0]))).toEqual(['Visitor', 'from a guest']);
    // The digits were not compared yet.
    await choose('full', false);
    expect(await bodyOf(id)).toEqual(['Baton', 'A new message']);
  }, 120_000);

  test('each problem with keys offers the one thing to do', async () => {
    const { laptop, page } = await makePair();
    // Another device starts over.
    await laptop.sealing().deletions.removeKeys();
    await page.goto(`${url}/#/settings`);
    await encryption(page).getByText('The service has no keys of this account any more.').waitFor();
    await encryption(page).getByRole('button', { name: 'Make new keys' }).waitFor();
    await look(page, 'keys-gone');
    await laptop.sealing().rings.create({ kind: 'cli', anew: true });
    await encryption(page).getByText('Your devices disagree about who has keys.').waitFor();
    await look(page, 'keys-disagree');
    await getKey(laptop, page);
    await laptop.sealing().deletions.removeKeys();
    await encryption(page).getByRole('button', { name: 'Make new keys' }).click();
    await page.locator('dialog').getByText('These have no keys until you link them: Laptop.').waitFor();
    await page.locator('dialog').getByRole('button', { name: 'Make new keys' }).click();
    await encryption(page).locator('.session', { hasText: 'Laptop' }).getByText('No key.').waitFor();
    expect(await encryption(page).locator('.fingerprint').count()).toBe(1);
  }, 120_000);

  test('a browser that gets the key stays signed in, also where it asks while the answer is under way', async () => {
    const laptop = makeKeyedDevice(site, url);
    await laptop.signIn('Laptop');
    // The routes of a test do not see what a service worker fetches.
    const { page, context } = await openApp(browser, { url, locale: 'en', serviceWorkers: 'block' });
    await askForCode(page);
    await laptop.client.signIns.approve(String((await linkOn(page)).split('#')[0]), {
      scope: 'full',
      persist: 'persist',
    });
    await deviceRow(page, 'Laptop').waitFor();
    await laptop.sealing().rings.create({ kind: 'cli' });
    let refusals = 0;
    await context.route(/\/qr\/status/, async (route) => {
      // This does not use the route's fetch, which would put the new cookie into the browser.
      const response = await fetch(route.request().url(), { headers: await route.request().allHeaders() });
      const body = await response.text();
      if (response.status === 200) {
        const refused = page.waitForResponse((one) => one.url().endsWith('/refresh') && one.status() === 401);
        await laptop.client.clipboard.set('read me now');
        await refused;
        refusals += 1;
      }
      const headers = ['content-type', 'set-cookie'].map((name) => [name, response.headers.get(name) ?? '']);
      await route.fulfill({ status: response.status, headers: Object.fromEntries(headers), body });
    });
    await page.goto(`${url}/#/settings`);
    await getKey(laptop, page);
    expect(refusals).toBe(1);
    await deviceRow(page, 'Laptop').waitFor();
  }, 120_000);

  test('all keys can be removed to start anew: announced to all devices, cancelled by one with keys, or at once by one', async () => {
    const { laptop, page, reports } = await makePair();
    const other = await open(PHONE);
    await askForCode(other.page);
    const shown = String((await linkOn(other.page)).split('#')[0]);
    await laptop.client.signIns.approve(shown, { scope: 'full', persist: 'persist' });
    await leaveFirstThread(other.page);
    await other.page.goto(`${url}/#/settings`);
    await encryption(other.page).getByRole('button', { name: 'Remove all keys' }).click();
    await other.page.locator('dialog').getByText('in 24 hours').waitFor();
    await other.page.locator('dialog').getByRole('button', { name: 'Remove all keys' }).click();
    const bar = (of: Page) => of.locator('.connection', { hasText: 'All keys of this account will be removed' });
    await bar(page).waitFor();
    await bar(other.page).waitFor();
    expect(await bar(other.page).getByRole('button').count()).toBe(0);
    await look(page, 'keys-announced');
    await bar(page).getByRole('button', { name: 'Cancel removal' }).click();
    await bar(other.page).waitFor({ state: 'detached' });
    await bar(page).waitFor({ state: 'detached' });
    expect(await laptop.sealing().deletions.pending()).toEqual([]);

    await page.goto(`${url}/#/settings`);
    await encryption(page).getByText('What is protected, and what is not').click();
    await encryption(page).getByText('The service can delay or lose what you send.').waitFor();
    await encryption(page).scrollIntoViewIfNeeded();
    await look(page, 'keys-protection');
    await encryption(page).getByRole('button', { name: 'Remove all keys' }).click();
    await page.locator('dialog').getByText('until you link them again').waitFor();
    await page.locator('dialog').getByRole('button', { name: 'Remove all keys' }).click();
    await encryption(page).locator('.fingerprint').nth(1).waitFor({ state: 'detached' });
    // The page may have read the keys in the moment when there were none.
    await encryption(page).locator('.fingerprint').waitFor();
    expect(await encryption(page).getByText('No key.').count()).toBe(2);
    await page.goto(`${url}/#/`);
    await openThread(page, 'Laptop');
    await page.locator('.pane-head').getByText('Not encrypted').waitFor();
    expect([...reports, ...other.reports]).toEqual([]);
  }, 120_000);

  test('an approval encrypts the account by itself where every device has keys then, and else only if its user says so', async () => {
    const { page } = await onlyBrowser();
    const first = makeKeyedDevice(site, url);
    await approve(page, (await first.askToJoin('First')).link);
    await page.getByRole('radio', { name: 'until you sign it out' }).check();
    await page.getByText('This encrypts the account').waitFor();
    await look(page, 'keys-first-itself');
    await page.getByRole('button', { name: 'Let it in' }).click();
    await page.getByText(/Check code \d{4}/).waitFor();
    expect(await stateOf(page)).toBe('{"kind":"keyed"}');

    const second = await onlyBrowser();
    await makeKeyedDevice(site, url).signIn('Plain', second.user);
    await deviceRow(second.page, 'Plain').waitFor();
    const asking = makeKeyedDevice(site, url);
    // This tab does not lead.
    const tab = await second.context.newPage();
    await tab.goto(`${url}/`);
    await deviceRow(tab, 'Plain').waitFor();
    await approve(tab, (await asking.askToJoin('Second')).link);
    await tab.getByRole('radio', { name: 'until you sign it out' }).check();
    const choice = tab.getByRole('checkbox', { name: 'Encrypt this account' });
    expect(await choice.isChecked()).toBe(false);
    await tab.getByText('These have no keys until you link them: Plain.').waitFor();
    await look(tab, 'keys-first-asked');
    await choice.check();
    // The leading tab tells a further one everything again, and asks the service again whether the account is
    // encrypted.
    const isAsked = tab.waitForResponse((answer) => answer.url().includes('/api/keys'));
    await (await second.context.newPage()).goto(`${url}/`);
    await isAsked;
    expect(await choice.isChecked()).toBe(true);
    await tab.getByRole('button', { name: 'Let it in' }).click();
    await tab.getByText(/Check code \d{4}/).waitFor();
    expect(await stateOf(second.page)).toBe('{"kind":"keyed"}');
  }, 120_000);

  test('a browser is asked to keep its storage, and one that does not answer shows its code all the same', async () => {
    const laptop = makeKeyedDevice(site, url);
    await laptop.signIn('Laptop');
    await laptop.sealing().rings.create({ kind: 'cli' });
    const { page, context } = await open();
    await context.addInitScript(() => {
      StorageManager.prototype.persist = () => {
        localStorage.setItem('asked-to-persist', 'yes');
        return new Promise(() => {});
      };
    });
    await page.reload();
    await letInBy(laptop, page);
    expect(await stateOf(page)).toBe('{"kind":"keyed"}');
    expect(await page.evaluate(() => localStorage.getItem('asked-to-persist'))).toBe('yes');
  }, 120_000);

  test('after digits that differ, and after a reload while the key is taken, messages wait', async () => {
    const { laptop, page } = await makePair();
    await page.goto(`${url}/#/settings`);
    await page.evaluate(() => {
      localStorage.setItem('baton-keys', '{"kind":"lost"}');
    });
    await page.reload();
    await encryption(page).getByRole('button', { name: 'Get the key' }).click();
    await encryption(page).locator('.qr').waitFor();
    await laptop.letIn(await linkOn(page));
    await page.getByRole('button', { name: 'They differ' }).click();
    await encryption(page).getByText('The keys of this browser are gone.').waitFor();
    await page.goto(`${url}/#/`);
    await openThread(page, 'Laptop');
    const text = word('differ');
    await say(page, text);
    await page.getByText('Waits: the keys of this browser are gone.').waitFor();

    // The grant has come, but the ring has not.
    await page.goto(`${url}/#/settings`);
    await encryption(page).getByRole('button', { name: 'Get the key' }).click();
    await encryption(page).locator('.qr').waitFor();
    await page.evaluate(() => localStorage.removeItem('baton-keys'));
    await page.route('**/api/keys*', (route) => route.abort());
    await laptop.letIn(await linkOn(page));
    await until(
      () => stateOf(page),
      (state) => state === '{"kind":"lost"}',
      'the state while the key is taken',
    );
    await page.reload();
    await page.goto(`${url}/#/`);
    await openThread(page, 'Laptop');
    await page.locator('.mine .item-note').waitFor();
    expect(await laptop.client.messages.list()).toEqual([]);
    expect(await holding(text)).toEqual([]);
  }, 120_000);
});
