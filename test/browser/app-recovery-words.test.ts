import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { keysOfWords, makeWords } from '../../shared/client/sealed.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import { deviceRow, DESKTOP, openThread, PHONE } from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import type { KeyedDevice } from './keyed-device.ts';
import { type KeyedSite, startKeyedSite } from './keyed-site.ts';
import { keepPicture } from './keep-picture.ts';

/* Recovery words in the app. A device with the key of the account makes them, and one that has lost it uses them. */

const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt-BR', 'ja', 'zh-Hans'];
const GET = { name: 'Get the key' };
const MAKE = { name: 'Make recovery words' };

withChromium.describe('recovery words in the app', () => {
  let site: KeyedSite;
  let browser: Browser;
  let redis: ReturnType<typeof connectTo>;
  beforeAll(async () => {
    redis = connectTo(sharedRedisUrl());
    [site, browser] = await Promise.all([startKeyedSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    redis.disconnect();
    await browser.close();
    await site.stop();
  });

  const encryption = (page: Page) => page.getByRole('region', { name: 'Encryption' });
  const field = (page: Page) => page.getByLabel('The 24 words');
  const numberIn = async (laptop: KeyedDevice): Promise<number> => (await laptop.ring()).ring.body.n;
  const hasWords = async (laptop: KeyedDevice): Promise<boolean> =>
    (await laptop.ring()).ring.body.members.some(({ kind }) => kind === 'words');

  /** Looks at one state in both colour schemes, at both sizes, and mirrored. */
  async function look(page: Page, name: string): Promise<void> {
    const before = page.viewportSize() ?? DESKTOP;
    for (const viewport of [DESKTOP, PHONE]) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect(await violations(page, colorScheme === 'light' ? 'all' : 'colours')).toEqual([]);
        await keepPicture(page, `words-${name}-${viewport.width}-${colorScheme}`, { animations: 'disabled' });
      }
      expect(await isTooWide(page)).toBe(false);
    }
    await page.setViewportSize(before);
  }

  const isTooWide = (page: Page): Promise<boolean> =>
    page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll('.pane-body')].some(
        ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
      ),
    );

  async function at(page: Page, place: string): Promise<void> {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${place}`);
  }

  /** Begins to make words, and returns the shown ones. */
  async function showWords(page: Page, begin = MAKE): Promise<string[]> {
    await at(page, 'words');
    await page.getByRole('button', begin).click();
    await page.locator('.word-list li').nth(23).waitFor();
    return page.locator('.word-list li').allInnerTexts();
  }

  /** Goes on to the two fields, and fills them. */
  async function typeTwo(page: Page, words: readonly string[]): Promise<void> {
    await page.getByRole('button', { name: 'I have written them down' }).click();
    for (const input of await page.getByLabel(/^Word \d+$/).all()) {
      const label = await input.evaluate((element) => (element as HTMLInputElement).labels?.[0]?.textContent ?? '');
      await input.fill(words[Number(/\d+/.exec(label)?.[0]) - 1] ?? '');
    }
  }

  async function makeAll(page: Page, begin = MAKE): Promise<string[]> {
    const words = await showWords(page, begin);
    await typeTwo(page, words);
    await page.getByRole('button', { name: 'Finish' }).click();
    await page.getByText('The recovery words count from now on.').waitFor();
    return words;
  }

  /** Returns everything that this browser keeps, and the page, as one text. */
  const everything = (page: Page): Promise<string> =>
    page.evaluate(async () => {
      const parts: unknown[] = [document.documentElement.outerHTML, history.state, location.href];
      parts.push(Object.entries(localStorage), Object.entries(sessionStorage));
      for (const input of document.querySelectorAll('input, textarea')) parts.push((input as HTMLInputElement).value);
      const answer = <T>(request: IDBRequest<T>) =>
        new Promise<T>((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error ?? new Error('no answer'));
        });
      for (const { name = '' } of await indexedDB.databases()) {
        const database = await answer(indexedDB.open(name));
        for (const store of database.objectStoreNames) {
          parts.push(await answer(database.transaction(store).objectStore(store).getAll()));
        }
        database.close();
      }
      for (const name of await caches.keys()) {
        parts.push((await (await caches.open(name)).keys()).map((request) => request.url));
      }
      return JSON.stringify(parts);
    });

  const holds = (text: string, words: readonly string[]): boolean =>
    new RegExp(words.slice(0, 3).join('\\W+(?:li\\W+)*'), 'i').test(text);

  /** Clears the storage of keys, as Safari does after a week. */
  async function loseKeys(page: Page): Promise<void> {
    await page.goto(`${site.url}/api/docs`);
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          indexedDB.deleteDatabase('baton-keys').onsuccess = resolve;
        }),
    );
    await page.goto(`${site.url}/#/settings`);
    await encryption(page).getByText('The keys of this browser are gone.').waitFor();
  }

  /** Returns words with a wrong checksum, because two have changed places. */
  async function swapped(words: readonly string[]): Promise<string> {
    for (let index = 1; index < words.length; index += 1) {
      const other = words.with(0, words[index] ?? '').with(index, words[0] ?? '');
      const isBad = await keysOfWords(other.join(' ')).then(
        () => false,
        () => true,
      );
      if (isBad) return other.join(' ');
    }
    throw new Error('every order fits');
  }

  test('words are made once, kept nowhere, and let a browser in whose keys are gone, when the device that made them is gone too', async () => {
    const laptop = await site.account();
    const one = await site.open(browser, laptop, { name: 'Desktop' });
    const two = await site.open(browser, laptop, { name: 'Tablet', viewport: PHONE });
    await at(one.page, 'settings');
    await encryption(one.page).getByText('There are no recovery words.').waitFor();
    await encryption(one.page).getByRole('link', MAKE).click();
    await one.page.getByText('Whoever has the words can open messages').waitFor();
    await one.page.getByText('Tablet was added. Was that you?').waitFor();
    await look(one.page, 'begin');
    const words = await showWords(one.page);
    expect(words).toHaveLength(24);
    expect(await one.page.evaluate(() => document.activeElement?.textContent)).toBe('Your 24 recovery words');
    expect(holds(await everything(one.page), words)).toBe(true);
    await look(one.page, 'shown');
    await one.page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await keepPicture(one.page, 'words-printed');
    await one.page.getByRole('button', { name: 'Print' }).waitFor({ state: 'hidden' });
    expect(await one.page.locator('.word-list').isVisible()).toBe(true);
    await one.page.emulateMedia({ media: 'screen', colorScheme: 'light' });

    // The app asks for two of them, and names a wrong one. From here on the test uses the keyboard.
    await typeTwo(
      one.page,
      words.with(0, 'zebra').map(() => 'zebra'),
    );
    await one.page.keyboard.press('Enter');
    await one.page.getByText(/Word \d+ is not right\. Look at your list\./).waitFor();
    await look(one.page, 'wrong');
    expect(await hasWords(laptop)).toBe(false);
    await one.page.getByRole('button', { name: 'Show the words again' }).click();
    await typeTwo(
      one.page,
      words.map((word) => ` ${word.toUpperCase()} `),
    );
    await one.page.keyboard.press('Enter');
    await one.page.getByText('The recovery words count from now on.').waitFor();
    const today = new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(Date.now());
    await one.page.getByText(`Recovery words exist since ${today}.`).waitFor();
    expect(holds(await everything(one.page), words)).toBe(false);
    await one.page.goBack();
    expect(holds(await everything(one.page), words)).toBe(false);
    await encryption(one.page).getByText(`Recovery words exist since ${today}.`).waitFor();
    await encryption(one.page).scrollIntoViewIfNeeded();
    await look(one.page, 'settings');

    await loseKeys(two.page);
    const text = `waits-${randomBytes(6).toString('hex')}`;
    await laptop.send('Tablet', text);
    await one.context.close();
    await site.replaceReplica();
    await encryption(two.page).getByRole('link', { name: 'Use recovery words' }).click();
    const tryWords = async (typed: string): Promise<void> => {
      await field(two.page).fill(typed);
      await two.page.getByRole('button', GET).click();
    };
    await tryWords(words.with(6, 'hosue').join(' '));
    await two.page.getByText(/Word 7, .hosue., is no recovery word\./).waitFor();
    expect(await two.page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    await look(two.page, 'wrong-word');
    await tryWords(words.slice(1).join(' '));
    await two.page.getByText('These are 23 words. 24 are needed.').waitFor();
    await tryWords(await swapped(words));
    await two.page.getByText('These words do not belong together.').waitFor();
    await tryWords(await makeWords());
    await two.page.getByText('These are not the recovery words of this account.').waitFor();
    await look(two.page, 'other-words');
    expect(await two.page.evaluate(() => localStorage.getItem('baton-keys'))).toBe('{"kind":"lost"}');
    await tryWords(words.map((word, index) => `${index + 1}. ${word.toUpperCase()}`).join(',\n  '));
    await encryption(two.page).locator('.fingerprint').nth(3).waitFor();
    expect(holds(await everything(two.page), words)).toBe(false);
    await at(two.page, '');
    await deviceRow(two.page, 'Laptop').getByText(text).waitFor();
    await openThread(two.page, 'Laptop');
    await two.page.locator('.theirs .lock.is-sealed').waitFor();
    const { members, epoch } = (await laptop.ring()).ring.body;
    expect(members.map(({ kind }) => kind).sort()).toEqual(['cli', 'web', 'web', 'words']);
    // The tablet's earlier keys are out.
    expect(epoch).toBe(2);
    expect(await dumpsHolding(redis, site.prefix, words.join(' '))).toEqual([]);
    expect([...one.reports, ...two.reports]).toEqual([]);
  }, 180_000);

  test('a page that is reloaded while words are shown changes nothing, and one that is reloaded while they are put has them', async () => {
    const laptop = await site.account();
    const { page, reports } = await site.open(browser, laptop, { name: 'Desktop' });
    const before = await numberIn(laptop);
    const lost = await showWords(page);
    await page.reload();
    await page.getByRole('button', MAKE).waitFor();
    expect(holds(await everything(page), lost)).toBe(false);
    expect(await numberIn(laptop)).toBe(before);

    const words = await showWords(page);
    await typeTwo(page, words);
    // The service takes the words, and its response does not come.
    await page.route('**/api/keys', async (route) => {
      if (route.request().method() === 'PUT') await route.fetch();
    });
    await page.getByRole('button', { name: 'Finish' }).click();
    await until(
      () => hasWords(laptop),
      (has) => has,
      'the words are put',
    );
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.reload();
    await page.getByText('Recovery words exist since').waitFor();
    expect(holds(await everything(page), words)).toBe(false);

    // The user has them already, and new ones replace them.
    const second = await site.open(browser, laptop, { name: 'Tablet' });
    await loseKeys(second.page);
    await at(second.page, 'words');
    await field(second.page).fill(words.join(' '));
    await second.page.getByRole('button', GET).click();
    await encryption(second.page).locator('.fingerprint').first().waitFor();
    const newer = await makeAll(page, { name: 'Make new recovery words' });
    await loseKeys(second.page);
    await at(second.page, 'words');
    await field(second.page).fill(words.join(' '));
    await second.page.getByRole('button', GET).click();
    await second.page.getByText('These are not the recovery words of this account.').waitFor();
    await field(second.page).fill(newer.join(' '));
    await second.page.getByRole('button', GET).click();
    await encryption(second.page).locator('.fingerprint').first().waitFor();
    expect([...reports, ...second.reports]).toEqual([]);
  }, 180_000);

  test('of two tabs that show words, only those count that are finished first, and the other tab says so', async () => {
    const laptop = await site.account();
    const { page, context, reports } = await site.open(browser, laptop, { name: 'Desktop' });
    const tab = await context.newPage();
    await tab.goto(`${site.url}/#/words`);
    const [ofTab, words] = [await showWords(tab), await showWords(page)];
    await typeTwo(tab, ofTab);
    await typeTwo(page, words);
    await page.getByRole('button', { name: 'Finish' }).click();
    await page.getByText('The recovery words count from now on.').waitFor();
    await tab.getByText('Other recovery words were made meanwhile.').waitFor();
    expect(holds(await everything(tab), ofTab)).toBe(false);
    await look(tab, 'moved');

    // Both tabs of a browser without keys use the words at the same time.
    await loseKeys(page);
    for (const each of [page, tab]) {
      await each.goto(`${site.url}/#/words`);
      await field(each).fill(words.join(' '));
    }
    // Both buttons are found first, because the form of one tab goes when the other tab has the key.
    const buttons = await Promise.all([page, tab].map((each) => each.getByRole('button', GET).elementHandle()));
    await Promise.all(buttons.map((button) => button?.evaluate((element) => (element as HTMLElement).click())));
    for (const each of [page, tab]) await encryption(each).locator('.fingerprint').nth(2).waitFor();
    const { members, epoch } = (await laptop.ring()).ring.body;
    expect([members.length, epoch]).toEqual([3, 2]);
    await page.goto(`${site.url}/#/`);
    await laptop.send('Desktop', 'to the new keys');
    await deviceRow(page, 'Laptop').getByText('to the new keys').waitFor();
    expect(reports).toEqual([]);
  }, 180_000);

  test('words that are due for renewal are renewed by typing them', async () => {
    const laptop = await site.account();
    const words = await laptop.sealing().recovery.makeWords();
    // That is more than half of the rings that a service keeps.
    await laptop.lengthenChain(520);
    const { page, reports } = await site.open(browser, laptop, { name: 'Desktop' });
    await at(page, 'settings');
    await encryption(page).getByText('They are due for renewal.').waitFor();
    await encryption(page).scrollIntoViewIfNeeded();
    await look(page, 'due');
    await encryption(page).getByRole('link', { name: 'Renew recovery words' }).click();
    await page.getByRole('button', { name: 'Renew recovery words' }).click();
    await look(page, 'renew');
    await field(page).fill(words);
    await page.getByRole('button', { name: 'Renew recovery words' }).click();
    await page.getByText('The recovery words go on counting.').waitFor();
    await at(page, 'settings');
    await encryption(page).getByText('Recovery words exist since').waitFor();
    await encryption(page).getByText('due for renewal').waitFor({ state: 'detached' });
    expect(await laptop.sealing().recovery.areDue(await laptop.ring())).toBe(false);
    expect(reports).toEqual([]);
  }, 180_000);

  test('fit a phone in every language, and in a page from right to left', async () => {
    const laptop = await site.account();
    const { page, reports } = await site.open(browser, laptop, { name: 'Desktop', viewport: PHONE });
    for (const language of LANGUAGES) {
      await page.evaluate((tag) => localStorage.setItem('baton-language', tag), language);
      await page.goto(`${site.url}/?${language}#/words`);
      await page.waitForFunction((tag) => document.documentElement.lang === tag, language);
      await page.locator('.card .button.primary').waitFor();
      expect([language, await isTooWide(page)]).toEqual([language, false]);
      await page.locator('.card .button.primary').click();
      await page.locator('.word-list').waitFor();
      expect([language, await isTooWide(page)]).toEqual([language, false]);
      await keepPicture(page, `words-language-${language}`, { fullPage: true });
    }
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl';
    });
    await look(page, 'right-to-left');
    expect(reports).toEqual([]);
  }, 180_000);

  test('are not for a guest, nor for a browser whose keys cannot be used', async () => {
    const laptop = await site.account();
    const { page } = await site.open(browser, laptop, { name: 'Desktop' });
    await laptop.sealing().deletions.removeKeys();
    await page.goto(`${site.url}/?gone#/words`);
    await page.getByText('The service has no keys of this account any more.').waitFor();
    expect(await page.locator('.card').getByRole('button').count()).toBe(0);
    await page.evaluate(() => localStorage.setItem('baton-keys', '{"kind":"keyed","isGuest":true}'));
    await page.goto(`${site.url}/?guest#/words`);
    await page.getByText('Only your own device that stays signed in can make keys.').waitFor();
    expect(await page.locator('.card').getByRole('button').count()).toBe(0);
  }, 60_000);
});
