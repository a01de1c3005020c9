import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { makeClient } from '../../shared/client/http/client.ts';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { makeDevice } from '../support/device.ts';
import { connectTo, sharedRedisUrl } from '../support/redis/redis.ts';
import { dumpsHolding } from '../support/redis/stored.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { type Site, startSite } from '../support/site.ts';
import {
  askForCode,
  DESKTOP,
  deviceRow,
  inThread,
  leaveFirstThread,
  localUrl,
  openApp,
  openThread,
  PHONE,
  say,
} from './app-page.ts';
import { violations } from './axe.ts';
import { type KeyedDevice, makeKeyedDevice } from './keyed-device.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { keepPicture } from './keep-picture.ts';

const NO_KEY = 'Encrypted. This browser has no key for it.';

/** Makes something sealed, as far as the service and a browser without a key can tell. */
const envelope = (): string => Buffer.concat([Buffer.of(1, 0, 0, 0, 1), randomBytes(60)]).toString('base64url');

async function look(page: Page, name: string): Promise<void> {
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, name);
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

    // A new stream delivers the message again, because nobody has acknowledged it. It is still one item.
    await page.goto(`${localUrl(site.one)}/#/`);
    await page.reload();
    await openThread(page, 'Laptop');
    await inThread(page).locator('.bubble').getByText(NO_KEY).waitFor();
    expect(await inThread(page).locator('.item').count()).toBe(1);
    expect(await waiting()).toHaveLength(1);
    expect((await calls.call('getClipboard')).body).toMatchObject({ sealed });

    // Removing the item gives the message up.
    await inThread(page).locator('.item').getByRole('button', { name: 'More' }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Remove' }).click();
    await inThread(page).locator('.item').waitFor({ state: 'detached' });
    expect(await waiting()).toEqual([]);

    // The app does not accept files that it would only have as ciphertext, and their sender is told.
    const offered = await calls.call('initTransfer', {
      body: { to_device_id: id, files: [{ name: '0.bin', size: 1 }], sealed: envelope() },
    });
    const { transfer_id } = offered.body.transfer;
    await inThread(page).locator('.item').getByText('no key that opens these encrypted files').waitFor();
    expect(await inThread(page).getByRole('button', { name: 'Accept' }).count()).toBe(0);
    const ended = async () => (await calls.call('getTransfer', { params: { transfer_id } })).body.transfer;
    // The page shows it before its request has arrived.
    while ((await ended()).state === 'PENDING');
    expect(await ended()).toMatchObject({
      ...{ state: 'CANCELLED', error: { code: 'cannot_open', by_device_id: id } },
    });
    await look(page, `sealed-offer-${size}`);
    expect(reports).toEqual([]);
  });
});

