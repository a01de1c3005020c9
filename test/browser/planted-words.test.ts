import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { makeTerminals, type Terminal } from '../cli/terminal.ts';
import { isInstalled } from '../edge/edges.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { startWatchedSite, type WatchedSite } from '../support/sealed/watched-site.ts';
import { findWords, rareWord } from '../support/sealed/word-search.ts';
import { type AppPage, chooseFiles, inThread, leaveFirstThread, openApp, openThread, say } from './app-page.ts';
import { chromiumPath, launchWholeChromium } from './chromium.ts';
import { showCode } from './keyed-site.ts';
import { giveFake, turnOn } from './push-page.ts';
import { deliverPush, shownNotification, untilWorker } from './service-worker.ts';

/*
 * Words that occur nowhere by chance are in everything that a browser sends and gets. The test searches everything that an
 * installation writes down for them. The same search finds each word when the devices have no keys. `cli/planted-words.test.ts`
 * does the same for programs.
 */

const KINDS = [
  ...['message', 'answer', 'clipboard', 'name', 'type', 'bytes', 'leftName', 'leftType', 'preview'],
] as const;
type Words = Record<string, string>;
const makeWords = (): Words => Object.fromEntries(KINDS.map((kind) => [kind, rareWord(kind.toLowerCase())]));

const withAll = skipUnless(isInstalled('nginx') && chromiumPath !== undefined, 'needs nginx and Chromium');

withAll.describe('what a browser sends and gets', () => {
  let site: WatchedSite;
  let browser: Browser;
  let terminals: ReturnType<typeof makeTerminals>;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startWatchedSite(), launchWholeChromium()]);
    terminals = makeTerminals({ door: site, logIn: () => site.logIn() });
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    terminals.stop();
    await browser.close();
    await site.stop();
  });

  /** Opens the app in a browser that the terminal lets in, with a push service. */
  async function open(laptop: Terminal, isKeyed: boolean): Promise<AppPage> {
    const app = await openApp(browser, { url: 'about:blank#', locale: 'en', permissions: ['notifications'] });
    await giveFake(app.context, site.push);
    await app.page.goto(site.url);
    const { stdout } = await laptop.ok(['approve', await showCode(app.page, 'Desktop'), '--yes']);
    if (isKeyed) {
      const question = app.page.getByRole('dialog', { name: 'Are the digits the same?' });
      await question.getByText(/Check code: (\d{4})/.exec(stdout)?.[1] ?? 'no digits').waitFor();
      await question.getByRole('button', { name: 'Laptop shows these' }).click();
    }
    await leaveFirstThread(app.page);
    return app;
  }

  /** Writes in both directions, and copies. */
  async function plantTexts({ page }: AppPage, laptop: Terminal, words: Words): Promise<void> {
    await openThread(page, 'Laptop');
    await say(page, words['message'] ?? '');
    await inThread(page).locator('.mine .mark.sent, .mine .mark.delivered').waitFor();
    await laptop.ok(['message', 'Desktop', words['answer'] ?? '']);
    await inThread(page)
      .locator('.theirs')
      .getByText(words['answer'] ?? '')
      .waitFor();
    await page.goto(`${site.url}/#/clipboard`);
    await page.locator('.pane textarea').fill(words['clipboard'] ?? '');
    await page.getByRole('button', { name: 'Put in the clipboard' }).click();
    await page.locator('.clipboard-from', { hasText: 'Desktop' }).waitFor();
    await page.goto(`${site.url}/#/`);
  }

  /** Sends a file, and offers another one that nobody takes. */
  async function plantFiles({ page }: AppPage, laptop: Terminal, words: Words): Promise<string> {
    await openThread(page, 'Laptop');
    const receiving = laptop.run(['receive', '--yes', '--once', '--dir', 'in', '--plain']);
    await receiving.says(/Waiting for/);
    const file = (name: string, type: string) => ({
      name: `${words[name]}.txt`,
      mimeType: `text/x-${words[type]}`,
      buffer: Buffer.from(words['bytes'] ?? ''),
    });
    await chooseFiles(page, file('name', 'type'));
    expect([await receiving.status, receiving.stderr()]).toEqual([0, expect.any(String)]);
    await inThread(page).locator('.state', { hasText: 'Sent' }).waitFor();
    await chooseFiles(page, file('leftName', 'leftType'));
    await inThread(page).getByText(`${words['leftName']}.txt`).waitFor();
    await inThread(page).getByRole('button', { name: 'Cancel' }).waitFor();
    return readFileSync(join(laptop.folder, 'in', `${words['name']}.txt`), 'utf8');
  }

  /** Pushes a text while the app is closed, and returns what the worker shows. */
  async function plantPush(app: AppPage, laptop: Terminal, words: Words): Promise<string> {
    const { page } = app;
    await page.goto(`${site.url}/#/settings`);
    await untilWorker(page);
    await page.getByLabel('Who sent it, and the text').check();
    await turnOn(page);
    await page.getByText('Notifications are on.').waitFor();
    // This page has no app, which would show and acknowledge the message.
    await page.goto(`${site.url}/api/docs`);
    const before = site.push.pushes.length;
    await laptop.ok(['message', 'Desktop', words['preview'] ?? '']);
    const pushed = (await site.push.received(before + 1)).at(-1);
    await deliverPush(app, site.url, pushed?.payload ?? {});
    return (await shownNotification(page)).body;
  }

  async function plant(app: AppPage, laptop: Terminal): Promise<Words> {
    const words = makeWords();
    await plantTexts(app, laptop, words);
    expect(await plantFiles(app, laptop, words)).toBe(words['bytes']);
    expect(await plantPush(app, laptop, words)).toBe(words['preview']);
    return words;
  }

  test('is found word by word in what an installation keeps, where the devices have no keys', async () => {
    const [laptop] = (await terminals.devices('Laptop')) as [Terminal];
    const words = await plant(await open(laptop, false), laptop);
    const found = findWords(words, await site.places());
    expect(Object.entries(found).filter(([, places]) => places.length === 0)).toEqual([]);
    const places = Object.values(found).flat();
    for (const where of [/^Redis /, /^DUMP /, /appendonly.*\.aof/, /^web pushes/, /client_body/])
      expect([where, places.some((place) => where.test(place))]).toEqual([where, true]);
  }, 120_000);

  test('is found nowhere where the devices have keys, and arrives', async () => {
    const [laptop] = (await terminals.devices('Laptop')) as [Terminal];
    await laptop.ok(['keys', 'create']);
    const app = await open(laptop, true);
    const words = await plant(app, laptop);
    const found = findWords(words, await site.places());
    expect(found).toEqual(Object.fromEntries(KINDS.map((kind) => [kind, []])));
    expect((await laptop.ok(['inbox'])).stdout).toContain(words['message']);
    expect((await laptop.ok(['paste'])).stdout).toBe(words['clipboard']);
    expect(app.reports).toEqual([]);
  }, 120_000);
});
