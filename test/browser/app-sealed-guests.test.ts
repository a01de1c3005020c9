import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { readSignInLink } from '../../shared/client/index.ts';
import { keysOf } from '../../shared/client/sealed.ts';
import { readKeyedLink } from '../../shared/client/sealing.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { until } from '../support/redis/redis-processes.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import {
  accept,
  type AppPage,
  chooseFiles,
  DESKTOP,
  inThread,
  leaveFirstThread,
  openApp,
  openThread,
  PHONE,
  say,
} from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import type { KeyedDevice } from './keyed-device.ts';
import { type KeyedSite, showCode, startKeyedSite } from './keyed-site.ts';
import { keepPicture } from './keep-picture.ts';

/*
 * A browser that is let in as a guest, or for an hour, has keys of its own. What is sent to it is sealed for it alone.
 */

const NO_KEY = 'Encrypted. This browser has no key for it.';

withChromium.describe('guests with keys in the app', () => {
  let site: KeyedSite;
  let browser: Browser;
  let redis: ReturnType<typeof connectTo>;
  beforeAll(async () => {
    redis = connectTo(sharedRedisUrl());
    [site, browser] = await Promise.all([startKeyedSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    redis.disconnect();
    await browser.close();
    await site.stop();
  });

  const permissions = ['clipboard-read', 'clipboard-write'];
  const word = (name: string): string => `${name}-${randomBytes(6).toString('hex')}`;
  const holding = (words: readonly string[]) => dumpsHolding(redis, site.prefix, ...words);
  const encryption = (page: Page) => page.getByRole('region', { name: 'Encryption' });
  const rowOf = (page: Page, name: string) => encryption(page).locator('.session', { hasText: name });
  const stranger = (viewport: typeof DESKTOP) =>
    openApp(browser, { url: site.url, locale: 'en', viewport, permissions });

  async function look(page: Page, name: string): Promise<void> {
    expect(await violations(page)).toEqual([]);
    await keepPicture(page, name);
  }

  async function at(page: Page, place: string): Promise<void> {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${place}`);
  }

  /** Returns the id of the device of that name, as the service lists it. */
  async function idOf(laptop: KeyedDevice, name: string): Promise<string> {
    return (await laptop.client.devices.list()).find((each) => each.name === name)?.device_id ?? '';
  }

  /** Lets in the browser that shows this link, by the app. Returns the digits that both show. */
  async function approveAs(page: Page, link: string, kind: string, picture?: string): Promise<string> {
    await at(page, 'add');
    const field = page.getByLabel(/paste the link/);
    await field.fill(link);
    await field.press('Enter');
    return letInAs(page, kind, picture);
  }

  /** Answers the question whether a device may come in. */
  async function letInAs(page: Page, kind: string, picture?: string): Promise<string> {
    await page.getByRole('radio', { name: kind }).check();
    await page.getByText('It gets no key of this account.').waitFor();
    if (picture !== undefined) await look(page, picture);
    await page.getByRole('button', { name: 'Let it in' }).click();
    const said = await page.getByText(/Check code \d{4}/).innerText();
    return /Check code (\d{4})/.exec(said)?.[1] ?? '';
  }

  async function compare(page: Page, digits: string, picture?: string): Promise<void> {
    const question = page.getByRole('dialog', { name: 'Are the digits the same?' });
    await question.getByText(digits).waitFor();
    await question.getByText('let this browser in as a guest').waitFor();
    if (picture !== undefined) await look(page, picture);
    await question.getByRole('button', { name: 'shows these' }).click();
    await question.waitFor({ state: 'detached' });
  }

  /** Collects the bodies that a page sends to this path of the service. */
  function sentTo(page: Page, path: string): string[] {
    const bodies: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET' && new URL(request.url()).pathname === path) bodies.push(request.postData() ?? '');
    });
    return bodies;
  }

  /** Returns the databases of keys that this browser has, and the state of its keys. */
  const keptKeys = ({ page }: AppPage) =>
    page.evaluate(async () => {
      const names = (await indexedDB.databases()).map(({ name }) => String(name));
      const keys: string[] = [];
      for (const name of names.filter((each) => each.endsWith('-keys'))) {
        const database = await new Promise<IDBDatabase>((resolve) => {
          indexedDB.open(name).onsuccess = ({ target }) => resolve((target as IDBOpenDBRequest).result);
        });
        if (!database.objectStoreNames.contains('keys')) continue;
        const count = database.transaction('keys').objectStore('keys').count();
        await new Promise((resolve) => {
          count.onsuccess = resolve;
        });
        if (count.result > 0) keys.push(name);
        database.close();
      }
      return { keys, state: localStorage.getItem('baton-keys') };
    });

  test('messages and files to a guest and from it are sealed for it alone, and nothing is after it was removed', async () => {
    const laptop = await site.account();
    const desktop = await site.open(browser, laptop, { name: 'Desktop' });
    const visitor = await stranger(PHONE);
    const link = await showCode(visitor.page, 'Visitor');
    const digits = await approveAs(desktop.page, link, 'Guest for an hour', 'guest-approval');
    await compare(visitor.page, digits, 'guest-question-phone');
    const id = await idOf(laptop, 'Visitor');
    const ring = await laptop.ring();
    expect(ring.ring.body).toMatchObject({ epoch: 1, members: [{ kind: 'cli' }, { kind: 'web' }] });
    expect(ring.guests).toMatchObject([{ device_id: id }]);

    const [asked, answered, file, copied] = ['asked', 'answered', 'file', 'copied'].map(word) as [
      string,
      string,
      string,
      string,
    ];
    const sent = [desktop, visitor].map(({ page }) => sentTo(page, '/api/message'));
    await openThread(desktop.page, 'Visitor');
    await desktop.page.locator('.pane-head .lock.is-sealed').waitFor();
    await say(desktop.page, asked);
    await leaveFirstThread(visitor.page);
    await openThread(visitor.page, 'Desktop');
    await inThread(visitor.page).locator('.theirs', { hasText: asked }).locator('.lock.is-sealed').waitFor();
    await say(visitor.page, answered);
    await inThread(desktop.page).locator('.theirs', { hasText: answered }).locator('.lock.is-sealed').waitFor();
    for (const bodies of sent) expect(bodies).toEqual([expect.stringMatching(/"sealed":"Ag/)]);
    await chooseFiles(desktop.page, { name: `${file}.txt`, mimeType: 'text/plain', buffer: Buffer.from(file) });
    await inThread(visitor.page).getByText(`${file}.txt`).waitFor();
    await accept(visitor.page);
    await inThread(visitor.page).locator('.long-text').getByText(file).waitFor();
    expect(await holding([asked, answered, file])).toEqual([]);
    await look(visitor.page, 'guest-thread-phone');

    // The clipboard of the account belongs to its members, and a guest cannot write it either.
    await laptop.sealing().texts.setClipboard(await laptop.ring(), copied);
    await at(visitor.page, '');
    const card = visitor.page.locator('.clipboard-card');
    await card.getByText(NO_KEY).waitFor();
    expect(await card.getByRole('button', { name: 'Copy', exact: true }).count()).toBe(0);
    await look(visitor.page, 'guest-list-phone');
    expect(await card.getByRole('button', { name: 'Send mine' }).count()).toBe(0);
    await at(visitor.page, 'clipboard');
    await visitor.page.getByText('Guests cannot use the encrypted clipboard.').waitFor();
    expect(await inThread(visitor.page).getByRole('textbox').count()).toBe(0);
    await look(visitor.page, 'guest-clipboard-phone');
    await at(visitor.page, 'settings');
    await encryption(visitor.page).getByText('This browser is a guest.').waitFor();
    await rowOf(visitor.page, 'Visitor').locator('.fingerprint').waitFor();
    expect(await encryption(visitor.page).getByRole('button').count()).toBe(0);
    await encryption(visitor.page).scrollIntoViewIfNeeded();
    await look(visitor.page, 'guest-settings-phone');

    // The guest's things survive a reload, and are gone once the guest is removed.
    await visitor.page.reload();
    await encryption(visitor.page).getByText('This browser is a guest.').waitFor();
    await at(desktop.page, 'settings');
    await rowOf(desktop.page, 'Visitor').getByText('Guest: what is sent to it').waitFor();
    await encryption(desktop.page).scrollIntoViewIfNeeded();
    await look(desktop.page, 'guest-listed');
    await desktop.page.getByRole('button', { name: 'Sign out: Visitor' }).click();
    await desktop.page.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
    await rowOf(desktop.page, 'Visitor').waitFor({ state: 'detached' });
    const after = await laptop.ring();
    expect(after.ring.body).toMatchObject({ epoch: 1, gone_guests: [{ device_id: id }] });
    expect(keysOf(after, id, Date.now())).toBeNull();
    await visitor.page.getByRole('button', { name: 'Use another device' }).waitFor();
    expect(await keptKeys(visitor)).toEqual({ keys: [], state: null });
    expect([...desktop.reports, ...visitor.reports]).toEqual([]);
  }, 180_000);

  test('an invited browser that is here for an hour keeps its keys over a reload, and has none when its hour is over', async () => {
    const laptop = await site.account();
    const phone = await site.open(browser, laptop, { name: 'Phone', viewport: PHONE, permissions });
    const tablet = site.device();
    const joining = await tablet.askToJoin('Tablet');
    await laptop.letIn(joining.link);
    await joining.digits;
    await at(phone.page, 'add');
    await phone.page.getByRole('button', { name: 'Copy link' }).click();
    const visitor = await stranger(DESKTOP);
    await visitor.page.goto(await phone.page.evaluate(() => navigator.clipboard.readText()));
    await visitor.page.getByLabel('Device name').fill('Visitor');
    await visitor.page.keyboard.press('Enter');
    const typed = (await visitor.page.locator('.digits').innerText()).replace(/\D/g, '');
    await phone.page.getByLabel('Type the six digits').pressSequentially(typed);
    await phone.page.getByText('It gets the key of this account').waitFor();
    const digits = await letInAs(phone.page, 'My device, for an hour', 'guest-approval-phone');
    await compare(visitor.page, digits, 'guest-question');
    expect((await laptop.ring()).ring.body).toMatchObject({ epoch: 1, members: { length: 3 } });
    // The guest's keys end with its session. Until the end is known, they last two minutes longer.
    await until(
      async () => (await laptop.ring()).guests.map((guest) => guest.until - Date.now()),
      ([ms = 0]) => ms < 3_610_000,
      'the keys end with the session',
    );

    const [first, later] = ['first', 'later'].map(word) as [string, string];
    await openThread(visitor.page, 'Phone');
    await say(visitor.page, first);
    await at(phone.page, '');
    await openThread(phone.page, 'Visitor');
    await inThread(phone.page).locator('.theirs', { hasText: first }).locator('.lock.is-sealed').waitFor();
    await visitor.page.reload();
    await say(phone.page, later);
    await inThread(visitor.page).locator('.theirs', { hasText: later }).locator('.lock.is-sealed').waitFor();
    expect(await holding([first, later])).toEqual([]);
    await at(visitor.page, 'settings');
    await encryption(visitor.page).getByText('This browser is a guest.').waitFor();
    await look(visitor.page, 'guest-settings');

    // A guest may sign devices out. It cannot replace the key, so a member does.
    await visitor.page.getByRole('button', { name: 'Sign out: Tablet' }).click();
    await visitor.page.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
    await until(
      async () => (await laptop.ring()).ring.body,
      ({ epoch, members }) => epoch === 2 && members.length === 2,
      'the key is replaced',
    );
    const kept = { keys: ['baton-keys'], state: '{"kind":"keyed","isGuest":true}' };
    expect(await keptKeys(visitor)).toEqual(kept);
    await visitor.page.goto(`${site.url}/api/docs`);
    // An expired session is forgotten in the same way.
    await visitor.page.evaluate(() => localStorage.removeItem('baton-session'));
    await visitor.page.goto(site.url);
    await visitor.page.getByRole('button', { name: 'Use another device' }).waitFor();
    // Waiting messages are not sent unencrypted after another sign-in.
    expect(await keptKeys(visitor)).toEqual({ keys: [], state: '{"kind":"lost","isGuest":true}' });

    const again = word('again');
    const anew = await approveAs(phone.page, await showCode(visitor.page, 'Again'), 'Guest for an hour');
    await compare(visitor.page, anew);
    await openThread(visitor.page, 'Phone');
    await say(visitor.page, again);
    await inThread(visitor.page).locator('.mine', { hasText: again }).locator('.lock.is-sealed').waitFor();
    expect(await holding([again])).toEqual([]);
    expect([...phone.reports, ...visitor.reports]).toEqual([]);
  }, 180_000);

  test('every open tab learns of each guest that another device lets in', async () => {
    const laptop = await site.account();
    const desktop = await site.open(browser, laptop, { name: 'Desktop' });
    const second = await desktop.context.newPage();
    await second.goto(`${site.url}/#/settings`);
    await rowOf(second, 'Laptop').locator('.fingerprint').waitFor();
    const visitor = await stranger(PHONE);
    const link = await showCode(visitor.page, 'Visitor');
    const [code, key] = [readSignInLink(link), readKeyedLink(link)?.key];
    if (code === null || !key) throw new Error('The code has no keys');
    const access = { scope: 'guest', persist: 'once' } as const;
    const { checkCode, isMember } = await laptop.sealing().linking.letIn(code, key, access);
    expect(isMember).toBe(false);
    const question = visitor.page.getByRole('dialog', { name: 'Are the digits the same?' });
    await question.getByText(checkCode).waitFor();
    await rowOf(second, 'Visitor').locator('.fingerprint').waitFor();
    // The tabs learned the number of the ring with the first guest, and it is the same for the next one.
    const joining = await site.device().askToJoin('Tablet');
    await laptop.letIn(joining.link, { scope: 'full', persist: 'once' });
    await joining.digits;
    await rowOf(second, 'Tablet').locator('.fingerprint').waitFor();
    await openThread(desktop.page, 'Visitor');
    await desktop.page.locator('.pane-head .lock.is-sealed').waitFor();

    // A device whose user says that the digits differ is signed out, keeps no key, and loses its place.
    await question.getByRole('button', { name: 'They differ: sign out' }).click();
    await visitor.page.getByRole('button', { name: 'Use another device' }).waitFor();
    expect(await keptKeys(visitor)).toEqual({ keys: [], state: null });
    await rowOf(second, 'Visitor').waitFor({ state: 'detached' });
    expect([...desktop.reports, ...visitor.reports]).toEqual([]);
  }, 180_000);
});
