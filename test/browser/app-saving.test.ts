import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Download, Page } from 'playwright-core';
import type { BatonClient, OutgoingTransfer } from '../../shared/client/api.ts';
import { makeBatonClient } from '../../shared/client/baton-client.ts';
import { blobSource } from '../../shared/client/files/sources.ts';
import { sha256 } from '../../shared/client/node.ts';
import { makeDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { accept, type AppPage, chooseFiles, localUrl, openApp, openThread, PHONE } from './app-page.ts';
import { launchChromium, withChromium } from './chromium.ts';

interface Sender {
  offer: (files: Record<string, string>, type?: string) => Promise<OutgoingTransfer>;
  /** Sends files, and resolves when they are received. */
  send: (files: Record<string, string>, type?: string) => Promise<void>;
}

const LONG = 'x'.repeat(230);
/** The date of each file that is sent. */
const TAKEN_AT = Date.UTC(2011, 4, 6, 7, 8, 10);

/** Returns what is in the folder of the page's picker, by path. */
function inPicked(page: Page): Promise<Record<string, string>> {
  return page.evaluate(async () => {
    const found: Record<string, string> = {};
    async function walk(folder: FileSystemDirectoryHandle, prefix: string): Promise<void> {
      for await (const [name, handle] of (
        folder as unknown as { entries(): AsyncIterable<[string, FileSystemHandle]> }
      ).entries()) {
        if (handle.kind === 'directory') await walk(handle as FileSystemDirectoryHandle, `${prefix}${name}/`);
        else found[prefix + name] = await (await (handle as FileSystemFileHandle).getFile()).text();
      }
    }
    const root = await navigator.storage.getDirectory();
    await walk(await root.getDirectoryHandle('picked', { create: true }), '');
    return found;
  });
}

/** Returns the names of what this browser keeps of transfers. */
function copies(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    type Listed = { entries(): AsyncIterable<[string, FileSystemDirectoryHandle]> };
    const found: string[] = [];
    for await (const [account, folder] of ((await navigator.storage.getDirectory()) as unknown as Listed).entries()) {
      if (!account.startsWith('account-')) continue;
      for await (const [, transfer] of (folder as unknown as Listed).entries()) {
        for await (const [name] of (transfer as unknown as Listed).entries()) found.push(name);
      }
    }
    return found.sort();
  });
}

/** Gives the page pickers: the folder `picked` of its own file system, with these files in it. */
function withPickers(page: Page, there: Record<string, string> = {}): Promise<void> {
  return page.evaluate(async (files) => {
    const root = await navigator.storage.getDirectory();
    const picked = await root.getDirectoryHandle('picked', { create: true });
    for (const [name, text] of Object.entries(files)) {
      const writing = await (await picked.getFileHandle(name, { create: true })).createWritable();
      await writing.write(text);
      await writing.close();
    }
    Object.assign(window, {
      showDirectoryPicker: async () => picked,
      showSaveFilePicker: async ({ suggestedName }: { suggestedName: string }) =>
        picked.getFileHandle(`chosen ${suggestedName}`, { create: true }),
    });
  }, there);
}

