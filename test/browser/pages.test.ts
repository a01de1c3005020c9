import type { Browser } from 'playwright-core';
import { EVENTS } from '../../shared/contract/events.ts';
import { ROUTES } from '../../shared/contract/routes.ts';
import { type Site, startSite } from '../support/site.ts';
import { launchChromium, newContext, withChromium } from './chromium.ts';
import { addressOf, listenForComplaints, openDevice } from './device-page.ts';

/** How long the service waits before it shows a device without a stream as offline. */
const GRACE_MS = 5_000;

withChromium.describe('pages that a replica serves', () => {
  let site: Site;
  let browser: Browser;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  test('a page under the service’s own content policy has its stream and its calls, and nothing from elsewhere', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const page = await openDevice(browser, laptop, site.one);

    await phone.on(site.two).call('sendMessage', { body: { to: 'Laptop', content: 'hello' } });
    const heard = await page.evaluate(async () => (await party.stream.next('message')).data.content);
    const complaints = [...page.complaints];
    const refused = await page.evaluate(
      async (elsewhere) => {
        const refusal = new Promise<string>((resolve) => {
          const told = ({ effectiveDirective }: SecurityPolicyViolationEvent) => resolve(effectiveDirective);
          document.addEventListener('securitypolicyviolation', told);
        });
        const outcome = await fetch(elsewhere).then(
          () => 'answered',
          () => 'failed',
        );
        return [outcome, await refusal];
      },
      addressOf(site.two, '/healthz'),
    );

    expect(heard).toBe('hello');
    expect(complaints).toEqual([]);
    expect(refused).toEqual(['failed', 'connect-src']);
  });

  test('a device whose page was closed is shown as offline once the grace is over', async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    const staying = await openDevice(browser, laptop, site.one);
    const leaving = await openDevice(browser, phone, site.two);
    const seesPhone = (online: boolean) =>
      staying.evaluate(async (wanted) => {
        const isIt = (row: { name: string; online: boolean }) => row.name === 'Phone' && row.online === wanted;
        await party.stream.next('presence', ({ data }) => data.devices.some(isIt));
      }, online);
    await seesPhone(true);

    const closedAt = performance.now();
    await leaving.page.close();
    await seesPhone(false);
    const waitedMs = performance.now() - closedAt;

    expect(waitedMs).toBeGreaterThanOrEqual(GRACE_MS);
    expect(waitedMs).toBeLessThan(GRACE_MS + 5_000);
  });

  test.each(['/', '/api/docs'])('%s opens without a complaint of the browser, and fits a telephone', async (path) => {
    const context = await newContext(browser);
    const page = await context.newPage();
    const complaints = listenForComplaints(page);
    await page.setViewportSize({ width: 360, height: 740 });

    await page.goto(addressOf(site.one, path));
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth] as const);

    expect(await page.title()).toContain('Baton');
    expect(widths[0]).toBeLessThanOrEqual(widths[1]);
    expect(complaints).toEqual([]);
  });

  test('the reference shows routes, events and examples, is searched, and asks nobody else', async () => {
    const page = await (await newContext(browser)).newPage();
    const complaints = listenForComplaints(page);
    const asked: string[] = [];
    page.on('request', (sent) => asked.push(new URL(sent.url()).host));

    await page.goto(addressOf(site.one, '/api/docs#/Messages/sendMessage'));
    await page.locator('.opblock.is-open .example').first().waitFor();
    const routes = Object.values(ROUTES).length;
    expect(await page.locator('.opblock').count()).toBe(routes + Object.keys(EVENTS).length);
    expect(await page.locator('.opblock.is-open').innerText()).toContain('On my way');
    expect(await page.locator('.webhooks').innerText()).toContain('message:delivered');

    await page.locator('.operation-filter-input').fill('unacknowledged');
    const found = page.locator('.opblock-tag-section .opblock-summary-path');
    await page.waitForFunction(() => document.querySelectorAll('.opblock-tag-section .opblock').length === 1);
    expect(await found.innerText()).toContain('/api/message');
    await page.locator('.operation-filter-input').fill('');

    // The content policy must not refuse anything that the page draws only then.
    await page.locator('.authorize').first().click();
    await page.locator('.modal-ux .close-modal').click();
    await page.locator('.webhooks .opblock-summary-control').first().click();
    expect([...new Set(asked)]).toEqual([new URL(addressOf(site.one, '/')).host]);
    expect(complaints).toEqual([]);
  });

  test('what a problem document names as its type is shown', async () => {
    const page = await (await newContext(browser)).newPage();
    await page.goto(addressOf(site.one, '/api/docs#error-draining'));
    await page.locator('.opblock').first().waitFor();
    const isSeen = () => {
      const { top = -1 } = document.getElementById('error-draining')?.getBoundingClientRect() ?? {};
      return top >= 0 && top < window.innerHeight;
    };
    expect(await page.waitForFunction(isSeen).then(() => true)).toBe(true);
  });
});
