import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchChromium, withChromium } from '../browser/chromium.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { type Installed, installClient } from './installed.ts';
import { openBundledPage } from './opened.ts';

/* The example of a program of another origin, in a browser that keeps to the rules of CORS, with a real broker. */

/** Nobody listens there: the browser is given the page by the test. The service is at 127.0.0.1, another origin. */
const PAGES = 'http://localhost:4999';

withChromium.describe('a page of another origin', () => {
  let browser: Browser;
  let installed: Installed;
  let site: SignInSite;
  beforeAll(async () => {
    [browser, installed, site] = await Promise.all([
      launchChromium(),
      installClient(),
      startSignInSite({ APP_CORS_ORIGINS: PAGES }),
    ]);
    cpSync(join(installed.folder, 'node_modules/@baton/client/examples'), installed.folder, { recursive: true });
  }, 150_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    installed.remove();
    await Promise.all([site.stop(), browser.close()]);
  });

  const openExample = async (service: string, token: string) => {
    const { page, complaints } = await openBundledPage(installed, browser, 'other-origin.html', { url: PAGES });
    expect(new URL(page.url()).origin).toBe(PAGES);
    await page.fill('[name=service]', service);
    await page.fill('[name=token]', token);
    await page.click('#connect button');
    return { page, complaints };
  };

  test('it reads the stream, sends a text and receives one by a bearer token', async () => {
    const phone = await site.signIn(undefined, { device_name: 'Phone' });
    const program = await site.signIn(phone.user, { device_name: 'Program' });
    const onPhone = phone.listen(site.two);
    await onPhone.next('ready');
    const { page, complaints } = await openExample(site.one.url, program.answer?.access_token ?? '');
    await page.waitForFunction(() => document.querySelector('#state')?.textContent === 'online');

    await page.selectOption('[name=to]', { label: 'Phone' });
    await page.fill('[name=text]', 'from another origin');
    await page.click('#send button');
    const { data } = await onPhone.next('message');
    expect(data).toMatchObject({ content: 'from another origin', from_device_id: program.deviceId });

    const body = { to_device_id: program.deviceId, content: 'and back' };
    expect((await phone.ask(site.two, { method: 'POST', path: '/api/message', body })).status).toBe(201);
    await page.waitForFunction(() => document.querySelector('#received li')?.textContent === 'and back');
    await onPhone.stop();
    expect(complaints).toEqual([]);
  });

  test('where its origin is not listed the browser lets it read nothing', async () => {
    const closed = await site.startReplica({ APP_CORS_ORIGINS: 'http://localhost:5999' });
    const { answer } = await site.signIn();
    const { page, complaints } = await openExample(closed.url, answer?.access_token ?? '');
    await page.waitForFunction(() => document.querySelector('#state')?.textContent === 'offline');
    expect(complaints.join('\n')).toContain('has been blocked by CORS policy');
  });
});
