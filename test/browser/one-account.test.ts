import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { approve, jsonOf } from '../cli/keyed-devices.ts';
import { makeTerminals, type Terminal } from '../cli/terminal.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { accept, chooseFiles, deviceRow, inThread, leaveFirstThread, openApp, openThread, say } from './app-page.ts';
import { firefoxPath } from './bare-firefox.ts';
import { chromiumPath, launchWholeChromium } from './chromium.ts';
import { type Curl, startCurl } from './curl.ts';
import { type FirefoxPage, openFirefoxPage } from './firefox-page.ts';
import { begun, moved, said, there } from './found.ts';
import { type KeyedSite, showCode, startBalancedSite } from './keyed-site.ts';
import { sha256, writeRandom } from './large-file.ts';

/*
 * One encrypted account: Chromium, Firefox, a terminal, a guest, and `curl`, which has no keys. Two replicas are killed and
 * replaced while they write to each other.
 */

const BYTES = 64 * 1024 * 1024;
const MIB = 1024 * 1024;
const OPEN = 'Not encrypted: the service could have written this';
const OPEN_MINE = 'Not encrypted: the service can read this';

const word = (name: string): string => `${name}-${randomBytes(6).toString('hex')}`;

const withBoth = skipUnless(firefoxPath !== undefined && chromiumPath !== undefined, 'needs Firefox and Chromium');

