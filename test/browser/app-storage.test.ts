import type { Browser, BrowserContext } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, chooseFiles, deviceRow, localUrl, openApp, openThread, say, inThread } from './app-page.ts';
import { randomUser, shownTexts } from './app-two.ts';
import { launchChromium, withChromium } from './chromium.ts';

const SENTENCE = 'This browser stores nothing for Baton';
const SILENT = 'The storage of this browser does not answer';

/** The ways in which browsers deny storage to pages. Each runs before any code of the app. */
const BLOCKS = {
  'localStorage that throws': () =>
    Object.defineProperty(window, 'localStorage', {
      get: () => {
        throw new DOMException('Access is denied', 'SecurityError');
      },
    }),
  'sessionStorage that throws': () =>
    Object.defineProperty(window, 'sessionStorage', {
      get: () => {
        throw new DOMException('Access is denied', 'SecurityError');
      },
    }),
  'IndexedDB that throws': () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('Access is denied', 'SecurityError');
    };
  },
  'IndexedDB that is missing': () => Object.defineProperty(window, 'indexedDB', { value: undefined }),
  /** The browser has a newer database of this name. */
  'IndexedDB that refuses': () => {
    const open = IDBFactory.prototype.open;
    open.call(indexedDB, 'newer', 9);
    IDBFactory.prototype.open = function () {
      return open.call(this, 'newer', 1);
    };
  },
  /** Another page holds a database that is being deleted. */
  'IndexedDB that never answers': () => {
    const open = IDBFactory.prototype.open;
    open.call(indexedDB, 'held', 1).onsuccess = ({ target }) => {
      Object.assign(globalThis, { held: target });
      indexedDB.deleteDatabase('held');
    };
    IDBFactory.prototype.open = function () {
      return open.call(this, 'held', 1);
    };
  },
  'a private file system that throws': () => {
    StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('No', 'SecurityError'));
  },
  'no storage manager': () => Object.defineProperty(navigator, 'storage', { value: undefined }),
  'locks that are refused': () => {
    LockManager.prototype.request = () => Promise.reject(new DOMException('No', 'SecurityError'));
  },
  'no locks': () => Object.defineProperty(navigator, 'locks', { value: undefined }),
  'no service worker': () =>
    Object.defineProperty(navigator, 'serviceWorker', {
      get: () => {
        throw new DOMException('No', 'SecurityError');
      },
    }),
  'no channels between tabs': () => Object.assign(window, { BroadcastChannel: undefined }),
} as const;
type Block = keyof typeof BLOCKS;

const WITHOUT_HISTORY: readonly Block[] = [
  'IndexedDB that throws',
  'IndexedDB that is missing',
  'IndexedDB that refuses',
  'IndexedDB that never answers',
];

const NAMES = Object.keys(BLOCKS) as Block[];
const AT_ONCE: readonly Block[] = [
  ...(['localStorage that throws', 'sessionStorage that throws', 'IndexedDB that throws'] as const),
  ...(['a private file system that throws', 'locks that are refused', 'no service worker'] as const),
  'no channels between tabs',
];

