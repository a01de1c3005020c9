import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { makeClient } from '../../shared/client/http/client.ts';
import { makeDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { DESKTOP, deviceRow, inThread, localUrl, openApp, openThread, PHONE } from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';

const PICTURES = fileURLToPath(new URL('../../dist/screenshots/', import.meta.url));
const NO_KEY = 'Encrypted. This browser has no key for it.';

/** What devices seal, as far as the service and a browser without a key can tell. */
const envelope = (): string => Buffer.concat([Buffer.of(1, 0, 0, 0, 1), randomBytes(60)]).toString('base64url');

async function look(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([]);
  await page.screenshot({ path: `${PICTURES}${name}.png` });
}

withChromium.describe('encrypted content in the app', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite({}, { alone: true }), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  test.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ])('is named as such where this browser has no key, and is lost nowhere (%s)', async (size, viewport) => {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const laptop = makeDevice({ user, name: 'Laptop' });
    const calls = laptop.on(site.one);
    await calls.call('getMe');
    const { page, reports } = await openApp(browser, { url: localUrl(site.one), user, name: 'Browser', viewport });
    await deviceRow(page, 'Laptop').waitFor();
    const { devices } = (await calls.call('listDevices')).body;
    const id = devices.find(({ name }) => name === 'Browser')?.device_id ?? '';
    const own = makeClient({ baseUrl: site.one.url, headers: () => ({ ...laptop.headers, 'X-Dev-Device': id }) });
    const waiting = async () => (await own.call('listMessages')).body.messages;
    const sealed = envelope();
    await calls.call('setClipboard', { body: { sealed, content_type: 'text/plain' } });
    await calls.call('sendMessage', { body: { to_device_id: id, sealed: envelope() } });

    await deviceRow(page, 'Laptop').getByText(NO_KEY).waitFor();
    const card = page.locator('.clipboard-card');
    await card.getByText(NO_KEY).waitFor();
    expect(await card.getByRole('button', { name: 'Copy', exact: true }).count()).toBe(0);
    // The history goes on where it was.
    expect(await page.getByText('stores nothing').count()).toBe(0);
    await look(page, `sealed-list-${size}`);
    await openThread(page, 'Laptop');
    await inThread(page).locator('.bubble').getByText(NO_KEY).waitFor();
    expect(await inThread(page).locator('.item').getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await look(page, `sealed-thread-${size}`);
    await page.goto(`${localUrl(site.one)}/#/clipboard`);
    await inThread(page).getByText(NO_KEY).waitFor();
    await look(page, `sealed-clipboard-${size}`);

    // A new stream hands the message over again, because nobody has acknowledged it. It is one item all the same.
    await page.goto(`${localUrl(site.one)}/#/`);
    await page.reload();
    await openThread(page, 'Laptop');
    await inThread(page).locator('.bubble').getByText(NO_KEY).waitFor();
    expect(await inThread(page).locator('.item').count()).toBe(1);
    expect(await waiting()).toHaveLength(1);
    expect((await calls.call('getClipboard')).body).toMatchObject({ sealed });

    // Whoever removes it gives it up.
    await inThread(page).locator('.item').getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Remove' }).click();
    await inThread(page).locator('.item').waitFor({ state: 'detached' });
    expect(await waiting()).toEqual([]);
    expect(reports).toEqual([]);
  });
});
