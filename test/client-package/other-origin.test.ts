import { cpSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchChromium, newContext, withChromium } from '../browser/chromium.ts';
import { listenForComplaints } from '../browser/device-page.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { bundlePage } from './bundled.ts';
import { type Installed, installClient } from './installed.ts';

/* Runs the example of a program of another origin in a browser that follows the rules of CORS, with a real broker. */

const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

withChromium.describe('a page of another origin', () => {
  let browser: Browser;
  let installed: Installed;
  let site: SignInSite;
  /** Serves the page, and nothing of the service. */
  let pages: Server;
  let files: Map<string, Buffer>;
  let origin: string;
  beforeAll(async () => {
    pages = createServer(({ url = '/' }, res) => {
      const body = files.get(url);
      res.writeHead(body === undefined ? 404 : 200, {
        'Content-Type': TYPES[url.split('.').at(-1) ?? ''] ?? 'text/plain',
      });
      res.end(body);
    });
    await once(pages.listen(0, '127.0.0.1'), 'listening');
    origin = `http://localhost:${(pages.address() as AddressInfo).port}`;
    [browser, installed, site] = await Promise.all([
      launchChromium(),
      installClient(),
      startSignInSite({ APP_CORS_ORIGINS: origin }),
    ]);
    cpSync(join(installed.folder, 'node_modules/@baton/client/examples'), installed.folder, { recursive: true });
    files = await bundlePage(installed, 'other-origin.html', '/');
  }, 150_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    installed.remove();
    await Promise.all([site.stop(), browser.close()]);
    pages.closeAllConnections();
    await new Promise((resolve) => pages.close(resolve));
  });

  const openExample = async (service: string, token: string) => {
    const page = await (await newContext(browser)).newPage();
    const complaints = listenForComplaints(page);
    await page.goto(`${origin}/other-origin.html`);
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
    const closed = await site.startReplica({ APP_CORS_ORIGINS: 'https://notes.example' });
    const { answer } = await site.signIn();
    const { page, complaints } = await openExample(closed.url, answer?.access_token ?? '');
    await page.waitForFunction(() => document.querySelector('#state')?.textContent === 'offline');
    expect(complaints.join('\n')).toMatch(/has been blocked by CORS policy: .*Access-Control-Allow-Origin/);
  });
});