withChromium.describe('the app in a browser that lets pages keep little', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  const block = async (context: BrowserContext, names: readonly Block[]): Promise<void> => {
    for (const name of names) await context.addInitScript(BLOCKS[name]);
  };

  /** Signs in by a name on a page that remembers nobody. */
  async function signIn({ page }: AppPage, user: string, name: string): Promise<void> {
    await page.getByLabel('User name').fill(user);
    await page.keyboard.press('Enter');
    await page.getByLabel('Device name').fill(name);
    await page.keyboard.press('Enter');
  }

  async function openBlocked(user: string, names: readonly Block[]): Promise<AppPage> {
    const app = await openApp(browser, { url: 'about:blank#', locale: 'en' });
    await block(app.context, names);
    await app.page.goto(localUrl(site.one));
    await signIn(app, user, 'Desktop');
    return app;
  }

  /** Expects that messages go both ways and are shown. */
  async function expectTalk(desktop: AppPage, phone: AppPage): Promise<void> {
    await deviceRow(phone.page, 'Desktop').waitFor();
    await Promise.all([openThread(desktop.page, 'Phone'), openThread(phone.page, 'Desktop')]);
    await say(desktop.page, 'from here');
    await desktop.page.locator('.mark.delivered').waitFor();
    await say(phone.page, 'from there');
    await phone.page.locator('.mark.delivered').waitFor();
    await inThread(desktop.page).getByText('from there', { exact: true }).waitFor();
    expect(await shownTexts(desktop.page)).toEqual(['from here', 'from there']);
  }

  test.each([...NAMES.map((name) => [name, [name]] as const), ['everything at once', AT_ONCE] as const])(
    'with %s messages pass, and it says when nothing is kept',
    async (_title, names) => {
      const user = randomUser();
      const desktop = await openBlocked(user, names);
      const phone = await openApp(browser, { url: localUrl(site.two), user, name: 'Phone' });
      await expectTalk(desktop, phone);
      const isWithout = names.some((name) => WITHOUT_HISTORY.includes(name));
      const said = names.includes('IndexedDB that never answers') ? SILENT : SENTENCE;
      expect(await desktop.page.getByText(said).isVisible()).toBe(isWithout);
      // Every pane opens, and the words of a draft stay while the page is open.
      await desktop.page.locator('.composer textarea').fill('a draft');
      for (const name of ['Search', 'Settings', 'Clipboard', 'Add a device']) {
        await desktop.page.getByRole('link', { name }).first().click();
        await desktop.page.locator('.pane h1').getByText(name).waitFor();
      }
      await openThread(desktop.page, 'Phone');
      expect(await desktop.page.locator('.composer textarea').inputValue()).toBe('a draft');
      expect(desktop.reports).toEqual([]);
    },
    120_000,
  );

  test.each(['a private file system that throws', 'no storage manager'] as const)(
    'with %s it says that no files can be received here',
    async (name) => {
      const user = randomUser();
      const desktop = await openBlocked(user, [name]);
      const phone = await openApp(browser, { url: localUrl(site.two), user, name: 'Phone' });
      await deviceRow(phone.page, 'Desktop').waitFor();
      await openThread(phone.page, 'Desktop');
      await chooseFiles(phone.page, { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
      await openThread(desktop.page, 'Phone');
      await desktop.page.locator('.offer').getByText('This browser lets Baton store no files').waitFor();
      expect(await desktop.page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0);
      await desktop.page.getByRole('button', { name: 'Refuse', exact: true }).click();
      await inThread(phone.page).getByText('Refused', { exact: true }).waitFor();
      expect(desktop.reports).toEqual([]);
    },
  );

  test.each([
    ['is full', 'QuotaExceededError'],
    ['was closed', 'InvalidStateError'],
  ])(
    'storage that %s for a time: everything is shown, it says so, and all of it is kept in the end',
    async (_how, error) => {
      const user = randomUser();
      const phone = await openApp(browser, { url: localUrl(site.two), user, name: 'Phone' });
      const desktop = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop' });
      await deviceRow(desktop.page, 'Phone').waitFor();
      await expectTalk(desktop, phone);
      expect(await desktop.page.getByText(SENTENCE).isVisible()).toBe(false);
      await desktop.page.evaluate((name) => {
        const fail = () => {
          throw new DOMException('No', name);
        };
        const [store, storage] = [IDBObjectStore.prototype, Storage.prototype];
        const { put } = store;
        const { setItem } = storage;
        Object.assign(globalThis, { mend: () => [Object.assign(store, { put }), Object.assign(storage, { setItem })] });
        Object.assign(store, { put: fail });
        Object.assign(storage, { setItem: fail });
      }, error);
      await say(desktop.page, 'still from here');
      await desktop.page.getByText(SENTENCE).waitFor();
      // Messages are shown in the order in which the service accepted them.
      await inThread(phone.page).getByText('still from here', { exact: true }).waitFor();
      await say(phone.page, 'still from there');
      await inThread(desktop.page).getByText('still from there', { exact: true }).waitFor();
      await desktop.page.locator('.mark.delivered').nth(1).waitFor();
      expect(await shownTexts(desktop.page)).toEqual([
        'from here',
        'from there',
        'still from here',
        'still from there',
      ]);
      // The mailbox has the only copy that outlasts the page.
      expect(await phone.page.locator('.mark.delivered').count()).toBe(1);

      await desktop.page.evaluate(() => (globalThis as unknown as { mend: () => void }).mend());
      await phone.page.locator('.mark.delivered').nth(1).waitFor();
      await desktop.page.getByText(SENTENCE).waitFor({ state: 'hidden' });
      await desktop.page.reload();
      await inThread(desktop.page).getByText('still from there', { exact: true }).waitFor();
      expect(await shownTexts(desktop.page)).toEqual([
        'from here',
        'from there',
        'still from here',
        'still from there',
      ]);
      expect(desktop.reports).toEqual([]);
    },
  );

  test('a database that another page holds for long: everything is shown and sent, and it says so', async () => {
    const user = randomUser();
    const phone = await openApp(browser, { url: localUrl(site.two), user, name: 'Phone' });
    const desktop = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop' });
    await deviceRow(desktop.page, 'Phone').waitFor();
    await expectTalk(desktop, phone);
    const other = await desktop.context.newPage();
    await other.goto(`${localUrl(site.one)}/api/docs`);
    await other.evaluate(async (account) => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        indexedDB.open(`baton-${account}`).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
      });
      // The app may open its database again meanwhile.
      const store = database.transaction([...database.objectStoreNames], 'readwrite').objectStore('settings');
      await new Promise((resolve) => {
        const hold = () => {
          Object.assign(store.get('nothing'), { onsuccess: hold });
          resolve(null);
        };
        hold();
      });
    }, user);
    await say(desktop.page, 'still from here');
    await inThread(phone.page).getByText('still from here', { exact: true }).waitFor();
    await desktop.page.getByText(SILENT).waitFor();
    await say(phone.page, 'still from there');
    await inThread(desktop.page).getByText('still from there', { exact: true }).waitFor();
    await other.close();
    await desktop.page.getByText(SILENT).waitFor({ state: 'hidden' });
    const all = ['from here', 'from there', 'still from here', 'still from there'];
    await desktop.page.reload();
    await inThread(desktop.page).getByText('still from there', { exact: true }).waitFor();
    expect(await shownTexts(desktop.page)).toEqual(all);
    expect(desktop.reports).toEqual([]);
  }, 90_000);

  test('a database that the browser has closed is opened again, and what comes is kept', async () => {
    const user = randomUser();
    const phone = await openApp(browser, { url: localUrl(site.two), user, name: 'Phone' });
    const desktop = await openApp(browser, { url: 'about:blank#', locale: 'en' });
    await desktop.context.addInitScript(() => {
      const transaction = IDBDatabase.prototype.transaction;
      IDBDatabase.prototype.transaction = function (this: IDBDatabase, ...given: Parameters<typeof transaction>) {
        Object.assign(globalThis, { [`opened ${this.name}`]: this });
        return transaction.apply(this, given);
      };
    });
    await desktop.page.goto(localUrl(site.one));
    await signIn(desktop, user, 'Desktop');
    await expectTalk(desktop, phone);
    await desktop.page.evaluate(() => {
      const opened = Object.entries(globalThis).filter(([key]) => key.startsWith('opened baton-'));
      for (const [, database] of opened) (database as IDBDatabase).close();
    });
    await say(phone.page, 'after the close');
    await phone.page.locator('.mark.delivered').nth(1).waitFor();
    expect(await desktop.page.getByText(SENTENCE).isVisible()).toBe(false);
    await desktop.page.reload();
    await inThread(desktop.page).getByText('after the close', { exact: true }).waitFor();
    expect(desktop.reports).toEqual([]);
  });
});
