import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import {
  type AppPage,
  chooseFiles,
  deviceRow,
  localUrl,
  openApp,
  openThread,
  PHONE,
  say,
  inThread,
} from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { startFaultyWay } from './faulty-way.ts';
import { untilWorker } from './service-worker.ts';
import { keepPicture } from './keep-picture.ts';

/** These pictures lie beside those of the states. */
const WITHIN = { timeout: 60_000 };
const OFFLINE = 'Waits until you are online.';
/** The file is larger than what is copied for a reload. */
const LARGE_BYTES = 33 * 1024 * 1024;

const fileOf = (name: string, bytes = 20) => ({ name, mimeType: 'text/plain', buffer: randomBytes(bytes) });

withChromium.describe('the app without network', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite({}, { alone: true }), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  async function scene(url = localUrl(site.one)): Promise<AppPage & { user: string; phone: TestDevice }> {
    const user = randomUser();
    const phone = makeDevice({ user, name: 'Phone' });
    await phone.on(site.one).call('getMe');
    const app = await openApp(browser, { url, user, name: 'Desktop' });
    await openThread(app.page, 'Phone');
    await untilWorker(app.page);
    return { ...app, user, phone };
  }

  /** Returns the names of what is offered to this device, oldest first. */
  const offered = async (phone: TestDevice): Promise<string[]> => {
    const { transfers } = (await phone.on(site.one).call('listTransfers', { query: {} })).body;
    return transfers
      .reverse()
      .flatMap(({ files = [], file_count }) => files.map(({ name }) => `${name} ${file_count}`));
  };

  const leaveOffer = (page: Page): Promise<void> =>
    page.locator('.bubble.files.offered, .bubble.files.done').first().waitFor(WITHIN);

  test('a reload knows the devices, shows them as offline, and can write to each', async () => {
    const { page, context, user, phone } = await scene();
    const tablet = makeDevice({ user, name: 'Tablet' });
    await tablet.on(site.one).call('getMe');
    await deviceRow(page, 'Tablet').waitFor();
    await say(page, 'kept here');
    await page.locator('.mark.sent').waitFor();
    await context.setOffline(true);
    await page.reload();
    await inThread(page).getByText('kept here').waitFor();
    await page.getByText('You are offline').waitFor();
    await page.locator('.composer textarea').waitFor();
    // A device that was never written to is known as well.
    await openThread(page, 'Tablet');
    await say(page, 'the first words');
    await page.getByText(OFFLINE).waitFor();
    expect(await page.getByText(/no longer in your account|Former devices/i).count()).toBe(0);
    expect(await page.locator('.is-online').count()).toBe(0);
    await context.setOffline(false);
    await page.locator('.mark.sent').waitFor(WITHIN);
    const { messages } = (await tablet.on(site.one).call('listMessages')).body;
    expect(messages.map(({ content }) => content)).toEqual(['the first words']);
    // Only the service says that a device is gone.
    await tablet.on(site.one).call('removeDevice', { params: { device_id: phone.id } });
    await page.getByText('Former devices').waitFor(WITHIN);
    await context.setOffline(true);
    await page.reload();
    await page.getByText('Former devices').waitFor();
  }, 120_000);

  test('no device is called online while this one has no connection', async () => {
    const { page, context, phone } = await scene();
    const onPhone = phone.listen(site.one);
    const head = page.locator('.main .pane-head h1');
    await head.getByText('Online', { exact: true }).waitFor();
    await context.setOffline(true);
    await page.getByText('You are offline').waitFor();
    await page.waitForFunction(() => document.querySelector('.is-online') === null);
    expect(await head.innerText()).not.toMatch(/online|offline|seen/i);
    await context.setOffline(false);
    await head.getByText('Online', { exact: true }).waitFor(WITHIN);
    await onPhone.stop();
  }, 120_000);

  test('a list that could not be read after a change is read again', async () => {
    const { page, context, user } = await scene();
    // One reading asks this often.
    let refusals = 3;
    await context.route('**/api/devices', (route) => {
      refusals -= 1;
      return refusals < 0 ? route.continue() : route.fulfill({ status: 503, body: 'no server is there' });
    });
    await makeDevice({ user, name: 'Tablet' }).on(site.one).call('getMe');
    await deviceRow(page, 'Tablet').waitFor(WITHIN);
    expect(refusals).toBe(-1);
  }, 120_000);

  test('files chosen without network wait, survive a reload, and are offered once, in their order', async () => {
    const { page, context, phone } = await scene();
    // The browser takes its time. When the page says that the files wait, they must already be kept.
    await page.evaluate(() => {
      const answer = { quota: 1e9, usage: 0 };
      navigator.storage.estimate = () => new Promise((resolve) => setTimeout(resolve, 1_500, answer));
    });
    await context.setOffline(true);
    await chooseFiles(page, [fileOf('first.txt'), fileOf('beside it.txt')]);
    await page.getByText(OFFLINE).waitFor();
    await chooseFiles(page, fileOf('second.txt'));
    await page.getByText(OFFLINE).nth(1).waitFor();
    await page.reload();
    await page.getByText(OFFLINE).nth(1).waitFor();
    expect(await offered(phone)).toEqual([]);
    await context.setOffline(false);
    await page.locator('.bubble.files.offered').nth(1).waitFor(WITHIN);
    expect(await offered(phone)).toEqual(['first.txt 2', 'beside it.txt 2', 'second.txt 1']);
  }, 120_000);

  test('files too large to be copied are asked for again after a reload, and go then', async () => {
    const { page, context, phone } = await scene();
    const folder = mkdtempSync(join(tmpdir(), 'baton-large-'));
    const large = join(folder, 'large.bin');
    writeFileSync(large, randomBytes(LARGE_BYTES));
    await context.setOffline(true);
    await chooseFiles(page, large);
    await page.getByText(OFFLINE).waitFor();
    await page.reload();
    await page.getByText('Waits: this browser no longer has the files.').waitFor();
    await context.setOffline(false);
    // That holds up nothing else.
    await chooseFiles(page, fileOf('small.txt'));
    await leaveOffer(page);
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose the same files' }).click();
    await (await chooser).setFiles(large);
    await page.locator('.bubble.files.offered').nth(1).waitFor(WITHIN);
    expect(await offered(phone)).toEqual(['small.txt 1', 'large.bin 1']);
    rmSync(folder, { recursive: true });
  }, 120_000);

  test('a large file that was dropped is read by its handle after a reload, once somebody lets it be', async () => {
    const { page, context, phone } = await scene();
    // A permission to read ends with the page, and a test cannot answer the browser's own question.
    await context.addInitScript(() => {
      let isAllowed = false;
      Object.assign(FileSystemFileHandle.prototype, {
        queryPermission: async () => (isAllowed ? 'granted' : 'prompt'),
        requestPermission: async () => {
          isAllowed = true;
          return 'granted';
        },
      });
    });
    await context.setOffline(true);
    await page.evaluate(async (bytes) => {
      const root = await navigator.storage.getDirectory();
      const handle = await root.getFileHandle('dropped.bin', { create: true });
      const writable = await handle.createWritable();
      await writable.write(new Uint8Array(bytes));
      await writable.close();
      Object.assign(DataTransferItem.prototype, { getAsFileSystemHandle: async () => handle });
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(await handle.getFile());
      const place = document.querySelector('.thread-body');
      place?.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }, LARGE_BYTES);
    await page.getByText(OFFLINE).waitFor();
    await page.reload();
    await page.getByText('Waits: this browser may not read the files any more.').waitFor();
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Let Baton read the files' }).click();
    await page.locator('.bubble.files.offered').waitFor(WITHIN);
    expect(await offered(phone)).toEqual(['dropped.bin 1']);
    // The same handle serves once the file is offered.
    await page.reload();
    await page.locator('.bubble.files.offered').waitFor(WITHIN);
    await page.getByRole('button', { name: 'Let Baton read the files' }).click();
    await page.getByRole('button', { name: 'Let Baton read the files' }).waitFor({ state: 'detached' });
    await page.getByText('1 transfer under way').waitFor();
    expect(await page.locator('.bubble.files.offered').count()).toBe(1);
  }, 120_000);

  test('an offer whose answer is lost is made once', async () => {
    const way = await startFaultyWay(site.one);
    try {
      const { page, phone } = await scene(way.url);
      way.fail('/api/transfer/init', 'lost', () => way.fail('/api/transfer/init', 'passed'));
      await chooseFiles(page, fileOf('once.txt'));
      await leaveOffer(page);
      expect(await offered(phone)).toEqual(['once.txt 1']);
      expect(new Set(way.made.map(({ key }) => key)).size).toBe(1);
      expect(way.made.length).toBe(2);
    } finally {
      await way.stop();
    }
  }, 120_000);

  test('a tab that is closed while it prepares a file leaves it to the next one', async () => {
    const { page, context, phone } = await scene();
    // A worker makes the digests, and this one never ends.
    await page.evaluate(() => {
      Worker.prototype.postMessage = () => {};
    });
    await chooseFiles(page, fileOf('prepared.txt'));
    await page.getByText('Preparing').waitFor();
    const next = await context.newPage();
    await next.goto(page.url());
    await next.getByText('Preparing').waitFor();
    await page.close();
    await next.locator('.bubble.files.offered').waitFor(WITHIN);
    expect(await offered(phone)).toEqual(['prepared.txt 1']);
  }, 120_000);

  test('whoever is to get files sees that they are prepared, and that this has stopped', async () => {
    const { page, user } = await scene();
    const other = await openApp(browser, { url: localUrl(site.one), user, name: 'Tablet' });
    await openThread(other.page, 'Desktop');
    await openThread(page, 'Tablet');
    await page.evaluate(() => {
      Worker.prototype.postMessage = () => {};
    });
    await chooseFiles(page, fileOf('prepared.txt'));
    await other.page.getByText('Desktop is preparing 1 file (20 B) …').waitFor(WITHIN);
    await page.getByRole('button', { name: 'Cancel transfer' }).click();
    await other.page.getByText('is preparing').waitFor({ state: 'detached', ...WITHIN });
    expect([...other.reports]).toEqual([]);
  }, 120_000);

  test('an offer that the service refused can be tried again', async () => {
    const { page, phone } = await scene();
    let isRefused = true;
    await page.route('**/api/transfer/init', (route) =>
      isRefused
        ? route.fulfill({
            status: 409,
            contentType: 'application/problem+json',
            body: JSON.stringify({ code: 'transfer_limit', title: 'Too many', status: 409 }),
          })
        : route.continue(),
    );
    await chooseFiles(page, fileOf('again.txt'));
    await page.getByText('Too many transfers at once.').waitFor(WITHIN);
    isRefused = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await leaveOffer(page);
    expect(await offered(phone)).toEqual(['again.txt 1']);
  }, 120_000);

  const signInElsewhere = (page: Page): Promise<void> =>
    page.evaluate(() => {
      const other = { user: 'somebody-else', name: 'Desktop', deviceId: 'another-device-1' };
      localStorage.setItem('baton-development', JSON.stringify(other));
    });

  test('files that wait are put into another order, by keyboard and by touch, and leave in it', async () => {
    const { page, context, phone, reports } = await scene();
    await context.setOffline(true);
    for (const name of ['one.txt', 'two.txt', 'three.txt']) await chooseFiles(page, fileOf(name));
    await page.getByRole('link', { name: '3 transfers under way' }).click();
    const order = (wanted: readonly string[]) =>
      page.waitForFunction(
        (all) =>
          [...document.querySelectorAll('.transfer strong')].map(({ textContent }) => textContent).join() === all,
        wanted.join(),
      );
    await order(['one.txt', 'two.txt', 'three.txt']);
    await page.getByRole('button', { name: 'Move up: three.txt' }).focus();
    await page.keyboard.press('Enter');
    await order(['one.txt', 'three.txt', 'two.txt']);
    await page.keyboard.press('Enter');
    await order(['three.txt', 'one.txt', 'two.txt']);
    await page.getByText(/three\.txt.*: place 1 of 3/).waitFor({ state: 'attached' });
    // Nothing is above the first file, so the focus stays where it is.
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Move up: three.txt');
    await page.setViewportSize(PHONE);
    await keepPicture(page, 'order-390');
    expect(await violations(page)).toEqual([]);
    const { width, height } = (await page.getByRole('button', { name: 'Move down: one.txt' }).boundingBox()) ?? {};
    expect(Math.min(width ?? 0, height ?? 0)).toBeGreaterThanOrEqual(44);
    await page.getByRole('button', { name: 'Move down: one.txt' }).click();
    await order(['three.txt', 'two.txt', 'one.txt']);
    await context.setOffline(false);
    await page.waitForFunction(() => document.querySelectorAll('.bubble.files.offered').length === 3, null, WITHIN);
    expect(await offered(phone)).toEqual(['three.txt 1', 'two.txt 1', 'one.txt 1']);
    expect(reports).toEqual([]);
  }, 120_000);

  test('a tab that is left open sends nothing as somebody else', async () => {
    const { page, context, phone } = await scene();
    await context.setOffline(true);
    await say(page, 'not as somebody else');
    await page.getByText(OFFLINE).waitFor();
    // Another tab has signed in as another user meanwhile.
    await signInElsewhere(page);
    await context.setOffline(false);
    await page.getByText('Waits until you sign in again.').waitFor(WITHIN);
    expect((await phone.on(site.one).call('listMessages')).body.messages).toEqual([]);
  }, 120_000);

  test('nor what is on its way while somebody else signs in', async () => {
    const { page, phone } = await scene();
    // One attempt fails, so that the next one first asks the service, which lets it wait for the answer.
    await page.route('**/api/message', (route) => route.abort(), { times: 1 });
    const sent: string[] = [];
    page.on('request', (request) => sent.push(new URL(request.url()).pathname));
    const asked = new Promise<() => void>((resolve) => {
      void page.route('**/api/hub/presence', (route) => resolve(() => void route.continue()), { times: 1 });
    });
    await say(page, 'not as somebody else');
    const answer = await asked;
    await chooseFiles(page, fileOf('nor this.txt'));
    await signInElsewhere(page);
    answer();
    await page.getByText('Waits until you sign in again.').nth(1).waitFor(WITHIN);
    expect(sent.filter((path) => path === '/api/message').length).toBe(1);
    expect(sent).not.toContain('/api/transfer/init');
    expect((await phone.on(site.one).call('listMessages')).body.messages).toEqual([]);
  }, 120_000);

  test('signing out says what would be lost, and nobody else sends it', async () => {
    const { page, context, phone } = await scene();
    await page.route('**/api/message', (route) => route.abort());
    await say(page, 'not for others');
    await page.getByText('Waits: the service cannot be reached.').waitFor(WITHIN);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).last().click();
    await page.getByText('1 item that still waits will not be sent.').waitFor();
    await page.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Sign in').first().waitFor();
    const databases = await page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
    expect(databases.filter((name) => name?.startsWith('baton-user'))).toEqual([]);
    await page.unroute('**/api/message');
    const { messages } = (await phone.on(site.one).call('listMessages')).body;
    expect(messages).toEqual([]);
    await context.close();
  }, 120_000);
});
