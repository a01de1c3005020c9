import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { makeDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, chooseFiles, DESKTOP, deviceRow, localUrl, openApp, PHONE, say, inThread } from './app-page.ts';
import { fillHistory, LONG_NAME, tellTabs } from './app-history.ts';
import { keepMessages, randomUser } from './app-two.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { isTooWide, LANGUAGES, useLanguage } from './too-wide.ts';
import { keepPicture } from './keep-picture.ts';

/* axe-core checks every state of the app, and pictures of each state are kept for people in dist/screenshots. */

const SIZES = { 390: PHONE, 1440: DESKTOP, 320: { width: 320, height: 568 } };

const WORDS = [
  'Run `npm start`, then look at www.example.org/a_(b) or write to ann@example.org.',
  '```sh on the laptop\nfor file in *.jpg; do\n  convert "$file" -resize 50% "small-$file" && echo "a line that is longer than any telephone is wide"\ndone\n```\nand `that` is all',
  `https://example.org/${'a-very-long-path/'.repeat(12)}end?with=query`,
  'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverleihungsurkundenüberreichungszeremonie'.repeat(2),
  'שלום, הקובץ נמצא ב https://example.org/תמונות/קיץ.jpg מחר.',
  'مرحبا `npm test` ثم https://example.com/',
  '\u202etxt.exe and https://bank.example@evil.example',
  '    indented first\n\n\n  and after two empty lines',
  '```never closed\npw: a`b`c',
];

