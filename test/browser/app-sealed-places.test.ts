import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { fingerprintOfKeys, type Member, memberOf } from '../../shared/client/sealed.ts';
import { PHONE } from './app-page.ts';
import { violations } from './axe.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { type KeyedSite, startKeyedSite } from './keyed-site.ts';
import { isTooWide, LANGUAGES, useLanguage } from './too-wide.ts';

const PICTURES = fileURLToPath(new URL('../../dist/screenshots/', import.meta.url));

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

    /** Asks for keys, and opens the approval of that. */
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
      await page.screenshot({ path: `${PICTURES}takes-place-${language}-390.png`, fullPage: true });
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
});