withChromium.describe('saving what was received', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-app-saving-'));
  const clients = new Set<BatonClient>();
  let site: Site;
  let browser: Browser;
  let user: string;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  beforeEach(() => {
    user = `user-${randomBytes(4).toString('hex')}`;
  });
  afterEach(async () => {
    await Promise.all([...clients].map((client) => client.close()));
    clients.clear();
    await Promise.all(browser.contexts().map((context) => context.close()));
  });
  afterAll(async () => {
    await Promise.all([site.stop(), browser.close()]);
    rmSync(folder, { recursive: true });
  });

  /** Opens a browser, and a program that sends it files of any names. */
  async function withSender(options = {}): Promise<AppPage & Sender> {
    const { headers } = makeDevice({ user, name: 'Sender' });
    const client = makeBatonClient({ baseUrl: site.two.url, headers, sha256 });
    clients.add(client);
    client.start();
    await client.untilOnline();
    const app = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop', ...options });
    await openThread(app.page, 'Sender');
    const offer = (files: Record<string, string>, type = '') =>
      client.transfers.send(
        'Desktop',
        Object.entries(files).map(([name, content]) =>
          blobSource(new File([content], name, { type, lastModified: TAKEN_AT }), name),
        ),
      );
    async function send(files: Record<string, string>, type?: string): Promise<void> {
      const sending = await offer(files, type);
      await accept(app.page);
      await sending.done;
      await app.page.getByText('Received', { exact: true }).last().waitFor();
    }
    return { ...app, send, offer };
  }

  const isSaved = (page: Page) =>
    page
      .locator('.item-foot .state')
      .last()
      .filter({ hasText: /^Saved$/ })
      .waitFor();
  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click();
  const text = async (download: Download) => readFileSync(await download.path(), 'utf8');
  async function zipped(download: Download): Promise<Record<string, string>> {
    const path = await download.path();
    execFileSync('unzip', ['-tq', path]);
    const names = execFileSync('unzip', ['-Z1', path], { encoding: 'utf8' }).trimEnd().split('\n');
    const read = (name: string) =>
      execFileSync('unzip', ['-p', path, name.replace(/[[\]*?\\]/g, '\\$&')], { encoding: 'utf8' });
    return Object.fromEntries(names.map((name) => [name, read(name)]));
  }

  test('into a folder: nothing that is there is replaced, no two files become one, and the copies go', async () => {
    const { page, send, reports } = await withSender();
    await withPickers(page, { 'report.txt': 'was here', album: 'a file' });
    await send({
      'report.txt': 'new',
      'image.jpg': '1',
      'IMAGE.jpg': '2',
      'a:b.txt': '3',
      'a?b.txt': '4',
      [`${LONG}.txt`]: '5',
      [`${LONG}.jpg`]: '6',
      [`${LONG}x.jpg`]: '7',
      'album/one': '8',
      'album/in/two': '9',
      '.profile': '10',
      'shortcut.lnk': '11',
    });
    await save(page);
    await isSaved(page);
    const found = await inPicked(page);
    expect(found).toEqual({
      'report.txt': 'was here',
      album: 'a file',
      'report (2).txt': 'new',
      'image.jpg': '1',
      'IMAGE (2).jpg': '2',
      'a_b.txt': '3',
      'a_b (2).txt': '4',
      [`${'x'.repeat(211)}.txt`]: '5',
      [`${'x'.repeat(211)}.jpg`]: '6',
      [`${'x'.repeat(207)} (2).jpg`]: '7',
      'album (2)/one': '8',
      'album (2)/in/two': '9',
      _profile: '10',
      [Object.keys(found).find((name) => name.startsWith('shortcut')) as string]: '11',
    });
    expect(await copies(page)).toEqual([]);
    await send({ 'image.jpg': 'once more', b: 'b' });
    await save(page);
    await page.waitForFunction(() => document.querySelectorAll('.state.done').length === 2);
    await page.getByText('Received', { exact: true }).waitFor({ state: 'detached' });
    expect(await inPicked(page)).toMatchObject({ 'image.jpg': '1', 'image (2).jpg': 'once more' });
    expect(reports).toEqual([]);
  });

  test('a write that fails in the middle leaves nothing half, and only what was stored is dropped here', async () => {
    const { page, send } = await withSender();
    await withPickers(page);
    await send({ one: '1', 'sub/two': '2', three: '3' });
    // Half of the second file is written, and then the stick is pulled out.
    await page.evaluate(() => {
      const { createWritable } = FileSystemFileHandle.prototype;
      let turn = 0;
      Object.assign(window, { heal: () => Object.assign(FileSystemFileHandle.prototype, { createWritable }) });
      FileSystemFileHandle.prototype.createWritable = async function (options) {
        const stream = await createWritable.call(this, options);
        turn += 1;
        if (turn < 2) return stream;
        await stream.write('h');
        return new WritableStream({
          async write() {
            await stream.abort();
            throw new DOMException('gone', 'NotAllowedError');
          },
        }) as FileSystemWritableFileStream;
      };
    });
    await save(page);
    await page.getByText('Saved 1 of 3 files. The others could not be saved there and are still here.').waitFor();
    await page.getByText('Saved 1 of 3', { exact: true }).waitFor();
    expect(await inPicked(page)).toEqual({ one: '1' });
    expect(await copies(page)).toEqual(['1', '2']);
    await page.evaluate(() => (window as unknown as { heal: () => void }).heal());
    await save(page);
    await isSaved(page);
    expect(await inPicked(page)).toEqual({ one: '1', 'sub/two': '2', three: '3' });
    expect(await copies(page)).toEqual([]);
  });

  test('a file of which less is stored than was written is not taken for saved', async () => {
    const { page, send } = await withSender();
    await withPickers(page);
    await send({ one: 'all of it' });
    await page.evaluate(() => {
      const { createWritable } = FileSystemFileHandle.prototype;
      FileSystemFileHandle.prototype.createWritable = async function (options) {
        const stream = await createWritable.call(this, options);
        return new WritableStream({
          write: (chunk: Uint8Array) => stream.write(chunk.slice(0, 3)),
          close: () => stream.close(),
        }) as FileSystemWritableFileStream;
      };
    });
    await save(page);
    await page.getByText('The file could not be saved there.').waitFor();
    expect(await copies(page)).toEqual(['0']);
  });

  test('a permission that was taken back is said, and the files stay here', async () => {
    const { page, send } = await withSender();
    await withPickers(page);
    await send({ one: '1', two: '2' });
    await page.evaluate(async () => {
      const { showDirectoryPicker } = window as unknown as { showDirectoryPicker: () => Promise<object> };
      const getFileHandle = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
      Object.assign(await showDirectoryPicker(), { getFileHandle });
    });
    await save(page);
    await page.getByText('Saved 0 of 2 files.').waitFor();
    expect(await copies(page)).toEqual(['0', '1']);
  });

  test('two tabs that save at once into one folder take different names', async () => {
    const { page, send, context } = await withSender();
    const names = Array.from({ length: 12 }, (_, at) => `image ${at}.jpg`);
    for (const turn of ['one', 'two']) await send(Object.fromEntries(names.map((name) => [name, turn])));
    const other = await context.newPage();
    await other.goto(page.url());
    const buttons = [page, other].map((one, at) => one.getByRole('button', { name: 'Save', exact: true }).nth(at));
    await Promise.all(buttons.map((button) => button.waitFor()));
    await withPickers(page);
    await withPickers(other);
    await Promise.all(buttons.map((button) => button.click()));
    await page.waitForFunction(() => document.querySelectorAll('.item-foot .state').length === 2);
    for (const at of [0, 1]) await page.locator('.item-foot .state').nth(at).filter({ hasText: 'Saved' }).waitFor();
    const found = await inPicked(page);
    expect(Object.keys(found)).toHaveLength(24);
    expect(Object.values(found).sort()).toEqual([...names.map(() => 'one'), ...names.map(() => 'two')]);
  });

  test('one of several is saved alone, into the place that was chosen', async () => {
    const { page, send } = await withSender();
    await withPickers(page);
    await send(Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`file ${at}.txt`, String(at)])));
    await page.getByRole('button', { name: 'and 3 more' }).click();
    await page.getByRole('button', { name: 'Save file 6.txt' }).click();
    await page.getByText('Saved 1 of 7', { exact: true }).waitFor();
    expect(await inPicked(page)).toEqual({ 'chosen file 6.txt': '6' });
    expect(await copies(page)).toEqual(['0', '1', '2', '3', '4', '5']);
    await save(page);
    await isSaved(page);
    expect(Object.keys(await inPicked(page))).toHaveLength(7);
  });

  test('without a picker several files are one archive, with their folders; copies stay until they are removed', async () => {
    const { page, send, reports } = await withSender({ viewport: PHONE });
    const files = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`photos/day ${at % 3}/${at}.jpg`, String(at)]),
    );
    await send({ ...files, 'photos/A.txt': 'upper', 'photos/a.txt': 'lower' });
    const downloading = page.waitForEvent('download');
    await save(page);
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('photos.zip');
    expect(await zipped(download)).toEqual({ ...files, 'photos/A.txt': 'upper', 'photos/a (2).txt': 'lower' });
    const listing = execFileSync('unzip', ['-Z', '-l', await download.path()], { encoding: 'utf8' });
    expect(listing.match(/11-May-06/g)).toHaveLength(32);
    await isSaved(page);
    await page.reload();
    await page.getByRole('button', { name: 'Save again' }).waitFor();
    await page.getByRole('button', { name: 'and 28 more' }).click();
    const one = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save photos/day 2/29.jpg' }).click();
    expect([(await one).suggestedFilename(), await text(await one)]).toEqual(['29.jpg', '29']);
    expect((await copies(page)).length).toBe(33);
    await page.getByRole('button', { name: 'Remove copies' }).click();
    await page.getByRole('button', { name: 'Save again' }).waitFor({ state: 'detached' });
    // The history says so first. The files go one after the other.
    for (let left = 1; left > 0; ) left = (await copies(page)).length;
    expect(reports).toEqual([]);
  });

  test('files go to another app by the sheet of the system, and to the downloads where it refuses them', async () => {
    const { page, send, reports } = await withSender({ viewport: PHONE });
    await page.evaluate(() => {
      const shared: unknown[] = [];
      const refusals = ['AbortError', 'NotAllowedError'];
      Object.assign(window, { shared });
      Object.assign(navigator, {
        canShare: () => true,
        async share({ files }: { files: File[] }) {
          const [file] = files as [File];
          shared.push([file.name, file.type, file.lastModified, await file.text()]);
          const refusal = refusals.shift();
          if (refusal !== undefined) throw new DOMException('', refusal);
        },
      });
    });
    await send({ 'photos/day 1/beach.txt': 'sand' }, 'text/x-sand');
    const share = page.getByRole('button', { name: 'Share', exact: true });
    await share.click();
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    const downloading = page.waitForEvent('download');
    await share.click();
    expect((await downloading).suggestedFilename()).toBe('beach.txt');
    await isSaved(page);
    await share.click();
    const file = ['beach.txt', 'text/x-sand', TAKEN_AT, 'sand'];
    await page.waitForFunction(() => (window as never as { shared: unknown[] }).shared.length === 3);
    expect(await page.evaluate(() => (window as never as { shared: unknown }).shared)).toEqual([file, file, file]);
    expect((await copies(page)).length).toBe(1);
    await page.getByRole('button', { name: 'Remove copies' }).waitFor();
    expect(reports).toEqual([]);
  });

  test('where there is no space for an archive, every file comes by itself', async () => {
    const { page, context, send } = await withSender();
    const files = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`${at}.bin`, String(at % 10).repeat(150_000)]),
    );
    await send(files);
    const session = await context.newCDPSession(page);
    const { usage } = await session.send('Storage.getUsageAndQuota', { origin: new URL(page.url()).origin });
    await session.send('Storage.overrideQuotaForOrigin', {
      origin: new URL(page.url()).origin,
      quotaSize: usage + 2_000_000,
    });
    const found: Download[] = [];
    page.on('download', (download) => found.push(download));
    await save(page);
    await isSaved(page);
    while (found.length < 30) await page.waitForEvent('download');
    const got = await Promise.all(found.map(async (one) => [one.suggestedFilename(), await text(one)]));
    expect(Object.fromEntries(got)).toEqual(files);
    expect((await copies(page)).filter((name) => name !== 'archive.zip')).toHaveLength(30);
  });

  test('copies that the browser does not remove stay named, and are removed later', async () => {
    const { page, send } = await withSender({ viewport: PHONE });
    await send({ one: '1' });
    await page.evaluate(() => {
      const { removeEntry } = FileSystemDirectoryHandle.prototype;
      FileSystemDirectoryHandle.prototype.removeEntry = async () => {
        FileSystemDirectoryHandle.prototype.removeEntry = removeEntry;
        throw new DOMException('It is open', 'NoModificationAllowedError');
      };
    });
    const remove = () => page.getByRole('button', { name: 'Remove copies' }).click();
    const downloading = page.waitForEvent('download');
    await save(page);
    await downloading;
    await remove();
    await page.getByText('Nothing was removed.').waitFor();
    expect(await copies(page)).toEqual(['0']);
    await remove();
    await page.getByRole('button', { name: 'Remove copies' }).waitFor({ state: 'detached' });
    expect(await copies(page)).toEqual([]);
  });

  test('copies that were not saved are removed only after a question', async () => {
    const { page, send } = await withSender();
    await send({ one: '1', two: '2' });
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save one', exact: true }).click();
    await downloading;
    await page.getByText('Saved 1 of 2', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove copies' }).click();
    await page.getByText('Remove 1 file not saved yet?').waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    expect(await copies(page)).toEqual(['0', '1']);
    await page.getByRole('button', { name: 'Remove copies' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor({ state: 'detached' });
    expect(await copies(page)).toEqual([]);
  });

  test('a browser that has no space for a file says that it failed, and not that it was received', async () => {
    const { page, context, offer } = await withSender();
    const running = await offer({ 'large.bin': 'x'.repeat(6_000_000) });
    const session = await context.newCDPSession(page);
    const { origin } = new URL(page.url());
    const { usage } = await session.send('Storage.getUsageAndQuota', { origin });
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: usage + 2_000_000 });
    await accept(page);
    await expect(running.done).rejects.toThrow(/sink_failed|failed/);
    await page.getByText('Failed', { exact: true }).waitFor();
    expect(await page.getByText('Received', { exact: true }).count()).toBe(0);
  });

  test('a large file that is read before it is offered has a bar', async () => {
    const { page } = await withSender();
    // The chosen file takes its time to be read, like one from a network drive.
    const path = join(folder, 'large.bin');
    writeFileSync(path, Buffer.alloc(64_000_000));
    const seen = page.evaluate(
      () =>
        new Promise<number[]>((resolve) => {
          const values: number[] = [];
          new MutationObserver(() => {
            const bar = document.querySelector<HTMLProgressElement>('.bubble.preparing progress');
            if (bar !== null && values.at(-1) !== bar.value) values.push(bar.value);
            if (document.querySelector('.bubble.offered') !== null) resolve(values);
          }).observe(document.body, { subtree: true, childList: true, attributes: true });
        }),
    );
    await chooseFiles(page, path);
    const values = await seen;
    expect(values.length).toBeGreaterThan(1);
    expect([...values].sort((a, b) => a - b)).toEqual(values);
  });
});