withChromium.describe('how the app looks', () => {
  let site: Site;
  let browser: Browser;
  const flaws: string[] = [];
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  beforeEach(() => flaws.splice(0));
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  /** Looks at one state in both colour schemes, once everything that moves has come to rest. */
  async function look(page: Page, width: number, state: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await keepPicture(page, `${state}-${width}-${colorScheme}`, { animations: 'disabled' });
      const found = await violations(page, colorScheme === 'light' ? 'all' : 'colours');
      for (const flaw of found) flaws.push(`${state} ${width} ${colorScheme}: ${flaw}`);
    }
    if (await isTooWide(page)) flaws.push(`${state} ${width}: wider than the window`);
  }

  async function enrol(user: string, names: readonly string[]): Promise<void> {
    for (const name of names) await makeDevice({ user, name, type: 'browser' }).on(site.one).call('getMe');
  }

  async function visit({ page }: AppPage, width: number, at: string, ready: string, state: string): Promise<void> {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${at}`);
    await page.locator(ready).first().waitFor();
    await look(page, width, state);
  }

  test.each([390, 1440] as const)(
    'before somebody is signed in, at %d points',
    async (width) => {
      const url = localUrl(site.one);
      const { page, reports } = await openApp(browser, { url, viewport: SIZES[width], locale: 'en' });
      await page.locator('.front h1').waitFor();
      await look(page, width, 'welcome');
      await page.getByLabel('User name').fill(`user-${randomBytes(4).toString('hex')}`);
      await page.keyboard.press('Enter');
      await page.getByLabel('Device name').waitFor();
      await look(page, width, 'name');
      await page.getByLabel('Device name').fill('Desktop');
      await page.keyboard.press('Enter');
      await page.getByText('Only this device so far').waitFor();
      await look(page, width, 'no-devices');
      const unreachable = await openApp(browser, { url, viewport: SIZES[width], locale: 'de' });
      await unreachable.page.locator('.front h1').waitFor();
      await unreachable.page.route('**/api/**', (route) => route.abort());
      await unreachable.page.evaluate(() => localStorage.setItem('baton-logging-in', 'yes'));
      await unreachable.page.reload();
      await unreachable.page.getByText('nicht erreichbar').waitFor();
      await look(unreachable.page, width, 'unreachable');
      expect(flaws).toEqual([]);
      expect([...reports, ...unreachable.reports]).toEqual([]);
    },
    120_000,
  );

  test.each([390, 1440] as const)(
    'with everything in it, at %d points',
    async (width) => {
      const user = `user-${randomBytes(4).toString('hex')}`;
      await enrol(user, ['Phone', 'Tablet in the kitchen', LONG_NAME]);
      const app = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop', viewport: SIZES[width] });
      const { page } = app;
      await deviceRow(page, 'Tablet').waitFor();
      const phoneId = await fillHistory(page, user, 'Phone');
      await look(page, width, 'devices');
      await visit(app, width, `device/${phoneId}`, '.bubble.files', 'thread');
      const running = { bytes: 1_100_000, totalBytes: 2_400_000, bytesPerSecond: 310_000, secondsLeft: 4.2 };
      await tellTabs(page, user, {
        type: 'running',
        id: 'f5',
        running: { ...running, path: 'relay', isPaused: false },
      });
      await page.locator('progress').scrollIntoViewIfNeeded();
      await tellTabs(page, user, { type: 'shared', part: { isDegraded: true } });
      await page.getByText('The service is having trouble').waitFor();
      await look(page, width, 'progress-degraded');
      await tellTabs(page, user, { type: 'shared', part: { isDegraded: false } });
      await page.locator('.items-box').evaluate((box) => box.scrollTo(0, 0));
      await look(page, width, 'thread-above');
      await page.getByRole('button', { name: 'More about this device' }).click();
      await look(page, width, 'thread-menu');
      await page.getByRole('button', { name: 'Clear history' }).click();
      await page.locator('dialog').waitFor();
      await look(page, width, 'dialog');
      await page.keyboard.press('Escape');
      await visit(app, width, 'clipboard', '.empty', 'clipboard-empty');
      await page.getByLabel('Or type a text').fill('https://example.org/some/where\nand a second line');
      await page.getByRole('button', { name: 'Put in the clipboard' }).click();
      await inThread(page)
        .getByText(/gone in/)
        .waitFor();
      await look(page, width, 'clipboard');
      await inThread(page).getByRole('button', { name: 'show' }).click();
      await look(page, width, 'clipboard-shown');
      await visit(app, width, 'add', '.address', 'add');
      await visit(app, width, 'approve/nonsense', '.empty', 'approve-wrong');
      await visit(app, width, 'settings', '.session, .sessions', 'settings');
      await visit(app, width, 'search', 'input[type=search]', 'search-empty');
      await page.getByRole('searchbox').fill('a');
      await page.locator('.found').first().waitFor();
      await look(page, width, 'search');
      await visit(app, width, 'send', '.empty', 'send-nothing');
      await visit(app, width, 'nonsense', '.empty', 'nowhere');
      await app.context.setOffline(true);
      await page.getByText('You are offline').waitFor();
      await visit(app, width, '', '.device', 'offline');
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#/device/${phoneId}`);
      await page.locator('.composer textarea').waitFor();
      await say(page, 'This one waits');
      await chooseFiles(page, { name: 'Lake on Sunday.jpg', mimeType: 'image/jpeg', buffer: randomBytes(2_000) });
      await page.getByText('Waits until you are online.').nth(1).waitFor();
      await look(page, width, 'thread-waiting');
      expect(flaws).toEqual([]);
      expect(app.reports).toEqual([]);
    },
    240_000,
  );

  test('fifty devices, a hundred transfers and long names at 320 and 390 points, in German', async () => {
    const user = `user-${randomBytes(4).toString('hex')}`;
    await enrol(user, [LONG_NAME, ...Array.from({ length: 49 }, (_, i) => `Device ${i + 1}`)]);
    for (const width of [320, 390] as const) {
      const app = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop', viewport: SIZES[width] });
      await deviceRow(app.page, 'Device 49').waitFor();
      const id = await fillHistory(app.page, user, LONG_NAME, 100);
      await app.page.evaluate(() => localStorage.setItem('baton-language', 'de'));
      await app.page.reload();
      await deviceRow(app.page, 'Device 49').waitFor();
      await look(app.page, width, 'fifty-devices');
      await visit(app, width, `device/${id}`, '.bubble.files', 'hundred-transfers');
      await visit(app, width, 'settings', '.sessions', 'settings-german');
      expect(app.reports).toEqual([]);
      await app.context.close();
    }
    expect(flaws).toEqual([]);
  }, 240_000);

  test('no view is wider than a phone, in any language', async () => {
    const user = randomUser();
    await enrol(user, ['Pixel 8']);
    const app = await openApp(browser, { url: localUrl(site.one), user, name: 'Work laptop', viewport: SIZES[320] });
    await deviceRow(app.page, 'Pixel 8').waitFor();
    const wide: string[] = [];
    for (const language of LANGUAGES) {
      await useLanguage(app.page, language);
      const views = { settings: '.sessions', clipboard: '.pane-body', search: 'input[type=search]' };
      for (const [at, ready] of Object.entries(views)) {
        await app.page.evaluate((hash) => {
          location.hash = hash;
        }, `#/${at}`);
        await app.page.locator(ready).first().waitFor();
        for (const width of [320, 390] as const) {
          await app.page.setViewportSize(SIZES[width]);
          if (await isTooWide(app.page)) wide.push(`${at} ${language} ${width}`);
        }
      }
    }
    expect(wide).toEqual([]);
    expect(app.reports).toEqual([]);
  });

  test.each([390, 1440] as const)(
    'words of every kind, at %d points',
    async (width) => {
      const user = randomUser();
      await enrol(user, ['Phone']);
      const app = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop', viewport: SIZES[width] });
      await deviceRow(app.page, 'Phone').waitFor();
      const thread = await keepMessages(app.page, user, WORDS);
      await visit(app, width, `device/${thread}`, '.bubble a', 'words');
      await app.page.locator('.items-box').evaluate((box) => box.scrollTo(0, 0));
      await look(app.page, width, 'words-above');
      await visit(app, width, 'search', 'input[type=search]', 'search-words');
      await app.page.getByRole('searchbox').fill('e');
      await app.page.locator('.found').first().waitFor();
      await look(app.page, width, 'search-words');
      await app.page.evaluate(() => {
        IDBObjectStore.prototype.put = () => {
          throw new DOMException('No', 'QuotaExceededError');
        };
      });
      await visit(app, width, `device/${thread}`, '.composer textarea', 'words');
      await say(app.page, 'after the disk was full');
      await app.page.getByText('This browser stores nothing').waitFor();
      await look(app.page, width, 'no-history');
      expect(flaws).toEqual([]);
      expect(app.reports).toEqual([]);
    },
    120_000,
  );

  test('from right to left everything has its mirrored place, and the keyboard alone reaches and leaves it', async () => {
    const user = `user-${randomBytes(4).toString('hex')}`;
    await enrol(user, ['Phone']);
    const app = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop' });
    const { page } = app;
    await deviceRow(page, 'Phone').waitFor();
    const pressed: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      await page.keyboard.press('Tab');
      pressed.push(
        await page.evaluate(() => (document.activeElement?.textContent || document.activeElement?.ariaLabel) ?? ''),
      );
    }
    expect(pressed.slice(0, 3)).toEqual(['Skip to content', 'Add a device', 'Settings']);
    expect(pressed[3]).toContain('Search');
    expect(pressed[4]).toContain('Phone');
    await page.keyboard.press('Enter');
    await page.locator('.composer').waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl';
    });
    const side = await page.locator('.side').boundingBox();
    expect(side?.x).toBeGreaterThan(DESKTOP.width / 2);
    await look(page, 1440, 'right-to-left');
    expect(flaws).toEqual([]);
    expect(app.reports).toEqual([]);
  }, 120_000);
});
