import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { accept, type AppPage, chooseFiles, inThread, localUrl, openApp, openThread, PHONE } from './app-page.ts';
import { launchChromium, withChromium } from './chromium.ts';

/** The file is large enough that further connections open, and that some can be lost while it is under way. */
const BYTES = 60_000_000;
const LINKS = 4;
const TAKES_MS = 120_000;

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The connections that the page has made, as `openApp` keeps them. */
type Kept = typeof globalThis & { connections: RTCPeerConnection[] };

const connected = (page: Page, count: number) =>
  page.waitForFunction(
    (wanted) => {
      const open = (globalThis as Kept).connections.filter(({ connectionState }) => connectionState === 'connected');
      return open.length === wanted;
    },
    count,
    { timeout: TAKES_MS },
  );

/** Returns how many connections the page has made, including those of attempts that are over. */
const madeIn = (page: Page): Promise<number> => page.evaluate(() => (globalThis as Kept).connections.length);

/** Closes one of the open connections, which are numbered in the order in which they were made. */
const closeOpen = (page: Page, index: number): Promise<void> =>
  page.evaluate((at) => {
    const open = (globalThis as Kept).connections.filter(({ connectionState }) => connectionState === 'connected');
    open[at]?.close();
  }, index);

withChromium.describe('a file over several connections between two browsers with the app', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-app-direct-'));
  const film = join(folder, 'film.bin');
  const bytes = randomBytes(BYTES);
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    writeFileSync(film, bytes);
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await Promise.all([site.stop(), browser.close()]);
    rmSync(folder, { recursive: true });
  });

  /** Opens a phone and a desktop, each looking at the other's thread. Also collects what they ask of the relay. */
  async function pair(prepare: (context: BrowserContext) => Promise<unknown> = async () => {}) {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const relayed: string[] = [];
    const open = async (name: string, url: string, more: object): Promise<AppPage> => {
      const made = await openApp(browser, { url, user, name, direct: true, permissions: ['microphone'], ...more });
      await prepare(made.context);
      made.page.on('request', (request) => {
        if (request.url().includes('/api/relay/')) relayed.push(request.url());
      });
      return made;
    };
    const [phone, desktop] = await Promise.all([
      open('Phone', localUrl(site.one), { viewport: PHONE }),
      open('Desktop', localUrl(site.two), {}),
    ]);
    await openThread(phone.page, 'Desktop');
    await openThread(desktop.page, 'Phone');
    return { phone, desktop, relayed };
  }

  const state = (page: Page, text: string) =>
    inThread(page).locator('.state', { hasText: text }).waitFor({ timeout: TAKES_MS });

  async function saved(page: Page): Promise<Buffer> {
    const download = page.waitForEvent('download');
    await inThread(page).getByRole('button', { name: 'Save', exact: true }).click();
    return readFileSync(await (await download).path());
  }

  test('four open, two of them are lost in the middle, and the file arrives whole over the others', async () => {
    const { phone, desktop, relayed } = await pair();
    await chooseFiles(phone.page, film);
    await accept(desktop.page);
    await inThread(desktop.page).getByRole('button', { name: 'Direct' }).waitFor();
    await connected(phone.page, LINKS);
    await connected(desktop.page, LINKS);
    await inThread(phone.page).getByRole('button', { name: 'Pause' }).click();
    await inThread(phone.page).getByRole('button', { name: 'Resume' }).waitFor();
    const made = [await madeIn(phone.page), await madeIn(desktop.page)];
    // The first connection, which the service signalled, and a further one close, each at another side.
    await closeOpen(phone.page, 0);
    await closeOpen(desktop.page, 2);
    await inThread(phone.page).getByRole('button', { name: 'Resume' }).click();
    await state(desktop.page, 'Received');
    await state(phone.page, 'Sent');
    expect(sha256(await saved(desktop.page))).toBe(sha256(bytes));
    // Neither side looked for another path.
    expect([await madeIn(phone.page), await madeIn(desktop.page)]).toEqual(made);
    expect(relayed).toEqual([]);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  }, 240_000);

  test('a receiver that says nothing of further connections gets the file over one', async () => {
    const { phone, desktop, relayed } = await pair((context) =>
      context.route('**/api/hub/signal', (route) => {
        const body = route.request().postDataJSON() as { payload: { links?: number } };
        delete body.payload.links;
        return route.continue({ postData: JSON.stringify(body) });
      }),
    );
    await chooseFiles(phone.page, film);
    await accept(desktop.page);
    await inThread(desktop.page).getByRole('button', { name: 'Direct' }).waitFor();
    const made = [await madeIn(phone.page), await madeIn(desktop.page)];
    await state(desktop.page, 'Received');
    expect(sha256(await saved(desktop.page))).toBe(sha256(bytes));
    expect([await madeIn(phone.page), await madeIn(desktop.page)]).toEqual(made);
    expect(relayed).toEqual([]);
  }, 240_000);
});
