import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { skipUnless } from '../support/runner/skips.ts';
import { type Site, startSite } from '../support/site.ts';
import { type AppPage, accept, chooseFiles, deviceRow, localUrl, openApp, openThread } from './app-page.ts';
import { firefoxPath } from './bare-firefox.ts';
import { chromiumPath, launchChromium } from './chromium.ts';
import { shareClipboard, signIn, talk } from './driven-page.ts';
import { type FirefoxPage, openFirefoxPage } from './firefox-page.ts';
import { type MeasuredPage, openMeasuredPage } from './measured-page.ts';

/** The file is larger than a block of the receiver, and not a multiple of one. */
const BYTES = 5_000_003;
/** The file is large enough that its path can be seen while it moves. */
const LONG_BYTES = 40_000_001;

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

const withBoth = skipUnless(firefoxPath !== undefined && chromiumPath !== undefined, 'needs Firefox and Chromium');

withBoth.describe('the app in Firefox on one replica and in Chromium on the other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-firefox-main-'));
  const photo = join(folder, 'photo.bin');
  const film = join(folder, 'film.bin');
  let site: Site;
  let browser: Browser;
  let fox: FirefoxPage;
  let user: string;
  let direct: MeasuredPage | null = null;
  beforeAll(async () => {
    writeFileSync(photo, randomBytes(BYTES));
    writeFileSync(film, randomBytes(LONG_BYTES));
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  beforeEach(async () => {
    user = `user-${randomBytes(4).toString('hex')}`;
    fox = await openFirefoxPage(localUrl(site.one));
  }, 120_000);
  afterEach(async () => {
    await Promise.all([fox.stop(), direct?.stop(), ...browser.contexts().map((context) => context.close())]);
    direct = null;
  });
  afterAll(async () => {
    await Promise.all([site.stop(), browser.close()]);
    rmSync(folder, { recursive: true });
  });

  async function enter(): Promise<void> {
    await signIn(fox, { user, name: 'Fox' });
    await fox.shows('.side h1', 'Devices');
  }

  const openChromium = (): Promise<AppPage> => openApp(browser, { url: localUrl(site.two), user, name: 'Desktop' });

  test('several files are handed over as one archive, and come out of it as they were', async () => {
    await enter();
    const { page } = await openChromium();
    await fox.click('.device-name', 'Desktop');
    await openThread(page, 'Fox');
    const files = Array.from({ length: 30 }, (_, at) => ({ name: `${at}.txt`, text: `file ${at}` }));
    await chooseFiles(
      page,
      files.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })),
    );
    await fox.click('button', 'Accept');
    await fox.shows('.state', 'Received');
    const path = await fox.save('button', 'Save');
    expect(path).toMatch(/30 files\.zip$/);
    execFileSync('unzip', ['-q', path, '-d', join(folder, 'unzipped')]);
    for (const { name, text } of files) expect(readFileSync(join(folder, 'unzipped', name), 'utf8')).toBe(text);
    await fox.shows('.state', 'Saved');
    expect(fox.reports).toEqual([]);
  });

  test('they see each other, and messages, the clipboard and files go both ways', async () => {
    await enter();
    const { page, reports } = await openChromium();
    await deviceRow(page, 'Fox').getByText('Online').waitFor();
    await fox.shows('.device .unseen', 'Online');

    await talk(fox, page, 'Fox');

    await chooseFiles(page, photo);
    await fox.click('button', 'Accept');
    await fox.shows('.state', 'Received');
    expect(sha256(await fox.save('button', 'Save'))).toBe(sha256(photo));

    await fox.choose('button', 'Send files', photo);
    await accept(page);
    await fox.shows('.state', 'Sent');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(sha256(await (await saved).path())).toBe(sha256(photo));

    await shareClipboard(fox, page);
    expect([...fox.reports, ...reports]).toEqual([]);
  }, 180_000);

  test('a file goes from device to device, each way', async () => {
    await enter();
    direct = await openMeasuredPage({ url: localUrl(site.two), user, name: 'Desktop', direct: true });
    await direct.click('.device-name', 'Fox');
    await fox.click('.device-name', 'Desktop');

    await direct.choose('button', 'Send files', film);
    await fox.click('button', 'Accept');
    await fox.shows('button', 'Direct');
    await fox.shows('.state', 'Received', 60_000);
    expect(sha256(await fox.save('button', 'Save'))).toBe(sha256(film));

    await fox.choose('button', 'Send files', film);
    await direct.click('button', 'Accept');
    await direct.shows('button', 'Direct');
    await direct.shows('.state', 'Received', 60_000);
    expect(sha256(await direct.save('button', 'Save'))).toBe(sha256(film));
    await fox.shows('.state', 'Sent');
    expect(fox.reports).toEqual([]);
  }, 240_000);
});
