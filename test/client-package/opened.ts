import type { Browser, BrowserContext, Page } from 'playwright-core';
import { newContext } from '../browser/chromium.ts';
import { addressOf, listenForComplaints } from '../browser/device-page.ts';
import { bundlePage } from './bundled.ts';
import type { Installed } from './installed.ts';

const BASE = '/pages-of-a-stranger/';
const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };
const bundles = new Map<string, Promise<Map<string, Buffer>>>();

/** Opens a page that a stranger has bundled, under the replica's own origin, in a context like a browser of its own. */
export async function openBundledPage(
  installed: Installed,
  browser: Browser,
  page: string,
  replica: { url: string },
  prepare?: (context: BrowserContext) => Promise<void>,
): Promise<{ page: Page; complaints: readonly string[] }> {
  const bundling = bundles.get(page) ?? bundlePage(installed, page, BASE);
  bundles.set(page, bundling);
  const files = await bundling;
  const context = await newContext(browser);
  await prepare?.(context);
  await context.route(`**${BASE}**`, async (route) => {
    const { pathname } = new URL(route.request().url());
    const body = files.get(pathname);
    const contentType = TYPES[pathname.split('.').at(-1) ?? ''] ?? 'text/plain';
    await route.fulfill(body === undefined ? { status: 404 } : { contentType, body });
  });
  const opened = await context.newPage();
  const complaints = listenForComplaints(opened);
  await opened.goto(addressOf(replica, BASE + page));
  return { page: opened, complaints };
}
