import type { Browser } from 'playwright-core';
import { fingerprintOfKeys, type Member, memberOf, type Ring } from '../../shared/client/sealed.ts';
import { PHONE } from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { type KeyedSite, startKeyedSite } from './keyed-site.ts';
import { isTooWide, LANGUAGES, useLanguage } from './too-wide.ts';
import { keepPicture } from './keep-picture.ts';

withChromium.describe('a device that asks for keys again', () => {
  let site: KeyedSite;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startKeyedSite(), launchChromium()]);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  test('takes the place of the device that the approval shows, with its fingerprint, in every language', async () => {
    const laptop = await site.account();
    const { page, reports } = await site.open(browser, laptop, { name: 'Phone', viewport: PHONE });
    const { ring, device_id: own } = await laptop.ring();
    const keys = memberOf(ring, own) as Member;
    const hex = Buffer.from(await fingerprintOfKeys(keys)).toString('hex');
    await laptop.loseKeys();

    /** Asks for keys, and opens the page that approves that. */
    const ask = async () => {
      const asked = await laptop.sealing().linking.askForKeys();
      await page.goto(`${site.url}/#/add`);
      const field = page.locator('input[type="url"], .pane-body input').last();
      await field.fill(asked.link);
      await field.press('Enter');
      await page.locator('.given-away[role="alert"]').waitFor();
      return asked;
    };
    for (const language of LANGUAGES.toReversed()) {
      await useLanguage(page, language);
      await ask();
      const said = String(await page.locator('.given-away[role="alert"]').textContent());
      expect(said).toContain('Laptop');
      // The service describes programs in English, and has no name for this one.
      expect(await page.locator('.card.asking').textContent()).not.toMatch(/ · An? /);
      expect(said).toContain((hex.match(/.{4}/g) ?? []).join(' '));
      expect([language, await isTooWide(page)]).toEqual([language, false]);
      await keepPicture(page, `takes-place-${language}-390`, { fullPage: true });
    }

    const asked = await ask();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('radio', { name: 'until you sign it out' }).check();
    await page.getByRole('button', { name: 'Let it in' }).click();
    expect(await asked.approved()).toBe(true);
    const linked = await laptop.sealing().rings.takeGrant();
    await page.getByText(`Check code ${linked?.checkCode}`).waitFor();
    const members = linked?.keyring.ring.body.members ?? [];
    expect(members.some(({ sig }) => sig === keys.sig)).toBe(false);
    expect(reports).toEqual([]);
  }, 180_000);

  test('a device that names keys of nobody is shown, in every language, and removing it ends that', async () => {
    const laptop = await site.account();
    const { page } = await site.open(browser, laptop, { name: 'Phone', viewport: PHONE });
    const thief = site.device();
    const asking = await thief.askToJoin('Lost tablet');
    await laptop.letIn(asking.link);
    await asking.digits;
    const devices = await thief.client.devices.list();
    const keyring = await thief.ring();
    const ring: Ring = { ...keyring.ring, body: { ...keyring.ring.body, n: 1_000 } };
    const to = devices.find(({ name }) => name === 'Phone')?.device_id ?? '';
    const named = { ...keyring, ring, rings: [...keyring.rings, ring] };
    await thief.sealing().texts.send(named, { to, text: 'of no ring', devices });

    await page.goto(`${site.url}/#/settings`);
    const hex = Buffer.from(await fingerprintOfKeys(memberOf(keyring.ring, keyring.device_id) as Member)).toString(
      'hex',
    );
    for (const language of LANGUAGES.toReversed()) {
      await useLanguage(page, language);
      const row = page.locator('.session', { hasText: (hex.match(/.{4}/g) ?? []).join(' ') });
      await row.waitFor();
      expect(await row.textContent()).toContain('Lost tablet');
      expect([language, await isTooWide(page)]).toEqual([language, false]);
      await row.scrollIntoViewIfNeeded();
      await keepPicture(page, `keys-disagree-${language}-390`);
    }
    expect(await violations(page)).toEqual([]);
    await page
      .locator('.session:not(:has(.fingerprint))', { hasText: 'Lost tablet' })
      .getByRole('button', { name: 'Sign out' })
      .click();
    await page.locator('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('These devices know other keys of the account.').waitFor({ state: 'detached' });
    await page.getByText('Messages, files and the clipboard are encrypted between the devices with keys.').waitFor();
    expect((await laptop.ring()).ring.body.members.map(({ device_id: id }) => id)).not.toContain(keyring.device_id);
  }, 180_000);
});
