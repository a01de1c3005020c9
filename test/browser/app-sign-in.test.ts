import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { type AppSite, startAppSite } from './app-site.ts';
import {
  askForCode,
  accept,
  chooseFiles,
  DESKTOP,
  deviceRow,
  leaveFirstThread,
  openApp,
  openThread,
  PHONE,
  say,
  signInAnew,
  inThread,
} from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { isTooWide, LANGUAGES, useLanguage } from './too-wide.ts';
import { keepPicture } from './keep-picture.ts';

/** Returns everything that this browser keeps in a database with one store. */
const recordsOf = (page: Page, name: string, store: string): Promise<unknown[]> =>
  page.evaluate(
    ([from = '', of = '']) =>
      new Promise<unknown[]>((resolve) => {
        const opening = indexedDB.open(from);
        opening.onsuccess = () => {
          const asked = opening.result.transaction(of).objectStore(of).getAll();
          asked.onsuccess = () => resolve(asked.result);
        };
      }),
    [name, store],
  );

withChromium.describe('signing in with the app', () => {
  let site: AppSite;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startAppSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  const stranger = (viewport = DESKTOP) => openApp(browser, { url: site.url, locale: 'en', viewport });

  /** The phone shows its code. The desktop is given its link and says yes. */
  async function letIn(desktop: Page, phone: Page, as: string): Promise<void> {
    await askForCode(phone);
    const link = String(await phone.locator('a.link-text').getAttribute('href'));
    await desktop.getByRole('link', { name: 'Add a device' }).first().click();
    await desktop.getByLabel(/paste the link/).fill(link);
    await desktop.keyboard.press('Enter');
    await desktop.getByRole('radio', { name: as }).check();
    await desktop.getByRole('button', { name: 'Let it in' }).click();
    await desktop.getByText('is let in').waitFor();
    // There the phone can talk to the device that let it in.
    await phone.getByRole('heading', { name: 'Desktop' }).waitFor({ state: 'attached' });
    await phone.locator('.composer textarea').waitFor();
  }

  test('both ways of letting a device in fit a phone, in any language, and the same code is shown again', async () => {
    const { page, reports } = await stranger(PHONE);
    await signInAnew(page, 'Phone');
    const wide: string[] = [];
    const codes: (string | null)[] = [];
    for (const language of LANGUAGES) {
      await useLanguage(page, language);
      for (const width of [320, 390]) {
        await page.setViewportSize({ ...PHONE, width });
        await page.evaluate(() => {
          location.hash = '#/add';
        });
        await page.locator('.qr-frame svg').waitFor();
        codes.push(await page.locator('.qr-frame path').getAttribute('d'));
        if (await isTooWide(page)) wide.push(`${language} ${width}`);
        await keepPicture(page, `add-${language}-${width}`, { fullPage: true });
        await page.evaluate(() => {
          location.hash = '#/settings';
        });
        await page.locator('.sessions').waitFor();
      }
    }
    expect(wide).toEqual([]);
    expect(codes).toEqual(codes.map((_, at) => codes[at - (at % 2)]));
    expect(reports).toEqual([]);
  });

  test('a new device does not ask for keys that it cannot have, and its console stays empty', async () => {
    const { page } = await stranger();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    page.on('console', (entry) => {
      if (entry.type() === 'error') asked.push(entry.text());
    });
    await signInAnew(page, 'Desktop');
    await page.getByRole('link', { name: 'Clipboard' }).click();
    await page.getByLabel('Or type a text').fill('in the open');
    // Messages wait until the app knows whether this browser has keys.
    await page.getByRole('button', { name: 'Put in the clipboard' }).click();
    await page.getByText('Desktop copied text').waitFor();
    expect(asked.filter((one) => one === '/api/keys' || one.includes('404'))).toEqual([]);
  }, 60_000);

  test('from the first visit over a code to two devices that see each other, and back out', async () => {
    const [one, two] = [await stranger(), await stranger(PHONE)];
    const [desktop, phone] = [one.page, two.page];
    await signInAnew(desktop, 'Desktop');
    await letIn(desktop, phone, 'until you sign it out');
    await deviceRow(desktop, 'Chrome').getByText('Online').waitFor();
    // Both have keys by then, because there was no other device.
    await phone.getByRole('button', { name: 'Desktop shows these' }).click();
    await say(phone, 'it is me');
    await desktop.getByRole('link', { name: 'Open the thread' }).click();
    await inThread(desktop).getByText('it is me').waitFor();
    await keepPicture(phone, 'landed-390');
    await phone.getByRole('link', { name: 'Back' }).click();
    await deviceRow(phone, 'Desktop').getByText('Online').waitFor();

    await phone.getByRole('link', { name: 'Settings' }).click();
    await phone.getByLabel('Device name').fill('Pocket');
    await phone.getByRole('button', { name: 'Rename' }).click();
    await deviceRow(desktop, 'Pocket').waitFor();
    await phone.close();
    await deviceRow(desktop, 'Pocket').getByText(/Seen/).waitFor({ timeout: 20_000 });

    const again = await two.context.newPage();
    await again.goto(site.url);
    await deviceRow(again, 'Desktop').waitFor();
    await openThread(desktop, 'Pocket');
    await say(desktop, 'still there?');
    await again.locator('.count').waitFor();

    await desktop.getByRole('link', { name: 'Settings' }).click();
    await desktop.getByRole('button', { name: 'Sign out: Pocket' }).click();
    await desktop.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
    await again.getByText('This device was signed out by another one').waitFor();
    // The history is gone. Two databases that belong to no account stay: who is here (nobody), and what was shared
    // (nothing).
    const left = await again.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
    expect(left.sort()).toEqual(['baton-here', 'baton-shares']);
    expect(await recordsOf(again, 'baton-shares', 'shares')).toEqual([]);
    expect(await recordsOf(again, 'baton-here', 'here')).toContain(null);
    expect([...one.reports, ...two.reports]).toEqual([]);
  });

  test('a page that ends while it signs out leaves the rest to the next one', async () => {
    const { page, context } = await stranger();
    await signInAnew(page, 'Desktop');
    await page.getByRole('link', { name: 'Settings' }).click();
    // The browser removes nothing before the page is closed.
    await page.evaluate(() => {
      const { open } = IDBFactory.prototype;
      open.call(indexedDB, 'held', 1);
      IDBFactory.prototype.deleteDatabase = function () {
        Object.assign(globalThis, { isRemoving: true });
        return open.call(this, 'held', 2);
      };
    });
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.waitForFunction(() => 'isRemoving' in globalThis);
    await page.close();
    const next = await context.newPage();
    await next.goto(site.url);
    await next.getByRole('button', { name: 'Sign in' }).waitFor();
    const left = await next.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
    expect(left.sort()).toEqual(['baton-here', 'baton-shares', 'held']);
  });

  test('a replica is killed while a file and messages pass, and everything arrives', async () => {
    const [one, two] = [await stranger(), await stranger(PHONE)];
    const [desktop, phone] = [one.page, two.page];
    await signInAnew(desktop, 'Desktop');
    await letIn(desktop, phone, 'My device, for an hour');
    await openThread(desktop, 'Chrome');
    const bytes = randomBytes(30_000_000);
    await chooseFiles(desktop, { name: 'film.bin', mimeType: 'video/mp4', buffer: bytes });
    await accept(phone);
    await phone.waitForFunction(() => (document.querySelector('progress')?.value ?? 0) > 0);
    site.killReplica();
    await say(phone, 'said without that replica');
    await inThread(desktop).getByText('said without that replica').waitFor();
    await phone.locator('.mark.delivered').waitFor();
    await phone.getByText('Received', { exact: true }).waitFor({ timeout: 60_000 });
    const download = phone.waitForEvent('download');
    await phone.getByRole('button', { name: 'Save', exact: true }).click();
    expect(readFileSync(await (await download).path()).equals(bytes)).toBe(true);
    expect([...one.reports, ...two.reports]).toEqual([]);
  }, 120_000);

  /** Returns the link of the code that a device shows to invite another one. */
  async function inviteOf({ page, context }: Awaited<ReturnType<typeof stranger>>): Promise<string> {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('link', { name: 'Add a device' }).first().click();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText(/Valid for/).waitFor();
    return await page.evaluate(() => navigator.clipboard.readText());
  }

  test('a new phone scans the code of a desktop, says its name, and is let in by six digits', async () => {
    const [one, two, three] = [await stranger(), await stranger(PHONE), await stranger(PHONE)];
    const [desktop, phone] = [one.page, two.page];
    await signInAnew(desktop, 'Desktop');
    const link = await inviteOf(one);
    expect(link).toMatch(/^https?:\/\/[^/]+\/join\?i=[\w-]{22}#s=[\w-]{22}$/);
    await keepPicture(desktop, 'invite-1440-light');
    await desktop.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await desktop.setViewportSize(PHONE);
    await keepPicture(desktop, 'invite-390-dark');
    expect(await violations(desktop)).toEqual([]);
    await phone.goto(link);
    await phone.getByLabel('Device name').fill('Käthes Pixel');
    await phone.getByText('It will be called “Kathes Pixel”.').waitFor();
    expect(phone.url()).toBe(`${new URL(link).origin}/`);
    await keepPicture(phone, 'join-name-390-light');
    await phone.keyboard.press('Enter');
    const digits = (await phone.locator('.digits').innerText()).replace(/\D/g, '');
    expect(digits).toMatch(/^\d{6}$/);
    await keepPicture(phone, 'join-digits-390-light');

    // It is too late for anybody with a picture of the code.
    await three.page.goto(link);
    await three.page.getByLabel('Device name').press('Enter');
    await three.page.getByText('This code was used already').waitFor();

    const field = desktop.getByLabel('Type the six digits');
    await desktop.getByText('Kathes Pixel').waitFor();
    expect(await desktop.getByRole('button', { name: 'Let it in' }).isDisabled()).toBe(true);
    await keepPicture(desktop, 'digits-390-dark');
    expect(await violations(desktop)).toEqual([]);
    await desktop.setViewportSize(DESKTOP);
    await desktop.emulateMedia({ colorScheme: 'light' });
    await keepPicture(desktop, 'digits-1440-light');
    await field.pressSequentially(String((Number(digits) + 1) % 1_000_000).padStart(6, '0'));
    await desktop.getByText('These digits are wrong. 2 tries are left.').waitFor();
    await field.pressSequentially(digits);
    expect(await desktop.getByRole('radio', { checked: true }).count()).toBe(1);
    expect(await desktop.getByRole('radio', { name: 'until you sign it out' }).isChecked()).toBe(true);
    await keepPicture(desktop, 'digits-right-1440-light');
    await desktop.getByRole('button', { name: 'Let it in' }).click();
    await desktop.getByRole('heading', { name: '“Kathes Pixel” is let in' }).waitFor();
    await phone.getByRole('heading', { name: 'Desktop' }).waitFor({ state: 'attached' });
    await deviceRow(desktop, 'Kathes Pixel').waitFor();
    expect([...one.reports, ...two.reports]).toEqual([]);
  }, 120_000);

  /** Returns the link of a code, with the part that no server may see. */
  async function linkOf(phone: Page): Promise<string> {
    await askForCode(phone);
    const link = String(await phone.locator('a.link-text').getAttribute('href'));
    // That part is for the approver alone: the keys of the browser that asks.
    expect(link).toMatch(/#k=1\.[\w-]{43}$/);
    return link;
  }

  /** Looks at every view as a guest: nothing is offered, or asked for, that the service refuses a guest. */
  async function walkAsGuest(phone: Page): Promise<void> {
    const refused: string[] = [];
    phone.on('response', (answer) => {
      if (answer.status() === 403) refused.push(answer.url());
    });
    await phone.getByText(/Guest until \d/).waitFor();
    expect(await phone.getByRole('link', { name: 'Add a device' }).count()).toBe(0);
    const see = async (at: string, said: string): Promise<void> => {
      await phone.evaluate((hash) => {
        location.hash = hash;
      }, `#/${at}`);
      await phone.getByText(said).first().waitFor();
    };
    const about = String(await phone.locator('.device').getAttribute('href')).replace('#/device/', '');
    await see(`about/${about}`, 'Open the thread');
    expect(await phone.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
    await see('settings', 'Signed in as');
    for (const name of ['Sign out all others', 'Erase my data']) {
      expect(await phone.getByRole('button', { name }).count()).toBe(0);
    }
    expect(await phone.getByRole('region', { name: 'Signed-in devices' }).count()).toBe(0);
    await keepPicture(phone, 'guest-settings-390-light');
    await see('add', 'Guests cannot add devices');
    await see(`approve/${encodeURIComponent('/link?r=a&c=b')}`, 'Guests cannot add devices');
    await see('clipboard', 'One text for all your devices');
    await phone.evaluate((hash) => {
      location.hash = hash;
    }, `#/device/${about}`);
    await phone.locator('.composer textarea').waitFor();
    await see('', 'Guest until');
    await keepPicture(phone, 'guest-390-light');
    expect(refused).toEqual([]);
  }

  /** Looks at every place that shows a device, and expects that it shows a guest as one, and for how long. */
  async function seeGuest(desktop: Page): Promise<void> {
    await deviceRow(desktop, 'Chrome')
      .getByText(/^Guest · (1 h|\d\d min)$/)
      .waitFor();
    await keepPicture(desktop, 'of-guest-row-1440');
    await deviceRow(desktop, 'Chrome').click();
    await inThread(desktop)
      .getByText(/Online · Guest until \d/)
      .waitFor();
    await desktop.getByRole('button', { name: 'More about this device' }).click();
    await desktop.getByRole('button', { name: 'About this device', exact: true }).click();
    await desktop
      .locator('.facts')
      .getByText(/^Guest until \d/)
      .waitFor();
    await desktop.setViewportSize(PHONE);
    await desktop.emulateMedia({ colorScheme: 'dark' });
    await keepPicture(desktop, 'of-guest-about-390-dark');
    for (const at of ['', 'settings']) {
      await desktop.evaluate((hash) => {
        location.hash = hash;
      }, `#/${at}`);
      const row = at === '' ? deviceRow(desktop, 'Chrome') : desktop.locator('.session', { hasText: 'Chrome' });
      await row.getByText(/Guest (· \d|until \d)/).waitFor();
      await keepPicture(desktop, `of-guest-${at || 'list'}-390-dark`);
      expect(await isTooWide(desktop)).toBe(false);
    }
  }

  test('a code that a camera opens in a browser that is not signed in leads over the login to the question', async () => {
    const [one, two] = [await stranger(), await stranger(PHONE)];
    const [desktop, phone] = [one.page, two.page];
    const link = await linkOf(phone);
    const asked: string[] = [];
    desktop.on('request', (request) => asked.push(request.url()));
    await desktop.goto(link);
    await desktop.locator('input[name=user]').fill(`user-${randomBytes(4).toString('hex')}`);
    await desktop.keyboard.press('Enter');
    await desktop.getByLabel('Device name').fill('Desktop');
    expect(desktop.url()).toBe(`${site.url}/`);
    expect(await desktop.evaluate(() => sessionStorage.getItem('baton-link'))).toBe(link.slice(site.url.length));
    await desktop.keyboard.press('Enter');
    await desktop.getByRole('heading', { name: 'Is this your new device?' }).waitFor();
    await desktop.locator('.asking').waitFor();
    // The code went only to the service, and nobody got the part that no server may see.
    const code = String(new URL(link).searchParams.get('c'));
    const told = asked.filter((url) => url.includes(code)).map((url) => new URL(url).pathname);
    expect([...new Set(told)].sort()).toEqual(['/api/auth/qr/request', '/link']);
    expect(asked.filter((url) => new URL(url).search.includes('k=1'))).toEqual([]);
    for (const scheme of ['light', 'dark'] as const) {
      await desktop.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await keepPicture(desktop, `link-1440-${scheme}`);
      expect(await violations(desktop)).toEqual([]);
    }
    await desktop.getByRole('radio', { name: 'Guest for an hour' }).check();
    await desktop.getByRole('button', { name: 'Let it in' }).click();
    await desktop.getByRole('heading', { name: /is let in/ }).waitFor();
    expect(await desktop.evaluate(() => sessionStorage.getItem('baton-link'))).toBeNull();
    await leaveFirstThread(phone);
    await seeGuest(desktop);
    await walkAsGuest(phone);
    expect([...one.reports, ...two.reports]).toEqual([]);
  }, 120_000);

  test('in a browser that is signed in the question stands there at once, and its end where it stood', async () => {
    const [one, two] = [await stranger(PHONE), await stranger()];
    await one.page.clock.install();
    await signInAnew(one.page, 'Pocket');
    await one.page.goto(await linkOf(two.page));
    await one.page.locator('.asking').waitFor();
    expect(one.page.url()).not.toContain('k=1');
    expect(new URL(one.page.url()).pathname).toBe('/');
    await keepPicture(one.page, 'link-390-light');
    await one.page.clock.fastForward(130_000);
    await one.page.getByRole('heading', { name: 'This code has expired' }).waitFor();
    await one.page.getByText('Show a new code and scan it.').waitFor();
    expect(await violations(one.page)).toEqual([]);
    await keepPicture(one.page, 'link-over-390-light');
    expect([...one.reports]).toEqual([]);
  }, 120_000);

  test('a browser without script is led to the page that needs none', async () => {
    const { page: phone } = await stranger();
    const link = await linkOf(phone);
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: PHONE });
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole('link', { name: 'Without JavaScript' }).click();
    await page.locator('input[name=user]').fill(`user-${randomBytes(4).toString('hex')}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in ANOTHER device?' }).waitFor();
    await keepPicture(page, 'link-plain-390-light', { fullPage: true });
    expect(await page.getByRole('radio', { checked: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Not mine' }).click();
    await page.getByRole('heading', { name: 'Denied' }).waitFor();
    await phone.getByText('The other device refused').waitFor();
  }, 120_000);

  test('a browser whose user turns back from the login is told what the sign-in is for, and may leave it', async () => {
    const [one, two] = [await stranger(PHONE), await stranger()];
    await one.page.goto(await linkOf(two.page));
    await one.page.locator('input[name=user]').waitFor();
    await one.page.goto(site.url);
    await one.page.getByRole('heading', { name: 'Sign in to let the device in' }).waitFor();
    await keepPicture(one.page, 'link-signed-out-390-light');
    expect(await violations(one.page)).toEqual([]);
    await one.page.getByRole('button', { name: 'Not now' }).click();
    await one.page.getByRole('button', { name: 'Use another device' }).waitFor();
    expect(await one.page.evaluate(() => sessionStorage.getItem('baton-link'))).toBeNull();
    expect([...one.reports]).toEqual([]);
  }, 120_000);

  test('three times the wrong digits keep the other device out', async () => {
    const [one, two] = [await stranger(), await stranger(PHONE)];
    await signInAnew(one.page, 'Desktop');
    await two.page.goto(await inviteOf(one));
    await two.page.getByLabel('Device name').press('Enter');
    const digits = (await two.page.locator('.digits').innerText()).replace(/\D/g, '');
    const wrong = digits === '000000' ? '000001' : '000000';
    const field = one.page.getByLabel('Type the six digits');
    for (let i = 0; i < 3; i++) await field.pressSequentially(wrong);
    await one.page.getByRole('heading', { name: 'The digits were wrong three times' }).waitFor();
    await one.page.getByRole('link', { name: 'New code' }).waitFor();
    await two.page.getByText('The other device refused').waitFor();
    expect([...one.reports]).toEqual([]);
  }, 120_000);

  test('who approves sees what asks and from where, with the refusal first and nothing chosen', async () => {
    const [one, two] = [await stranger(), await stranger(PHONE)];
    const [desktop, phone] = [one.page, two.page];
    await signInAnew(desktop, 'Desktop');
    await askForCode(phone);
    const link = String(await phone.locator('a.link-text').getAttribute('href'));
    await desktop.goto(`${site.url}/#/approve/${encodeURIComponent(link)}`);
    const details = desktop.locator('.asking');
    await details.waitFor();
    expect(await details.innerText()).toMatch(/A browser[^]*127\.0\.0\.0\/24/);
    expect(await desktop.getByRole('radio', { checked: true }).count()).toBe(0);
    await desktop.getByRole('group', { name: 'What is it?' }).waitFor();
    await desktop
      .getByText('It can use messages, the clipboard and files, and sees your name and your devices.')
      .waitFor();
    await desktop.getByText(/Valid for \d+ s/).waitFor();
    await keepPicture(desktop, 'approve-1440-light');
    await desktop.emulateMedia({ colorScheme: 'dark' });
    await desktop.setViewportSize(PHONE);
    await keepPicture(desktop, 'approve-390-dark');
    await keepPicture(phone, 'code-390-light');
    expect(await desktop.locator('.pane-body .button').allInnerTexts()).toEqual(['Not mine', 'Let it in']);
    // Without a choice, nothing is decided.
    await desktop.getByRole('button', { name: 'Let it in' }).click();
    await desktop.getByRole('button', { name: 'Not mine' }).click();
    await desktop.getByRole('heading', { name: 'The other device was refused' }).waitFor();
    // The question is gone, and its heading with it.
    expect(await desktop.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual(['Add a device']);
    await phone.getByText('The other device refused').waitFor();
    await phone.setViewportSize({ width: 320, height: 568 });
    expect(await isTooWide(phone)).toBe(false);
    expect([...one.reports, ...two.reports]).toEqual([]);
  });

  test('the code is read from the camera by the library where the browser has no detector', async () => {
    const { page, reports } = await stranger(PHONE);
    await askForCode(page);
    const link = String(await page.locator('a.link-text').getAttribute('href'));
    await page.locator('.qr path').waitFor();
    const code = await page.locator('.qr-frame').screenshot();
    const other = await stranger();
    await signInAnew(other.page, 'Desktop');
    // The camera shows the other screen.
    await other.page.evaluate(async (picture) => {
      const image = new Image();
      image.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(picture), (one) => one.charCodeAt(0))]));
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 480 });
      const context = canvas.getContext('2d');
      const draw = () => {
        context?.clearRect(0, 0, 640, 480);
        context?.drawImage(image, 160, 60, 320, 320);
      };
      setInterval(draw, 100);
      draw();
      const stream = canvas.captureStream(10);
      Object.defineProperty(navigator, 'mediaDevices', { value: { getUserMedia: async () => stream } });
      Object.assign(window, { BarcodeDetector: undefined });
    }, code.toString('base64'));
    await other.page.getByRole('link', { name: 'Add a device' }).first().click();
    await other.page.getByRole('button', { name: 'Scan its code' }).click();
    await other.page.getByRole('button', { name: 'Not mine' }).waitFor();
    expect(decodeURIComponent(new URL(other.page.url()).hash)).toBe(`#/approve/${link}`);
    expect([...reports, ...other.reports]).toEqual([]);
  });
});
