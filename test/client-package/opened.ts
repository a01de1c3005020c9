import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium, newContext } from '../browser/chromium.ts';
import { addressOf, listenForComplaints } from '../browser/device-page.ts';
import { type Site, startSite } from '../support/site.ts';
import { bundlePage } from './bundled.ts';
import { type Installed, installClient } from './installed.ts';

const BASE = '/pages-of-a-stranger/';
const TYPES: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };
const bundles = new Map<string, Promise<Map<string, Buffer>>>();

/**
 * Opens a page that an outside developer has bundled, under the replica's own origin, in a context like a separate browser.
 */
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

/** Two replicas, and a function that opens a page of the installed library under one of them. */
export interface InstalledSite {
  readonly site: Site;
  open(page: string, replica: { url: string }): Promise<Page>;
}

/** Starts the replicas and the browser before the tests of a file, and ends them after it. */
export function useInstalledSite(): InstalledSite {
  let site: Site;
  let browser: Browser;
  let installed: Installed;
  beforeAll(async () => {
    [site, browser, installed] = await Promise.all([startSite(), launchChromium(), installClient()]);
  }, 150_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(async () => {
    installed.remove();
    await Promise.all([site.stop(), browser.close()]);
  });
  return {
    get site() {
      return site;
    },
    open: async (page, replica) => (await openBundledPage(installed, browser, page, replica)).page,
  };
}
