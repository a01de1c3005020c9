import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { blobSource } from '../../shared/client/index.ts';
import { connectTo, keysUnder, sharedRedisUrl } from '../support/redis/redis.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import {
  accept,
  type AppPage,
  chooseFiles,
  DESKTOP,
  deviceRow,
  inThread,
  openApp,
  openThread,
  leaveFirstThread,
  PHONE,
} from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { openFirefoxPage } from './firefox-page.ts';
import { moved as movedIn } from './found.ts';
import { type KeyedSite, showCode, startKeyedSite } from './keyed-site.ts';
import { keepPicture } from './keep-picture.ts';

/*
 * Files between browsers with keys: what the service sees of them, and what becomes of a file whose way is interrupted.
 */

const RECORD = 256 * 1024;

const word = (name: string): string => `${name}-${randomBytes(6).toString('hex')}`;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const file = (name: string, buffer: Buffer, mimeType = 'application/octet-stream') => ({ name, mimeType, buffer });

async function look(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, name);
}

const state = (page: Page, text: string) => inThread(page).locator('.state', { hasText: text });

/** Waits until more than this share of the only transfer has moved. It must not be over then. */
async function moved(page: Page, share: number): Promise<void> {
  expect(await page.evaluate(movedIn(share, 60_000))).toBeLessThan(1);
}

/** Lets a page send no faster than this. */
async function slowDown({ context, page }: AppPage, bytesPerSecond: number): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: bytesPerSecond };
  await session.send('Network.emulateNetworkConditions', conditions);
}

/** Presses a button that hands a file to the downloads, and returns the file's bytes. */
async function saved(page: Page, label: string): Promise<Buffer> {
  const download = page.waitForEvent('download');
  await inThread(page).getByRole('button', { name: label, exact: true }).first().click();
  return readFileSync(await (await download).path());
}