withChromium.describe('keys of the app', () => {
  let site: SignInSite;
  let url: string;
  let redis: ReturnType<typeof connectTo>;
  let browser: Browser;
  beforeAll(async () => {
    redis = connectTo(sharedRedisUrl());
    // A page can sign in at the public address only.
    const port = await freePort();
    url = `http://localhost:${port}`;
    [site, browser] = await Promise.all([
      startSignInSite({ APP_RATE_LIMIT_SCALE: '0', APP_PUBLIC_URL: url }),
      launchChromium(),
    ]);
    await site.startReplica({ APP_PORT: String(port) });
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
  const open = (viewport = DESKTOP) => openApp(browser, { url, locale: 'en', permissions, viewport });

  /** Opens a browser that shows its code, and lets it in with its keys by another device. */
  async function letInBy(laptop: KeyedDevice, page: Page): Promise<string> {
    await askForCode(page);
    return laptop.letIn(String(await page.locator('a.link-text').getAttribute('href')));
  }

  async function approve(page: Page, link: string): Promise<void> {
    await page.goto(`${url}/#/add`);
    const field = page.getByLabel(/paste the link/);
    await field.fill(link);
    // The heading of the page takes the focus when it opens.
    await field.press('Enter');
    await page.getByRole('radio', { name: 'until you sign it out' }).check();
    await page.getByText('It gets the key of this account').waitFor();
  }

  test('a browser gets the key with its sign-in, reads and writes under it, passes it on, and takes it away', async () => {
    const [laptop, phone] = [makeKeyedDevice(site, url), makeKeyedDevice(site, url)];
    await laptop.signIn('Laptop');
    await laptop.sealing().rings.create({ kind: 'cli' });
    const { page, reports } = await open();
    const digits = await letInBy(laptop, page);
    const question = page.getByRole('dialog', { name: 'Are the digits the same?' });
    await question.getByText(digits).waitFor();
    await question.getByText(`Signed in as ${(await laptop.client.me()).name}`).waitFor();
    await look(page, 'keys-question');
    const [asked, answered, copied, pasted] = ['asked', 'answered', 'copied', 'pasted'].map(word) as [
      string,
      string,
      string,
      string,
    ];
    await laptop.send('Chrome on Linux', asked);
    // Nothing is opened before the answer.
    await deviceRow(page, 'Laptop').getByText(NO_KEY).waitFor();
    await question.getByRole('button', { name: 'Laptop shows these' }).click();
    await deviceRow(page, 'Laptop').getByText(asked).waitFor();
    await openThread(page, 'Laptop');
    await inThread(page).locator('.theirs .lock.is-sealed').waitFor();
    await say(page, answered);
    await page.locator('.mine .lock.is-sealed').waitFor();
    expect(await laptop.read()).toEqual([answered]);
    await look(page, 'keys-thread');

    await laptop.sealing().texts.setClipboard(await laptop.ring(), copied);
    const card = page.locator('.clipboard-card');
    await card.locator('.lock.is-sealed').waitFor();
    await card.getByRole('button', { name: 'Copy', exact: true }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(copied);
    await page.evaluate((text) => navigator.clipboard.writeText(text), pasted);
    await card.getByRole('button', { name: 'Send mine' }).click();
    await card.getByText('Chrome on Linux copied text').waitFor();
    const entry = await laptop.client.clipboard.get();
    expect(await laptop.sealing().texts.openClipboard(await laptop.ring(), entry)).toMatchObject({ text: pasted });
    expect(await holding([asked, answered, copied, pasted])).toEqual([]);

    const joining = await phone.askToJoin('Phone');
    await approve(page, joining.link);
    await look(page, 'keys-approve');
    await page.getByRole('button', { name: 'Let it in' }).click();
    await page.getByText(`Check code ${await joining.digits}`).waitFor();
    await page.goto(`${url}/#/settings`);
    const encryption = page.getByRole('region', { name: 'Encryption' });
    await encryption.locator('.session', { hasText: 'Phone' }).locator('.fingerprint').waitFor();
    expect(await encryption.locator('.fingerprint').allInnerTexts()).toHaveLength(3);
    await encryption.scrollIntoViewIfNeeded();
    await look(page, 'keys-settings');
    await page.getByRole('button', { name: 'Sign out: Phone' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
    await encryption.locator('.session', { hasText: 'Phone' }).waitFor({ state: 'detached' });
    expect((await laptop.ring()).ring.body).toMatchObject({ epoch: 2, members: [{ kind: 'cli' }, { kind: 'web' }] });
    await page.reload();
    await laptop.send('Chrome on Linux', 'under the new key');
    await deviceRow(page, 'Laptop').getByText('under the new key').waitFor();
    expect(reports).toEqual([]);
  }, 120_000);

  test('no script of a page can read the private keys that its browser keeps', async () => {
    const laptop = makeKeyedDevice(site, url);
    await laptop.signIn('Laptop');
    await laptop.sealing().rings.create({ kind: 'cli' });
    const { page } = await open();
    await letInBy(laptop, page);
    await page.getByRole('button', { name: 'Laptop shows these' }).click();
    const read = await page.evaluate(
      () =>
        new Promise<unknown>((resolve, reject) => {
          const opening = indexedDB.open('baton-keys');
          opening.onerror = () => reject(opening.error ?? new Error('no keys'));
          opening.onsuccess = () => {
            const asked = opening.result.transaction('keys').objectStore('keys').get('device');
            asked.onsuccess = () => {
              const { enc, sig } = (asked.result as { keys: Record<'enc' | 'sig', CryptoKeyPair> }).keys;
              const exported = [enc, sig].map(({ privateKey }) => crypto.subtle.exportKey('jwk', privateKey));
              resolve(Promise.all(exported.map((each) => each.catch((error: unknown) => (error as Error).name))));
            };
          };
        }),
    );
    expect(read).toEqual(['InvalidAccessError', 'InvalidAccessError']);
  }, 120_000);

  test('an account is encrypted from the app, which names who has no key yet, and says when its own are gone', async () => {
    const phone = makeKeyedDevice(site, url);
    await phone.signIn('Phone');
    const { page, reports } = await open(PHONE);
    await askForCode(page);
    const shown = String(await page.locator('a.link-text').getAttribute('href'));
    await phone.client.signIns.approve(String(shown.split('#')[0]), { scope: 'full', persist: 'persist' });
    await leaveFirstThread(page);
    await page.goto(`${url}/#/settings`);
    const encryption = page.getByRole('region', { name: 'Encryption' });
    await encryption.getByRole('button', { name: 'Encrypt this account' }).click();
    const dialog = page.locator('dialog');
    await dialog.getByText('These have no keys until you link them: Phone.').waitFor();
    await dialog.getByRole('button', { name: 'Encrypt this account' }).click();
    await encryption.locator('.session', { hasText: 'Phone' }).getByText('No key.').waitFor();
    await encryption.locator('.fingerprint').waitFor();
    await encryption.scrollIntoViewIfNeeded();
    await look(page, 'keys-settings-phone');

    // Nothing goes unencrypted to a device without keys before the user allows it.
    await page.goto(`${url}/#/`);
    await openThread(page, 'Phone');
    await page.locator('.pane-head').getByText('Not encrypted').waitFor();
    const [first, waiting, sealed] = ['first', 'waiting', 'sealed'].map(word) as [string, string, string];
    await say(page, first);
    await page.getByText('The other device has no key').waitFor();
    expect(await phone.client.messages.list()).toEqual([]);
    await look(page, 'keys-unkeyed-phone');
    await page.getByRole('button', { name: 'Send unencrypted' }).click();
    await page.locator('.mine .mark.sent, .mine .mark.delivered').waitFor();
    await page.locator('.mine .lock').getByText('the service can read this').waitFor();
    expect(await phone.client.messages.list()).toMatchObject([{ content: first }]);
    await phone.client.messages.acknowledge((await phone.client.messages.list()).map(({ message_id: id }) => id));

    // The signed-in device asks for the key.
    const asked = await phone.sealing().linking.askForKeys();
    await approve(page, asked.link);
    await page.getByRole('button', { name: 'Let it in' }).click();
    expect(await asked.approved()).toBe(true);
    const linked = await phone.sealing().rings.takeGrant();
    await page.getByText(`Check code ${linked?.checkCode}`).waitFor();
    await page.goto(`${url}/#/`);
    await openThread(page, 'Phone');
    await page.locator('.pane-head .lock.is-sealed').waitFor();
    await say(page, sealed);
    await page.locator('.mine .lock.is-sealed').waitFor();
    expect(await phone.read()).toEqual([sealed]);

    // The browser has lost its keys, as Safari does after a week without a visit.
    await page.evaluate(() => {
      indexedDB.deleteDatabase('baton-keys');
    });
    await page.reload();
    await page.locator('.composer textarea').waitFor();
    await say(page, waiting);
    await page.getByText('Waits: the keys of this browser are gone.').waitFor();
    await page.goto(`${url}/#/settings`);
    await encryption.getByText('The keys of this browser are gone.').waitFor();
    await encryption.getByRole('button', { name: 'Get the key' }).click();
    await page.locator('.qr').waitFor();
    await look(page, 'keys-lost-phone');
    const checkCode = await phone.letIn(String(await encryption.locator('a.link-text').getAttribute('href')));
    const question = page.getByRole('dialog', { name: 'Are the digits the same?' });
    await question.getByText(checkCode).waitFor();
    expect(await phone.read()).toEqual([]);
    await question.getByRole('button', { name: 'Phone shows these' }).click();
    await page.goto(`${url}/#/`);
    await openThread(page, 'Phone');
    await page.locator('.mine .lock.is-sealed').nth(1).waitFor();
    expect(await phone.read()).toEqual([waiting]);
    expect(await holding([sealed, waiting])).toEqual([]);
    expect(reports).toEqual([]);
  }, 120_000);

  test('an invited browser gets the key by the six digits, which name its keys too', async () => {
    const laptop = makeKeyedDevice(site, url);
    await laptop.signIn('Laptop');
    await laptop.sealing().rings.create({ kind: 'cli' });
    const one = await open();
    await letInBy(laptop, one.page);
    await one.page.getByRole('button', { name: 'Laptop shows these' }).click();
    await one.page.getByRole('link', { name: 'Add a device' }).first().click();
    await one.page.getByRole('button', { name: 'Copy link' }).click();
    const link = await one.page.evaluate(() => navigator.clipboard.readText());
    expect(link).toMatch(/\/join\?i=[\w-]{22}#k=1\.[\w-]{22}$/);

    const two = await open(PHONE);
    await two.page.goto(link);
    await two.page.getByLabel('Device name').fill('Pocket');
    await two.page.keyboard.press('Enter');
    const digits = (await two.page.locator('.digits').innerText()).replace(/\D/g, '');
    const field = one.page.getByLabel('Type the six digits');
    await field.pressSequentially(digits === '000000' ? '000001' : '000000');
    await one.page.getByText('These digits are wrong').waitFor();
    await field.pressSequentially(digits);
    await one.page.getByText('It gets the key of this account').waitFor();
    await look(one.page, 'keys-invited');
    await one.page.getByRole('button', { name: 'Let it in' }).click();
    const [, shown] = /Check code (\d{4})/.exec(await one.page.getByText(/Check code \d{4}/).innerText()) ?? [];
    const question = two.page.getByRole('dialog', { name: 'Are the digits the same?' });
    await question.getByText(String(shown)).waitFor();
    await look(two.page, 'keys-question-phone');
    await question.getByRole('button', { name: 'Chrome on Linux shows these' }).click();
    const text = word('invited');
    await leaveFirstThread(two.page);
    await openThread(two.page, 'Chrome on Linux');
    await say(two.page, text);
    await two.page.locator('.mine .lock.is-sealed').waitFor();
    await deviceRow(one.page, 'Pocket').getByText(text).waitFor();
    expect(await holding([text])).toEqual([]);

    // A device whose user says that the digits differ is signed out, and keeps no key.
    const three = await open(PHONE);
    await letInBy(laptop, three.page);
    await three.page.getByRole('button', { name: 'They differ: sign out' }).click();
    await three.page.getByRole('button', { name: 'Use another device' }).waitFor();
    const left = await three.page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
    expect(left.sort()).toEqual(['baton-here', 'baton-shares']);
    expect([...one.reports, ...two.reports, ...three.reports]).toEqual([]);
  }, 120_000);
});
