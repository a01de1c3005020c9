import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { keysUnder } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { accept, type AppPage, chooseFiles, localUrl, openApp, openThread, PHONE, say, inThread } from './app-page.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { startFaultyWay } from './faulty-way.ts';
import { keepPicture } from './keep-picture.ts';

/** The file is larger than what is kept for a reload, and than the relay's window. */
const MIDDLE_BYTES = 40_000_000;
const ONE_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** The limit is for a busy machine. */
const TAKES_MS = 150_000;

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

withChromium.describe('files between two browsers with the app', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-app-files-'));
  const middle = join(folder, 'middle.bin');
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    writeFileSync(middle, randomBytes(MIDDLE_BYTES));
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await Promise.all([site.stop(), browser.close()]);
    rmSync(folder, { recursive: true });
  });

  /** Opens a phone on one replica and a desktop on the other, each looking at the other's thread. */
  async function pair(desktopUrl = localUrl(site.two)): Promise<{ phone: AppPage; desktop: AppPage }> {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const [phone, desktop] = await Promise.all([
      openApp(browser, { url: localUrl(site.one), user, name: 'Phone', viewport: PHONE }),
      openApp(browser, { url: desktopUrl, user, name: 'Desktop' }),
    ]);
    await openThread(phone.page, 'Desktop');
    await openThread(desktop.page, 'Phone');
    return { phone, desktop };
  }

  async function saved(page: Page): Promise<{ name: string; sha256: string }> {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const file = await download;
    return { name: file.suggestedFilename(), sha256: await sha256(await file.path()) };
  }

  /** Returns the key of the newest transfer in the store. */
  async function newestRecord(): Promise<string> {
    const records = (await keysUnder(site.redis, site.prefix, ':*}:transfer:*')).filter((key) => /[0-9a-f]$/.test(key));
    const times = await Promise.all(records.map((key) => site.redis.hget(key, 'created')));
    return String(records[times.indexOf(String(Math.max(...times.map(Number))))]);
  }

  const received = (page: Page) => page.getByText('Received', { exact: true }).waitFor({ timeout: TAKES_MS });

  test('both pages are reloaded in the middle, and the file arrives whole', async () => {
    const { phone, desktop } = await pair();
    await chooseFiles(phone.page, middle);
    await accept(desktop.page);
    await desktop.page.getByRole('button', { name: 'Pause' }).click();
    await desktop.page.getByText('Paused').waitFor();
    const questions: string[] = [];
    for (const { page } of [phone, desktop]) {
      page.on('dialog', (dialog) => {
        questions.push(`${dialog.type()} ${page === phone.page ? 'Phone' : 'Desktop'}`);
        void dialog.accept();
      });
    }
    await phone.page.reload();
    await desktop.page.reload();
    // The receiver has its bytes on the disk.
    expect(questions).toEqual(['beforeunload Phone']);
    // A file that is too large to be kept for a reload is chosen again.
    const chooser = phone.page.waitForEvent('filechooser');
    await phone.page.getByRole('button', { name: /same files/ }).click();
    await (await chooser).setFiles(middle);
    await received(desktop.page);
    expect(await saved(desktop.page)).toEqual({ name: 'middle.bin', sha256: await sha256(middle) });
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  }, 150_000);

  /**
   * Opens a phone without the service worker, which would have the file of the worker. The way in which the browser is told
   * so makes errors of its own in the page.
   */
  async function openPhone(user: string, before: (page: Page) => Promise<void> = async () => {}): Promise<AppPage> {
    const app = await openApp(browser, { url: 'about:blank#', user, name: 'Phone', serviceWorkers: 'block' });
    await before(app.page);
    await app.page.goto(localUrl(site.one));
    return app;
  }
  const WORKER = '**/assets/file-worker-*.js';
  const dropWorker = async (page: Page): Promise<void> =>
    void (await page.route(WORKER, (route) => route.fulfill({ status: 404 })));
  const note = { name: 'note.bin', mimeType: 'application/octet-stream', buffer: randomBytes(20_000) };

  test('files are sent with the worker of a page whose version the service no longer has', async () => {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const desktop = await openApp(browser, { url: localUrl(site.two), user, name: 'Desktop' });
    const phone = await openPhone(user);
    await openThread(phone.page, 'Desktop');
    await openThread(desktop.page, 'Phone');
    await until(
      async () => phone.page.workers().length,
      (count) => count > 0,
      'the worker of files',
    );
    await dropWorker(phone.page);
    await chooseFiles(phone.page, note);
    await accept(desktop.page);
    await received(desktop.page);
    expect(desktop.reports).toEqual([]);
  });

  test('a page whose worker is gone from the service asks to load it again, and its files wait', async () => {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const desktop = await openApp(browser, { url: localUrl(site.two), user, name: 'Desktop' });
    const phone = await openPhone(user, dropWorker);
    await openThread(phone.page, 'Desktop');
    await openThread(desktop.page, 'Phone');
    await chooseFiles(phone.page, note);
    const said = 'This part of Baton could not be loaded. Reload the page.';
    await phone.page.locator('.state.preparing', { hasText: said }).waitFor();
    await phone.page.locator('.connection', { hasText: said }).waitFor();
    await phone.page.unroute(WORKER);
    await accept(desktop.page);
    await received(desktop.page);
    await phone.page.locator('.connection', { hasText: said }).waitFor({ state: 'detached' });
    expect(desktop.reports).toEqual([]);
  });

  test('what was received stays so when the store is back where it was accepted, and ends once more', async () => {
    const { phone, desktop } = await pair();
    const bytes = randomBytes(20_000);
    await chooseFiles(phone.page, { name: 'note.bin', mimeType: 'application/octet-stream', buffer: bytes });
    await desktop.page.getByRole('button', { name: 'Accept', exact: true }).waitFor();
    const key = await newestRecord();
    const before = await site.redis.dumpBuffer(key);
    await accept(desktop.page);
    await received(desktop.page);
    await phone.page.locator('.main').getByText(/Sent/).waitFor();
    await site.redis.restore(key, 600_000, before, 'REPLACE');
    await site.redis.hset(key, { state: 'ACCEPTED', accepted: '1' });
    await Promise.all([desktop.page.reload(), phone.page.reload()]);
    await until(
      () => site.redis.hget(key, 'state'),
      (state) => state === 'DONE',
      'the end, told once more',
    );
    // A transfer whose end is lost for good fails when its time is over.
    await site.redis.hset(key, 'state', 'ACCEPTED');
    const status = await phone.page.evaluate(async (id) => {
      const { user, deviceId } = JSON.parse(localStorage.getItem('baton-development') ?? '{}') as Record<
        string,
        string
      >;
      const headers = {
        'X-Dev-User': String(user),
        'X-Dev-Device': String(deviceId),
        'Content-Type': 'application/json',
      };
      return (await fetch(`/api/transfer/${id}/fail`, { method: 'POST', headers, body: '{}' })).status;
    }, key.split(':').at(-1));
    expect(status).toBe(200);
    // Events keep their order.
    await say(phone.page, 'after the end');
    await inThread(desktop.page).getByText('after the end').waitFor();
    await received(desktop.page);
    const wanted = createHash('sha256').update(bytes).digest('hex');
    expect(await saved(desktop.page)).toEqual({ name: 'note.bin', sha256: wanted });
    await phone.page.locator('.main').getByText(/Sent/).waitFor();
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  }, 150_000);

  test('a picture that cannot be drawn has the row of a file, on both sides', async () => {
    const { phone, desktop } = await pair();
    const mimeType = 'image/png';
    const [sound, broken] = [Buffer.from(ONE_PIXEL, 'base64'), randomBytes(500)];
    await chooseFiles(phone.page, [
      { name: 'sound.png', mimeType, buffer: sound },
      { name: 'broken.png', mimeType, buffer: broken },
    ]);
    await accept(desktop.page);
    await received(desktop.page);
    for (const { page } of [phone, desktop]) {
      await inThread(page).getByText('broken.png').waitFor();
      await inThread(page).locator('.picture').nth(1).waitFor({ state: 'detached' });
      await inThread(page).locator('.picture').waitFor();
      expect(await inThread(page).locator('.picture').count()).toBe(1);
      await keepPicture(page, `broken-picture-${page === phone.page ? 'mine-390' : '1440'}`);
    }
    await chooseFiles(desktop.page, { name: 'alone.png', mimeType, buffer: broken });
    await accept(phone.page);
    await phone.page.getByText('Received', { exact: true }).waitFor();
    await inThread(phone.page).getByText('alone.png').first().waitFor();
    // It counts as a picture until the app has tried to show it.
    await inThread(phone.page).locator('.picture').nth(1).waitFor({ state: 'detached' });
    expect(await inThread(phone.page).locator('.picture').count()).toBe(1);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('a screen reader is told once that files come, and of a text that no notice says', async () => {
    const { phone, desktop } = await pair();
    /** Returns how often the live regions say a text. */
    const said = (text: string) =>
      desktop.page
        .locator('[aria-live=polite], [role=status]')
        .evaluateAll((all, of) => all.map(({ textContent }) => textContent.split(of).length - 1), text);
    await desktop.page.getByRole('link', { name: 'Settings' }).click();
    await chooseFiles(phone.page, { name: 'note.bin', mimeType: '', buffer: randomBytes(100) });
    await desktop.page.locator('.notice', { hasText: 'Phone sends' }).waitFor();
    expect((await said('Phone sends')).reduce((sum, one) => sum + one, 0)).toBe(1);
    await say(phone.page, 'and a text');
    await desktop.page.waitForFunction(() => /New message from Phone/.test(document.body.textContent ?? ''));
    expect((await said('New message from Phone')).reduce((sum, one) => sum + one, 0)).toBe(1);
    expect(await desktop.page.locator('.notice', { hasText: 'New message' }).count()).toBe(0);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('who waits for a side that has paused is told for whom', async () => {
    const { phone, desktop } = await pair();
    // The connection is slow enough for a pause in the middle.
    const session = await phone.context.newCDPSession(phone.page);
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 3_000_000 };
    await session.send('Network.emulateNetworkConditions', slow);
    await chooseFiles(phone.page, middle);
    await accept(desktop.page);
    const moves = ({ page }: AppPage) =>
      page.waitForFunction(() => (document.querySelector('progress')?.value ?? 0) > 0);
    for (const [pausing, waiting, name] of [
      [phone, desktop, 'Phone'],
      [desktop, phone, 'Desktop'],
    ] as const) {
      await moves(waiting);
      await pausing.page.getByRole('button', { name: 'Pause' }).click();
      await inThread(waiting.page).getByText(`Waiting for ${name}`).waitFor();
      await keepPicture(waiting.page, `waits-for-${name}`);
      await pausing.page.getByRole('button', { name: 'Resume' }).click();
      await inThread(waiting.page).getByText(`Waiting for ${name}`).waitFor({ state: 'detached' });
    }
    await session.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 });
    await received(desktop.page);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  }, 150_000);

  test('the tabs that are left show no progress when the sending one is closed, and how the transfer goes on', async () => {
    const { phone, desktop } = await pair();
    await desktop.page.route(
      ({ pathname }) => pathname.startsWith('/api/relay/'),
      (route) => route.abort(),
    );
    await chooseFiles(phone.page, middle);
    const others = await Promise.all([phone.context.newPage(), phone.context.newPage()]);
    for (const other of others) await other.goto(phone.page.url());
    await accept(desktop.page);
    for (const other of others) await inThread(other).locator('progress').waitFor();
    await phone.page.close();
    for (const other of others) {
      await inThread(other)
        .getByRole('button', { name: /same files/ })
        .waitFor();
      expect(await inThread(other).locator('progress').count()).toBe(0);
    }
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  }, 60_000);

  test('who waits for the first byte is told for whom, and a paused transfer is in reach of its sender', async () => {
    const { phone, desktop } = await pair();
    const isBytes = ({ pathname }: URL): boolean => pathname.startsWith('/api/relay/');
    await phone.page.route(isBytes, (route) => route.abort());
    await chooseFiles(phone.page, { name: 'note.bin', mimeType: '', buffer: randomBytes(9_000) });
    await accept(desktop.page);
    await phone.page.getByRole('button', { name: 'Pause' }).click();
    await inThread(desktop.page).getByText('Waiting for Phone').waitFor();
    await phone.page.getByRole('link', { name: 'Back' }).click();
    await phone.page.getByRole('link', { name: '1 transfer under way' }).click();
    await phone.page.unroute(isBytes);
    await phone.page.getByRole('button', { name: 'Resume' }).click();
    await received(desktop.page);
    await phone.page.getByText('Nothing is under way').waitFor();
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('a small file goes on by itself when the page that sends it is reloaded', async () => {
    const { phone, desktop } = await pair();
    await chooseFiles(phone.page, { name: 'note.txt', mimeType: 'text/plain', buffer: randomBytes(9_000_000) });
    await desktop.page.getByRole('button', { name: 'Accept' }).waitFor();
    await phone.page.reload();
    await accept(desktop.page);
    await received(desktop.page);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('one refuses, pauses, cancels, and takes everything from then on', async () => {
    const { phone, desktop } = await pair();
    const send = (name: string, bytes: number) =>
      chooseFiles(phone.page, { name, mimeType: 'application/octet-stream', buffer: Buffer.alloc(bytes, name) });
    await send('first.bin', 1_000);
    await desktop.page.getByRole('button', { name: 'Refuse' }).click();
    await phone.page.getByText('Refused').waitFor();

    await chooseFiles(phone.page, middle);
    await accept(desktop.page);
    await desktop.page.getByRole('button', { name: 'Pause' }).click();
    await desktop.page.getByText('Paused').waitFor();
    await desktop.page.getByRole('button', { name: 'Resume' }).waitFor();
    await phone.page.getByRole('button', { name: 'Cancel transfer' }).click();
    await desktop.page.getByText('Cancelled').waitFor();

    await send('second.bin', 2_000);
    await desktop.page.getByLabel('Always accept').check();
    await accept(desktop.page);
    await received(desktop.page);
    await send('..\u202ethird\\.bin', 3_000);
    await desktop.page.waitForFunction(() => document.querySelectorAll('.state.done').length === 2);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  }, 120_000);

  test('an end that no event tells is learned with the next connection, without a reload', async () => {
    const way = await startFaultyWay(site.two);
    try {
      const { phone, desktop } = await pair(way.url);
      await chooseFiles(phone.page, { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') });
      await desktop.page.getByRole('button', { name: 'Accept', exact: true }).waitFor();
      // The log of the account has lost the event, as after a long sleep.
      await site.redis.hset(await newestRecord(), 'state', 'CANCELLED');
      await site.redis.del(...(await keysUnder(site.redis, site.prefix, ':{*}:log')));
      way.cut();
      await inThread(desktop.page).getByText('Cancelled').waitFor();
      expect(await desktop.page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0);
      expect([...phone.reports, ...desktop.reports]).toEqual([]);
    } finally {
      await way.stop();
    }
  });

  test('files that are dropped beside a device wait for the choice of one, and the thread takes them as a whole', async () => {
    const { phone, desktop } = await pair();
    const { page } = desktop;
    const path = join(folder, 'dropped.txt');
    writeFileSync(path, 'dropped');
    const session = await desktop.context.newCDPSession(page);
    const dropOn = async (place: string): Promise<void> => {
      const box = await page.locator(place).boundingBox();
      if (box === null) throw new Error(`${place} is not shown`);
      const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      const data = { items: [], files: [path], dragOperationsMask: 1 };
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await session.send('Input.dispatchDragEvent', { type, ...at, data });
      }
    };
    await dropOn('.composer textarea');
    await page.locator('.bubble.files').waitFor();
    await dropOn('.thread .pane-head h1');
    await page.locator('.bubble.files').nth(1).waitFor();
    expect(new URL(page.url()).hash).toMatch(/^#\/device\//);
    await page.getByRole('link', { name: 'Clipboard' }).click();
    await dropOn('.main .pane-head h1');
    await page.getByText('dropped.txt').last().waitFor();
    expect(new URL(page.url()).hash).toBe('#/send');
    // Dragged text belongs to the field under it.
    await openThread(page, 'Phone');
    const isTaken = await page.locator('.composer textarea').evaluate((field) => {
      const data = new DataTransfer();
      data.setData('text/plain', 'a text');
      return !field.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    expect(isTaken).toBe(false);
    expect(await page.locator('.bubble.files').count()).toBe(2);
    expect([...phone.reports, ...desktop.reports]).toEqual([]);
  });

  test('a folder and a dropped file reach several devices at once', async () => {
    const user = `user-${randomBytes(4).toString('hex')}`;
    const open = (name: string, replica: { url: string }) => openApp(browser, { url: localUrl(replica), user, name });
    const [desktop, tablet, phone] = await Promise.all([
      open('Desktop', site.one),
      open('Tablet', site.two),
      open('Phone', site.two),
    ]);
    await desktop.page.locator('.device').nth(1).waitFor();
    const chooser = desktop.page.waitForEvent('filechooser');
    await desktop.page.getByRole('button', { name: 'Send', exact: true }).click();
    await (await chooser).setFiles([
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('one') },
      { name: 'two.txt', mimeType: 'text/plain', buffer: Buffer.from('two') },
    ]);
    await desktop.page.getByLabel(/Phone/).check();
    await desktop.page.getByLabel(/Tablet/).check();
    await desktop.page.locator('.pane').getByRole('button', { name: 'Send' }).click();
    for (const { page } of [tablet, phone]) {
      await openThread(page, 'Desktop');
      await accept(page);
      await received(page);
      await inThread(page).getByText('2 files').waitFor();
    }
    const dropped = await desktop.page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(['three'], 'three.txt', { type: 'text/plain' }));
      return data;
    });
    const row = desktop.page.locator('.device', { hasText: 'Phone' });
    await row.dispatchEvent('dragover', { dataTransfer: dropped });
    await row.dispatchEvent('drop', { dataTransfer: dropped });
    await accept(phone.page);
    await inThread(phone.page).getByText('three.txt').waitFor();
    expect([...desktop.reports, ...tablet.reports, ...phone.reports]).toEqual([]);
  });
});