withChromium.describe('encrypted files in the app', () => {
  let site: KeyedSite;
  let browser: Browser;
  let redis: ReturnType<typeof connectTo>;
  const folder = mkdtempSync(join(tmpdir(), 'baton-sealed-files-'));
  beforeAll(async () => {
    redis = connectTo(sharedRedisUrl());
    [site, browser] = await Promise.all([startKeyedSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    redis.disconnect();
    await browser.close();
    await site.stop();
    rmSync(folder, { recursive: true });
  });

  const holding = (words: readonly string[]) => dumpsHolding(redis, site.prefix, ...words);

  const relayKeys = () => keysUnder(redis, site.prefix, ':relay:*');

  type Entry = [Buffer, Buffer[]];
  /** Returns the bytes of a file in an entry of its stream. The other values are short. */
  const bytesIn = ([, fields]: Entry) => fields.find((value) => value.length > 1_000);

  /** Returns the streams of files that the service did not hold earlier. */
  async function streamsSince(before: readonly string[]): Promise<{ key: string; entries: Entry[] }[]> {
    const streams = [];
    for (const key of (await relayKeys()).filter((each) => !before.includes(each))) {
      if ((await redis.type(key)) !== 'stream') continue;
      streams.push({ key, entries: (await redis.xrangeBuffer(key, '-', '+')) as unknown as Entry[] });
    }
    return streams;
  }

  /** Resolves when the service holds bytes of files that it did not hold earlier. */
  async function uploaded(before: readonly string[] = []): Promise<void> {
    for (const until = Date.now() + 30_000; Date.now() < until; ) {
      // A stream is there before its first bytes.
      if ((await streamsSince(before)).some(({ entries }) => entries.some(bytesIn))) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('Nothing was uploaded');
  }

  /** Changes one byte of a file that the service did not hold earlier. Returns how many bytes it changed. */
  async function changeByte(before: readonly string[]): Promise<number> {
    let changed = 0;
    for (const { key, entries } of await streamsSince(before)) {
      await redis.del(key);
      for (const entry of entries) {
        const bytes = bytesIn(entry);
        if (bytes !== undefined && changed === 0) {
          bytes[bytes.length - 7] = (bytes[bytes.length - 7] ?? 0) ^ 1;
          changed += 1;
        }
        await redis.xadd(key, entry[0].toString(), ...(entry[1] as never as [string, string]));
      }
    }
    return changed;
  }

  /** Opens a desktop and a phone of one account, each looking at the thread of the other. */
  async function pair(direct = false) {
    const laptop = await site.account();
    const permissions = direct ? ['microphone'] : [];
    const open = (name: string, viewport = DESKTOP) =>
      site.open(browser, laptop, { name, viewport, direct, permissions });
    const desktop = await open('Desktop');
    const phone = await open('Phone', PHONE);
    await openThread(desktop.page, 'Phone');
    await openThread(phone.page, 'Desktop');
    return { laptop, desktop, phone };
  }

  test('names, types and contents are in no key of the store, and arrive as they were, on a phone too', async () => {
    const { desktop, phone } = await pair();
    const [name, content, text] = ['name', 'content', 'text'].map(word) as [string, string, string];
    const sizes = [0, 1, RECORD, RECORD + 1];
    const all = sizes.map((size) => Buffer.from(content.repeat(Math.ceil(size / content.length)).slice(0, size)));
    await chooseFiles(
      desktop.page,
      all.map((bytes, index) => file(`${name}-${index}.txt`, bytes, 'text/x-planted')),
    );
    await inThread(phone.page).getByText(`${name}-3.txt`).waitFor();
    const planted = [name, content, 'text/x-planted'];
    await uploaded();
    expect(await holding(planted)).toEqual([]);
    await look(phone.page, 'sealed-files-offer-phone');
    await accept(phone.page);
    await state(phone.page, 'Received').waitFor();
    for (const [index, bytes] of all.entries()) {
      expect(sha256(await saved(phone.page, `Save ${name}-${index}.txt`))).toBe(sha256(bytes));
    }
    for (const { page } of [desktop, phone]) await inThread(page).locator('.files .lock.is-sealed').waitFor();
    await state(desktop.page, 'Sent').waitFor();
    await look(desktop.page, 'sealed-files');
    await look(phone.page, 'sealed-files-phone');

    // A text that is too long for a message goes as a file, and can be read in the thread.
    await phone.page.locator('.composer textarea').fill(`${text} `.repeat(400));
    await phone.page.getByRole('button', { name: 'Send as file' }).click();
    await inThread(desktop.page).getByText('message.txt').waitFor();
    await uploaded();
    expect(await holding([...planted, text, 'message.txt'])).toEqual([]);
    await accept(desktop.page);
    await inThread(desktop.page).locator('.long-text').getByText(text).waitFor();

    // The text is forwarded, refused, and sent again.
    await inThread(desktop.page).locator('.theirs').getByRole('button', { name: 'More' }).click();
    await desktop.page.getByRole('button', { name: 'Forward' }).click();
    await desktop.page.getByRole('checkbox', { name: 'Phone' }).check();
    await desktop.page.locator('.main').getByRole('button', { name: 'Send', exact: true }).click();
    await inThread(phone.page).locator('.theirs').getByText('message.txt').waitFor();
    await phone.page.getByRole('button', { name: 'Refuse' }).click();
    await state(desktop.page, 'Refused').waitFor();
    await inThread(desktop.page).locator('.mine').last().getByRole('button', { name: 'More' }).click();
    await desktop.page.getByRole('button', { name: 'Send again' }).click();
    await inThread(phone.page).getByRole('button', { name: 'Accept' }).waitFor();
    await uploaded();
    expect(await holding([...planted, text, 'message.txt'])).toEqual([]);
    expect([...desktop.reports, ...phone.reports]).toEqual([]);
  }, 180_000);

  test('a file goes on after a reload of each side and the end of a replica, and is the same', async () => {
    const { desktop, phone } = await pair();
    const path = join(folder, 'resumed.bin');
    const bytes = randomBytes(24_000_001);
    writeFileSync(path, bytes);
    await slowDown(desktop, 1_200_000);
    await chooseFiles(desktop.page, path);
    await accept(phone.page);
    await moved(phone.page, 0.2);
    await phone.page.reload();
    await moved(phone.page, 0.35);
    await desktop.page.reload();
    await moved(desktop.page, 0.5);
    await site.replaceReplica();
    await state(phone.page, 'Received').waitFor({ timeout: 90_000 });
    expect(sha256(await saved(phone.page, 'Save'))).toBe(sha256(bytes));
    await state(desktop.page, 'Sent').waitFor();
    // The key of the files goes with the transfer.
    const kept = await desktop.page.evaluate(async () => {
      const names = (await indexedDB.databases()).map(({ name }) => String(name));
      const database = await new Promise<IDBDatabase>((resolve) => {
        const open = indexedDB.open(names.find((each) => each.startsWith('baton-user')) ?? '');
        open.onsuccess = () => resolve(open.result);
      });
      const all = database.transaction('items').objectStore('items').getAll();
      await new Promise((resolve) => {
        all.onsuccess = resolve;
      });
      database.close();
      return all.result.map((item: { state: string; lock: string; fileKey?: string }) => [
        item.state,
        item.lock,
        item.fileKey,
      ]);
    });
    expect(kept).toEqual([['done', 'sealed', undefined]]);
    expect([...desktop.reports, ...phone.reports]).toEqual([]);
  }, 240_000);

  test('from device to device its signals are sealed, and it changes to the relay when that path breaks', async () => {
    const { desktop, phone } = await pair(true);
    const path = join(folder, 'direct.bin');
    const bytes = randomBytes(60_000_000);
    writeFileSync(path, bytes);
    const signals: string[] = [];
    for (const { page } of [desktop, phone]) {
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/signal')) signals.push(request.postData() ?? '');
      });
    }
    await chooseFiles(desktop.page, path);
    await accept(phone.page);
    await inThread(phone.page).getByRole('button', { name: 'Direct' }).waitFor();
    await inThread(desktop.page).getByRole('button', { name: 'Pause' }).click();
    await desktop.page.evaluate(() => {
      for (const one of (globalThis as unknown as { connections: RTCPeerConnection[] }).connections) one.close();
    });
    await inThread(desktop.page).getByRole('button', { name: 'Resume' }).click();
    await state(phone.page, 'Received').waitFor({ timeout: 90_000 });
    expect(sha256(await saved(phone.page, 'Save'))).toBe(sha256(bytes));
    const all = signals.map((text) => JSON.parse(text) as { transfer_id?: string | null; payload: object });
    // Files that take a second to read are announced by their number and size before there is a transfer.
    const ofTransfer = all.filter(({ transfer_id }) => typeof transfer_id === 'string');
    const kinds = ofTransfer.map(({ payload }) => Object.keys(payload));
    expect(kinds.length).toBeGreaterThan(3);
    for (const keys of kinds) expect(keys).toEqual(['sealed']);
    expect([...desktop.reports, ...phone.reports]).toEqual([]);
  }, 240_000);

  test('a byte that somebody changes in the store fails the file on both sides, and nothing of it is kept', async () => {
    const { desktop, phone } = await pair();
    const before = await relayKeys();
    await chooseFiles(desktop.page, file('changed.bin', randomBytes(30_000)));
    await inThread(phone.page).getByText('changed.bin').waitFor();
    await uploaded(before);
    expect(await changeByte(before)).toBe(1);
    await accept(phone.page);
    const words = 'A part of the files was changed on the way';
    for (const { page } of [desktop, phone]) await inThread(page).locator('.item-error').getByText(words).waitFor();
    expect(await inThread(phone.page).getByRole('button', { name: 'Save' }).count()).toBe(0);
    const left = await phone.page.evaluate(async () => {
      const found: string[] = [];
      const root = await navigator.storage.getDirectory();
      for await (const [name, handle] of root as unknown as AsyncIterable<[string, FileSystemDirectoryHandle]>) {
        if (!name.startsWith('account-')) continue;
        for await (const [inner] of handle as unknown as AsyncIterable<[string, FileSystemHandle]>) found.push(inner);
      }
      return found;
    });
    expect(left).toEqual([]);
    await look(phone.page, 'sealed-files-changed-phone');
    expect([...desktop.reports, ...phone.reports]).toEqual([]);
  }, 120_000);

  test('other bytes under the name of a file that is chosen again are found, and both sides are told', async () => {
    const { desktop, phone } = await pair();
    const path = join(folder, 'source.bin');
    writeFileSync(path, randomBytes(36_000_000));
    await slowDown(desktop, 2_000_000);
    await chooseFiles(desktop.page, path);
    await accept(phone.page);
    await moved(phone.page, 0.2);
    await desktop.page.reload();
    writeFileSync(path, randomBytes(36_000_000));
    const chooser = desktop.page.waitForEvent('filechooser');
    await desktop.page.getByRole('button', { name: 'Choose the same files to continue' }).click();
    await (await chooser).setFiles(path);
    for (const { page } of [desktop, phone]) {
      // Either the bytes do not fit in a record, or they do not fit the digest of the whole.
      const words = inThread(page)
        .locator('.item-error')
        .getByText(/A part of the files was changed|What arrived is not/);
      await words.waitFor({ timeout: 90_000 });
    }
    expect(await inThread(phone.page).getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect([...desktop.reports, ...phone.reports]).toEqual([]);
  }, 240_000);

  test('a receiver whose keys are gone in the middle says so, and the sender hears that it cannot open them', async () => {
    const { desktop, phone } = await pair();
    await slowDown(desktop, 1_000_000);
    const path = join(folder, 'film.bin');
    writeFileSync(path, randomBytes(24_000_000));
    await chooseFiles(desktop.page, path);
    await accept(phone.page);
    await moved(phone.page, 0.1);
    await phone.page.evaluate(() => {
      indexedDB.deleteDatabase('baton-keys');
    });
    await phone.page.reload();
    await inThread(phone.page).locator('.item-error').getByText('The keys of this browser are gone').waitFor();
    await inThread(desktop.page).locator('.item-error').getByText('no key that opens these').waitFor();
    expect([...desktop.reports, ...phone.reports]).toEqual([]);
  }, 120_000);

  test('files go unencrypted only to whom the user has allowed it, and are never taken unasked', async () => {
    const laptop = await site.account();
    const desktop = await site.open(browser, laptop, { name: 'Desktop' });
    const tablet = await openApp(browser, { url: site.url, locale: 'en', viewport: PHONE });
    const link = await showCode(tablet.page, 'Tablet');
    await laptop.client.signIns.approve(String(link.split('#')[0]), { scope: 'full', persist: 'persist' });
    await openThread(desktop.page, 'Tablet');
    await leaveFirstThread(tablet.page);
    await openThread(tablet.page, 'Desktop');
    const [name, content] = [word('open'), word('content')];
    await chooseFiles(desktop.page, file(name, Buffer.from(content)));
    await inThread(desktop.page).getByText('The other device has no key').waitFor();
    expect(await holding([name, content])).toEqual([]);
    await look(desktop.page, 'sealed-files-unkeyed');
    await desktop.page.getByRole('button', { name: 'Send unencrypted' }).click();
    await inThread(tablet.page).getByText(name).waitFor();
    await uploaded();
    // Unencrypted words are found.
    for (const each of [name, content]) expect(await holding([each])).not.toEqual([]);
    await accept(tablet.page);
    await inThread(desktop.page).locator('.files .lock').getByText('the service can read this').waitFor();
    expect(String(await saved(tablet.page, 'Save'))).toBe(content);

    for (const again of ['first', 'second']) {
      await chooseFiles(tablet.page, file(`${again}.txt`, Buffer.from(again)));
      const offer = inThread(desktop.page).locator('.theirs', { hasText: `${again}.txt` });
      await offer.getByText('the service could have written this').waitFor();
      await offer.getByRole('checkbox').check();
      await look(desktop.page, 'sealed-files-open');
      await offer.getByRole('button', { name: 'Accept' }).click();
      await offer.locator('.state', { hasText: 'Received' }).waitFor();
    }
    expect([...desktop.reports, ...tablet.reports]).toEqual([]);
  }, 120_000);

  test('an offer waits until the digits were compared, and then has its names', async () => {
    const laptop = await site.account();
    const { page, reports } = await openApp(browser, { url: site.url, locale: 'en', viewport: PHONE });
    const digits = await laptop.letIn(await showCode(page, 'Phone'));
    const question = page.getByRole('dialog', { name: 'Are the digits the same?' });
    await question.getByText(digits).waitFor();
    await leaveFirstThread(page);
    const devices = await laptop.client.devices.list();
    const to = devices.find(({ name }) => name === 'Phone')?.device_id ?? '';
    const [name, content] = [word('name'), word('content')];
    const sources = [blobSource(new Blob([content]), name)];
    const { files } = laptop.sealing();
    const sealed = await files.seal(await laptop.ring(), { to, files: sources });
    const sending = await files.send(laptop.client.transfers, sealed, sources, { offlineMs: null });
    await deviceRow(page, 'Laptop').getByText('This browser has no key for it').waitFor();
    await page.goto(`${site.url}/#/device/${sending.transfer.sender.device_id}`);
    await inThread(page).locator('.files .sealed-note').waitFor();
    expect(await inThread(page).getByRole('button', { name: 'Accept' }).count()).toBe(0);
    await question.getByRole('button', { name: 'Laptop shows these' }).click();
    await inThread(page).locator('.files').getByText(name).waitFor();
    await accept(page);
    await state(page, 'Received').waitFor();
    expect(String(await saved(page, 'Save'))).toBe(content);
    await sending.done;
    await laptop.client.close();
    expect(reports).toEqual([]);
  }, 120_000);

  test('Firefox and Chromium send each other encrypted files', async () => {
    const laptop = await site.account();
    const desktop = await site.open(browser, laptop, { name: 'Desktop' });
    const fox = await openFirefoxPage(site.url);
    try {
      await fox.click('strong', 'Use another device');
      await fox.shows('.front h1', 'Name this device');
      await fox.type('.front input', 'Fox');
      await fox.press('Enter');
      const link = await fox.run(`(async () => {
        for (;;) {
          const shown = document.querySelector('a.link-text');
          if (shown !== null) return shown.getAttribute('href');
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })()`);
      await laptop.letIn(String(link));
      await fox.click('button', 'Laptop shows these');
      await fox.click('.device-name', 'Desktop');
      await openThread(desktop.page, 'Fox');
      const path = join(folder, 'fox.bin');
      const bytes = randomBytes(5_000_003);
      writeFileSync(path, bytes);
      await chooseFiles(desktop.page, path);
      await fox.click('button', 'Accept');
      await fox.shows('.state', 'Received', 60_000);
      expect(sha256(readFileSync(await fox.save('button', 'Save')))).toBe(sha256(bytes));
      await fox.choose('button', 'Send files', path);
      await accept(desktop.page);
      await state(desktop.page, 'Received').waitFor({ timeout: 60_000 });
      expect(sha256(await saved(desktop.page, 'Save'))).toBe(sha256(bytes));
      expect(await inThread(desktop.page).locator('.files .lock.is-sealed').count()).toBe(2);
      expect([...fox.reports, ...desktop.reports]).toEqual([]);
    } finally {
      await fox.stop();
    }
  }, 180_000);
});