withBoth.describe('the devices of one encrypted account', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-one-account-'));
  const film = join(folder, 'film.bin');
  let site: KeyedSite;
  let browser: Browser;
  let redis: ReturnType<typeof connectTo>;
  let terminals: ReturnType<typeof makeTerminals>;
  let user = '';
  let wanted = '';
  let fox: FirefoxPage;
  beforeAll(async () => {
    wanted = writeRandom(film, BYTES);
    redis = connectTo(sharedRedisUrl());
    [site, browser] = await Promise.all([startBalancedSite(), launchWholeChromium()]);
    user = `user-${randomBytes(4).toString('hex')}`;
    terminals = makeTerminals({ door: site, logIn: () => site.logIn(user) });
    fox = await openFirefoxPage(site.url);
  }, 120_000);
  afterAll(async () => {
    terminals.stop();
    redis.disconnect();
    await Promise.all([fox.stop(), browser.close()]);
    await site.stop();
    rmSync(folder, { recursive: true });
  });

  /** Lets in the device that shows this link. Returns the digits. */
  async function letIn(terminal: Terminal, link: string): Promise<string> {
    const { stdout } = await terminal.ok(['approve', link, '--yes']);
    return /Check code: (\d{4})/.exec(stdout)?.[1] ?? '';
  }

  async function openDesktop(terminal: Terminal) {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const app = await openApp(browser, { url: site.url, locale: 'en', permissions });
    const digits = await letIn(terminal, await showCode(app.page, 'Desktop'));
    const question = app.page.getByRole('dialog', { name: 'Are the digits the same?' });
    await question.getByText(digits).waitFor();
    await question.getByRole('button', { name: 'Terminal shows these' }).click();
    await leaveFirstThread(app.page);
    return app;
  }

  async function openFox(terminal: Terminal): Promise<void> {
    await fox.run(`${begun('button', 'Use another device', 30_000)}.then((button) => button.click())`);
    await fox.type('form input', 'Fox');
    await fox.press('Enter');
    const digits = await letIn(
      terminal,
      String(await fox.run(`${there('a.link-text', 30_000)}.then(({ href }) => href)`)),
    );
    await fox.run(`${said(digits, 30_000)}.then(() => null)`);
    await fox.click('[role=dialog] button, dialog button', 'Terminal shows these');
    await fox.run(`${there('.composer textarea', 30_000)}.then(() => null)`);
  }

  async function at(page: Page, place: string): Promise<void> {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${place}`);
  }

  /** Limits what a page moves in both directions. */
  async function slowDown(page: Page, bytesPerSecond: number): Promise<void> {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const [downloadThroughput, uploadThroughput] = [bytesPerSecond, bytesPerSecond];
    await session.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 0, downloadThroughput, uploadThroughput },
    });
  }

  const foxReads = (text: string): Promise<void> => fox.shows('.theirs p', text);
  const textsOf = async (terminal: Terminal) => (await jsonOf(terminal, 'inbox')).map(({ content }) => content);

  /** Sends messages between all devices with keys, while a replica dies. */
  async function write(page: Page, terminal: Terminal, visitor: Terminal): Promise<string[]> {
    const words = ['toFox', 'fromFox', 'toAll', 'fromGuest', 'toGuest', 'toTerminal'].map(word);
    const [toFox, fromFox, toAll, fromGuest, toGuest, toTerminal] = words as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    await openThread(page, 'Fox');
    await fox.click('.device-name', 'Desktop');
    await say(page, toFox);
    await site.replaceReplica();
    await foxReads(toFox);
    await fox.run(`${there('.theirs .lock.is-sealed', 30_000)}.then(() => null)`);
    await fox.type('.composer textarea', fromFox);
    await fox.press('Enter');
    await inThread(page).locator('.theirs', { hasText: fromFox }).locator('.lock.is-sealed').waitFor();
    await inThread(page).locator('.mine .lock.is-sealed').waitFor();

    const [sent] = await jsonOf(terminal, 'message', '*', toAll);
    expect(sent).toMatchObject({ sealed: true, not_sent_to: [{ name: 'Curl' }] });
    await deviceRow(page, 'Terminal').getByText(toAll).waitFor();
    await fox.click('.device-name', 'Terminal');
    await foxReads(toAll);
    await visitor.ok(['message', 'Desktop', fromGuest]);
    await openThread(page, 'Visitor');
    await inThread(page).locator('.theirs', { hasText: fromGuest }).locator('.lock.is-sealed').waitFor();
    await say(page, toGuest);
    await inThread(page).locator('.mine .mark.sent, .mine .mark.delivered').waitFor();
    expect(await textsOf(visitor)).toEqual([toAll, toGuest]);
    await openThread(page, 'Terminal');
    await say(page, toTerminal);
    await inThread(page).locator('.mine .lock.is-sealed').waitFor();
    expect(await jsonOf(terminal, 'inbox')).toMatchObject([
      { content: toTerminal, sealed: true, from_name: 'Desktop' },
    ]);
    return words;
  }

  /** `curl` gets what the user has allowed, and its own content is shown as unencrypted. */
  async function writeWith(curl: Curl, page: Page, terminal: Terminal): Promise<void> {
    const [allowed, written, read] = [word('allowed'), word('written'), word('read')];
    const inbox = async () => (await curl.ask('/api/message')) as { messages: { content: string }[] };
    await openThread(page, 'Curl');
    await page.locator('.pane-head').getByText('Not encrypted').waitFor();
    await say(page, allowed);
    await page.getByText('The other device has no key').waitFor();
    expect(await inbox()).toMatchObject({ messages: [] });
    await page.getByRole('button', { name: 'Send unencrypted' }).click();
    await inThread(page).locator('.mine .mark.sent, .mine .mark.delivered').waitFor();
    await inThread(page).locator('.mine .lock').getByText(OPEN_MINE).waitFor();
    expect((await inbox()).messages.map(({ content }) => content)).toEqual([allowed]);

    await curl.send('POST', '/api/message', { to: 'Desktop', content: written });
    await inThread(page).locator('.theirs', { hasText: written }).getByText(OPEN).waitFor();
    await curl.send('POST', '/api/message', { to: 'Terminal', content: read });
    expect(await jsonOf(terminal, 'inbox')).toMatchObject([{ content: null, problem: { code: 'not_encrypted' } }]);
    expect((await terminal.ok(['inbox', '--plain'])).stdout).toContain(
      `not encrypted: the service could have written this): ${read}`,
    );
  }

  /** The clipboard belongs to the members: a guest and `curl` get nothing of it. */
  async function copy(curl: Curl, page: Page, terminal: Terminal, visitor: Terminal): Promise<string[]> {
    const [copied, put] = [word('copied'), word('put')];
    await at(page, 'clipboard');
    await fox.click('a', 'Clipboard');
    await terminal.ok(['copy'], { input: copied });
    await page.locator('.pane .lock.is-sealed').waitFor();
    await page.locator('.pane').getByRole('button', { name: 'show' }).click();
    await page.locator('.clipboard-text', { hasText: copied }).waitFor();
    await fox.click('.pane .clipboard-words small', 'show');
    await fox.shows('.clipboard-text', copied);
    await visitor.ok(['paste'], { status: 5 });
    expect(await curl.ask('/api/clipboard')).toMatchObject({ content: '', sealed: expect.any(String) });

    await fox.type('.pane textarea', put);
    await fox.click('button', 'Put in the clipboard');
    await page.locator('.clipboard-from', { hasText: 'Fox' }).waitFor();
    expect(await jsonOf(terminal, 'paste')).toMatchObject([{ content: put, sealed: true }]);
    await curl.send('PUT', '/api/clipboard', { content: word('open'), content_type: 'text/plain' });
    await page.locator('.pane .lock').getByText(OPEN).waitFor();
    await terminal.ok(['paste'], { status: 5 });
    return [copied, put];
  }

  /** Sends a file to the terminal and back. A replica dies on each way. */
  async function sendFile(page: Page, terminal: Terminal): Promise<void> {
    const isUnderWay = async () => expect(await page.evaluate(moved(0.2, 60_000))).toBeLessThan(1);
    await at(page, '');
    await openThread(page, 'Terminal');
    await slowDown(page, 24 * MIB);
    const receiving = terminal.run(['receive', '--yes', '--once', '--dir', 'in']);
    await receiving.says(/Waiting for/);
    await chooseFiles(page, film);
    await isUnderWay();
    await site.replaceReplica();
    expect([await receiving.status, receiving.stderr()]).toEqual([0, expect.any(String)]);
    expect(await sha256(join(terminal.folder, 'in', 'film.bin'))).toBe(wanted);
    await inThread(page).locator('.state', { hasText: 'Sent' }).waitFor();

    await at(page, '');
    await page.reload();
    await slowDown(page, 24 * MIB);
    await openThread(page, 'Terminal');
    const sending = terminal.run(['send', join('in', 'film.bin'), '--to', 'Desktop']);
    await accept(page);
    await page.evaluate(`${there('.main .theirs progress', 30_000)}.then(() => null)`);
    expect(await inThread(page).locator('.theirs .state', { hasText: 'Received' }).count()).toBe(0);
    await site.replaceReplica();
    await inThread(page).locator('.theirs .state', { hasText: 'Received' }).waitFor({ timeout: 60_000 });
    expect([await sending.status, sending.stderr()]).toEqual([0, expect.any(String)]);
    const saved = page.waitForEvent('download');
    await inThread(page).getByRole('button', { name: 'Save', exact: true }).click();
    expect(await sha256(await (await saved).path())).toBe(wanted);
    expect(await inThread(page).locator('.files .lock.is-sealed').count()).toBe(2);
  }

  test('messages, the clipboard and a file arrive as they were, while replicas die, and the service reads none of it', async () => {
    const [terminal] = (await terminals.devices('Terminal')) as [Terminal];
    await terminal.ok(['keys', 'create']);
    const desktop = await openDesktop(terminal);
    await openFox(terminal);
    const visitor = terminals.terminal();
    await approve(terminal, visitor.run(['login', site.url, '--name', 'Visitor']), '--once');
    const curl = await startCurl({ url: site.url, jar: join(folder, 'jar'), headers: await site.logIn(user) }, 'Curl');
    await deviceRow(desktop.page, 'Curl').waitFor();

    const words = await write(desktop.page, terminal, visitor);
    await writeWith(curl, desktop.page, terminal);
    words.push(...(await copy(curl, desktop.page, terminal, visitor)));
    await sendFile(desktop.page, terminal);
    expect(await curl.ask('/api/transfer')).toMatchObject({ transfers: [] });
    expect(await dumpsHolding(redis, site.prefix, ...words, 'film.bin')).toEqual([]);
    expect([...desktop.reports, ...fox.reports]).toEqual([]);
  }, 180_000);
});
