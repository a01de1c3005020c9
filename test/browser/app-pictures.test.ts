import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { makeDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { accept, chooseFiles, deviceRow, inThread, localUrl, openApp, openThread, say } from './app-page.ts';
import { launchChromium, withChromium } from './chromium.ts';

/* The pictures at the top of README.md. Real devices send each other what is in them. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The committed pictures are replaced only on request. */
const FOLDER = process.env.APP_TEST_README === undefined ? join(ROOT, 'dist/screenshots') : join(ROOT, 'services/web');
const MOST_BYTES = 200_000;

const COLOURS = [
  ['#9fd3e6', '#3f7fa8'],
  ['#f0c98a', '#c46b3c'],
  ['#a8dba0', '#4f8f58'],
  ['#7d93b8', '#2b3a55'],
] as const;

/** Draws a picture that is worth looking at, in the form of a camera's file. */
function drawn(page: Page, [light, dark]: readonly [string, string]): Promise<string> {
  return page.evaluate(
    ([from, to]) => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 });
      const context = canvas.getContext('2d') as CanvasRenderingContext2D;
      const sky = context.createLinearGradient(0, 0, 640, 480);
      sky.addColorStop(0, from as string);
      sky.addColorStop(1, to as string);
      context.fillStyle = sky;
      context.fillRect(0, 0, 640, 480);
      return canvas.toDataURL('image/jpeg', 0.8).split(',')[1] as string;
    },
    [light, dark],
  );
}

withChromium.describe('the pictures of the README', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  async function keep(page: Page, name: string): Promise<void> {
    // By now the notices and toasts have gone.
    await page.waitForFunction(() => document.querySelector('.notice') === null);
    await page.mouse.move(640, 5);
    const path = join(FOLDER, `${name}-screenshot.png`);
    await page.screenshot({ path, animations: 'disabled' });
    expect(readFileSync(path).length).toBeLessThan(MOST_BYTES);
  }

  test('a thread in light and dark, and the list on a phone', async () => {
    const user = 'ann';
    const device = (name: string, type: 'ios' | 'windows') => makeDevice({ user, name, type });
    const [tablet, home] = [device('Kitchen tablet', 'ios'), device('Home desktop', 'windows')];
    for (const one of [tablet, home]) await one.on(site.one).call('getMe');
    const url = localUrl(site.one);
    const desk = await openApp(browser, { url, user, name: 'Work laptop', viewport: { width: 1280, height: 800 } });
    const phone = await openApp(browser, { url, user, name: 'Pixel 8', viewport: { width: 390, height: 844 } });
    await Promise.all([deviceRow(desk.page, 'Pixel 8').waitFor(), deviceRow(phone.page, 'Work laptop').waitFor()]);
    await openThread(phone.page, 'Work laptop');
    await openThread(desk.page, 'Pixel 8');

    await say(phone.page, 'Are the pictures of Sunday on the laptop?');
    await say(phone.page, 'I need them for the album.');
    await inThread(desk.page).getByText('for the album').waitFor();
    const pictures = [];
    for (const [at, colours] of COLOURS.entries()) {
      const buffer = Buffer.from(await drawn(desk.page, colours), 'base64');
      pictures.push({ name: `Sunday ${at + 1}.jpg`, mimeType: 'image/jpeg', buffer });
    }
    await chooseFiles(desk.page, pictures);
    await accept(phone.page);
    await inThread(phone.page).getByRole('button', { name: 'Save', exact: true }).waitFor();
    await say(desk.page, 'With the map: https://example.org/maps/around-the-lake');
    await say(desk.page, 'Run `npm start` and look at port 8080.');
    await inThread(phone.page).getByText('port 8080').waitFor();
    await chooseFiles(phone.page, {
      ...{ name: 'Boarding pass.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(214_000, 'Boarding pass ') },
    });
    await accept(desk.page);
    await inThread(desk.page).getByRole('button', { name: 'Save', exact: true }).waitFor();
    await tablet.on(site.one).call('sendMessage', {
      body: { to: 'Work laptop', content: 'Dinner is at seven.' },
    });
    await home.on(site.one).call('setClipboard', { body: { content: 'ssh ann@home', content_type: 'text/plain' } });
    await deviceRow(desk.page, 'Kitchen tablet').locator('.count').waitFor();
    await desk.page.getByText('copied text').first().waitFor();

    await keep(desk.page, 'thread');
    await desk.page.emulateMedia({ colorScheme: 'dark' });
    await keep(desk.page, 'thread-dark');
    await desk.page.emulateMedia({ colorScheme: 'light' });
    await desk.page.setViewportSize({ width: 390, height: 780 });
    await desk.page.evaluate(() => {
      location.hash = '#/';
    });
    await keep(desk.page, 'list');
    expect([...desk.reports, ...phone.reports]).toEqual([]);
  }, 180_000);
});
