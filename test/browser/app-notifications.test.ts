import { randomBytes } from 'node:crypto';
import type { Browser, Route, Worker } from 'playwright-core';
import { until } from '../support/redis/redis-processes.ts';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, chooseFiles, deviceRow, localUrl, openApp, openThread, say } from './app-page.ts';
import { launchWholeChromium, withChromium } from './chromium.ts';
import { deliverPush, untilWorker } from './service-worker.ts';

interface Shown {
  title: string;
  body: string;
  tag: string;
  renotify: boolean;
}

withChromium.describe('notifications', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchWholeChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  const newUser = () => `user-${randomBytes(4).toString('hex')}`;
  async function open(name: string, user: string): Promise<AppPage> {
    const app = await openApp(browser, { url: localUrl(site.one), user, name, permissions: ['notifications'] });
    await untilWorker(app.page);
    return app;
  }
  const push = (app: AppPage, payload: object | null) => deliverPush(app, localUrl(site.one), payload);

  /** Resolves to the shown notifications, once there are this many and one of them says this. */
  const shown = ({ page }: AppPage, count: number, body?: string): Promise<Shown[]> =>
    page.evaluate(
      async ([wanted, newest]) => {
        const registration = await navigator.serviceWorker.ready;
        for (;;) {
          // The test takes turns with the worker, as the app does: Chromium forgets a notification whose list is asked
          // for while it is made.
          const all = await navigator.locks.request('baton-notifications', () => registration.getNotifications());
          if (all.length === wanted && (newest === null || all.some((one) => one.body === newest))) {
            return all.map((one) => {
              const { title, body: said, tag, renotify } = one as Notification & { renotify: boolean };
              return { title, body: said, tag, renotify };
            });
          }
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
      [count, body ?? null] as const,
    );

  /** Waits until exactly these are shown. What is shown only for a moment does not count. */
  const untilShown = async ({ page }: AppPage, tags: readonly string[]): Promise<void> => {
    await page.evaluate(async (wanted) => {
      const registration = await navigator.serviceWorker.ready;
      for (;;) {
        const all = await navigator.locks.request('baton-notifications', () => registration.getNotifications());
        if (JSON.stringify(all.map(({ tag }) => tag).sort()) === JSON.stringify(wanted)) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }, tags);
  };

  const worker = ({ context }: AppPage): Worker => {
    const [first] = context.serviceWorkers();
    if (first === undefined) throw new Error('There is no service worker');
    return first;
  };

  /** Resolves to the next answer of the service there. The browser forgets it soon after the page has read it. */
  const answerOf = <T>({ page }: AppPage, address: string): Promise<T> =>
    new Promise((resolve) => {
      const take = async (route: Route): Promise<void> => {
        const response = await route.fetch();
        resolve((await response.json()) as T);
        await route.fulfill({ response });
      };
      void page.route(address, take, { times: 1 });
    });

  /** Clicks the one notification as the browser does. Returns what the worker brought to the front or opened. */
  const click = (app: AppPage): Promise<{ focused: string[]; opened: string[] }> =>
    worker(app).evaluate(async () => {
      const scope = self as unknown as {
        registration: ServiceWorkerRegistration;
        clients: { openWindow: (url: string) => Promise<unknown> };
        WindowClient: { prototype: { url: string; focus: () => Promise<unknown> } };
        NotificationEvent: new (name: string, given: object) => Event;
      };
      const [focused, opened]: [string[], string[]] = [[], []];
      // Both need a click by a person.
      scope.WindowClient.prototype.focus = async function focus() {
        focused.push(new URL(this.url).pathname);
        return this;
      };
      scope.clients.openWindow = async (url) => {
        opened.push(url);
        return null;
      };
      // A push is accepted before its notification is shown. The test takes turns, as above.
      let notification: Notification | undefined;
      while (notification === undefined) {
        [notification] = await navigator.locks.request('baton-notifications', () =>
          scope.registration.getNotifications(),
        );
      }
      let done: unknown;
      const event = new scope.NotificationEvent('notificationclick', { notification });
      Object.defineProperty(event, 'waitUntil', {
        value: (work: unknown) => Object.assign(scope, { done: (done = work) }),
      });
      self.dispatchEvent(event);
      await done;
      return { focused, opened };
    });

  test('sound again for a second message of the same sender, and have one line each', async () => {
    const app = await open('Desktop', newUser());
    await push(app, { v: 1, type: 'message', count: 1, id: 'one', from: 'Phone', text: 'first' });
    await shown(app, 1);
    await push(app, { v: 1, type: 'message', count: 2, id: 'two', from: 'Phone', text: 'second' });
    await shown(app, 1, 'second');
    await push(app, { v: 1, type: 'message', count: 1, id: 'three', from: 'Tablet', text: 'third' });
    expect(await shown(app, 2)).toEqual([
      expect.objectContaining({ title: 'Phone', body: 'second', renotify: true }),
      expect.objectContaining({ title: 'Tablet', body: 'third', renotify: true }),
    ]);
    expect(app.reports).toEqual([]);
  });

  test.each([
    ['of a version that is not known', { v: 2, type: 'message', count: 3, id: 'x', from: { name: 'Phone' } }],
    ['of a kind that is not known', { v: 1, type: 'call', count: 3, id: 'x' }],
    ['without anything', {}],
    ['of no object', null],
  ])('say that there is something new for a push %s', async (_, payload) => {
    const app = await open('Desktop', newUser());
    await push(app, payload);
    expect(await shown(app, 1)).toMatchObject([{ title: 'Baton', body: 'There is something new in Baton.' }]);
  });

  test('of fields of wrong types show what can be read', async () => {
    const app = await open('Desktop', newUser());
    await push(app, { v: 1, type: 'message', count: 'many', id: 7, from: ['Phone'], text: {} });
    expect(await shown(app, 1)).toMatchObject([{ title: 'Baton', body: 'A new message' }]);
  });

  test('that come at once are all there', async () => {
    const app = await open('Desktop', newUser());
    await Promise.all([
      push(app, { v: 1, type: 'message', count: 1, id: 'm' }),
      push(app, { v: 1, type: 'device', count: 1, id: 'd' }),
      push(app, { v: 1, type: 'test', count: 1, id: 't' }),
    ]);
    expect((await shown(app, 3)).map(({ tag }) => tag).sort()).toEqual(['device', 'message', 'test']);
  });

  test('of many senders at once are all there, although the app looks at the list for each', async () => {
    const app = await open('Desktop', newUser());
    const names = Array.from({ length: 20 }, (_, at) => `Phone ${at + 10}`);
    await Promise.all(names.map((from) => push(app, { v: 1, type: 'message', count: 1, id: from, from })));
    expect((await shown(app, names.length)).map(({ title }) => title).sort()).toEqual(names);
  });

  test('lead to the page of the app, whatever other page of the address is in front', async () => {
    const app = await open('Desktop', newUser());
    const docs = await app.context.newPage();
    await docs.goto(`${localUrl(site.one)}/api/docs`);
    await docs.bringToFront();
    await push(app, { v: 1, type: 'device', count: 1, id: 'd' });
    await shown(app, 1);
    expect(await click(app)).toEqual({ focused: ['/'], opened: [] });
    await app.page.getByRole('heading', { name: 'Settings' }).waitFor();
    expect(docs.url()).toBe(`${localUrl(site.one)}/api/docs`);
  });

  test('open the app where only other pages of the address are open', async () => {
    const app = await open('Desktop', newUser());
    await push(app, { v: 1, type: 'message', count: 1, id: 'some id' });
    await shown(app, 1);
    for (const path of ['/api/docs', '/healthz']) {
      await app.page.goto(`${localUrl(site.one)}${path}`);
      await push(app, { v: 1, type: 'message', count: 1, id: 'some id' });
      expect(await click(app)).toEqual({ focused: [], opened: ['/#/item/some%20id'] });
      await app.page.goto(localUrl(site.one));
    }
  });

  test('are closed when the thread has been read, and those of other threads stay', async () => {
    const user = newUser();
    const [one, phone, tablet] = await Promise.all([open('Desktop', user), open('Phone', user), open('Tablet', user)]);
    const refs: string[] = [];
    for (const [sender, text] of [
      [phone, 'from the phone'],
      [tablet, 'from the tablet'],
    ] as const) {
      await openThread(sender.page, 'Desktop');
      const sent = answerOf<{ message_id: string }>(sender, '**/api/message');
      await say(sender.page, text);
      refs.push((await sent).message_id);
    }
    for (const name of ['Phone', 'Tablet']) await deviceRow(one.page, name).locator('.count').waitFor();
    await push(one, { v: 1, type: 'message', count: 1, id: refs[0], from: 'Phone' });
    await push(one, { v: 1, type: 'message', count: 1, id: refs[1], from: 'Tablet' });
    await shown(one, 2);
    await deviceRow(one.page, 'Phone').click();
    await one.page.getByText('from the phone').last().waitFor();
    expect(await shown(one, 1)).toMatchObject([{ title: 'Tablet' }]);

    // A late push of a message that is on the screen does not stay.
    await push(one, { v: 1, type: 'message', count: 1, id: refs[0], from: 'Phone' });
    await push(one, { v: 1, type: 'device', count: 1, id: 'd' });
    await untilShown(one, ['device', 'message Tablet']);
  });

  test('of several senders add up in the badge, with what this browser has and nobody has read', async () => {
    const user = newUser();
    const [desktop, phone] = await Promise.all([open('Desktop', user), open('Phone', user)]);
    await openThread(phone.page, 'Desktop');
    await say(phone.page, 'one');
    await say(phone.page, 'two');
    await deviceRow(desktop.page, 'Phone').locator('.count', { hasText: '2' }).waitFor();
    const received = await desktop.page.evaluate(async (account) => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        indexedDB.open(`baton-${account}`).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
      });
      const items = await new Promise<{ ref: string; at: number }[]>((resolve) => {
        const request = database.transaction('items').objectStore('items').getAll();
        request.onsuccess = () => resolve(request.result as { ref: string; at: number }[]);
      });
      database.close();
      return items.toSorted((item, other) => other.at - item.at)[0]?.ref;
    }, user);
    // The worker needs a page to live. This one is of its address, and not of the app.
    await desktop.page.goto(`${localUrl(site.one)}/api/docs`);
    await worker(desktop).evaluate(() => {
      const scope = self as unknown as { badges: number[] };
      scope.badges = [];
      Object.assign(navigator, { setAppBadge: async (count: number) => void scope.badges.push(count) });
    });
    const pushes = [
      { id: received, from: 'Phone', count: 2, badge: 2 },
      { id: 'a', from: 'Tablet', count: 1, badge: 3 },
      { id: 'b', from: 'Laptop', count: 2, badge: 5 },
      { id: 'c', from: 'Tablet', count: 2, badge: 6 },
    ];
    for (const [index, { badge, ...said }] of pushes.entries()) {
      await push(desktop, { v: 1, type: 'message', ...said });
      const badges = await until(
        () => worker(desktop).evaluate(() => (self as unknown as { badges: number[] }).badges),
        (all) => all.length > index,
        'the badge',
      );
      expect(badges[index]).toBe(badge);
    }
  });

  test('of files that were cancelled while the app was closed lead to them, and do not stay', async () => {
    const user = newUser();
    const [one, phone] = await Promise.all([open('Desktop', user), open('Phone', user)]);
    await openThread(phone.page, 'Desktop');
    await one.page.goto(`${localUrl(site.one)}/api/docs`);
    const offered = answerOf<{ transfer: { transfer_id: string } }>(phone, '**/api/transfer/init');
    await chooseFiles(phone.page, { name: 'late.txt', mimeType: 'text/plain', buffer: Buffer.from('late') });
    const { transfer_id: id } = (await offered).transfer;
    await phone.page.getByRole('button', { name: 'Cancel transfer', exact: true }).click();
    await phone.page.locator('.state.cancelled').waitFor();
    await push(one, { v: 1, type: 'transfer', count: 1, id, from: 'Phone' });
    await push(one, { v: 1, type: 'message', count: 1, id: 'on its way', from: 'Phone' });
    await untilShown(one, ['message Phone', 'transfer Phone']);
    await one.page.goto(localUrl(site.one));
    await untilShown(one, ['message Phone']);

    const look = (item: string) => one.page.evaluate((at) => void (location.hash = `#/item/${at}`), item);
    await look('another');
    await one.page.getByText('There is nothing at this address.').waitFor();
    await look(id);
    await one.page.locator('.theirs', { hasText: 'late.txt' }).locator('.state.cancelled').waitFor();
    expect([...one.reports, ...phone.reports]).toEqual([]);
  });

  test('say nothing of a push that comes when nobody is signed in any more', async () => {
    const app = await open('Desktop', newUser());
    await deviceRow(app.page, 'Desktop').or(app.page.locator('.brand')).first().waitFor();
    await push(app, { v: 1, type: 'message', count: 1, id: 'm', from: 'Phone', text: 'private' });
    await shown(app, 1);
    await app.page.evaluate(() => localStorage.removeItem('baton-development'));
    await app.page.reload();
    await app.page.locator('.front').waitFor();
    await shown(app, 0);
    await push(app, { v: 1, type: 'message', count: 1, id: 'm', from: 'Phone', text: 'private' });
    const [only] = await shown(app, 1);
    expect(JSON.stringify(only)).not.toMatch(/Phone|private/);
    expect(only?.body).toContain('Nobody is signed in');
  });
});
