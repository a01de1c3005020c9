import { randomBytes } from 'node:crypto';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** A browser of its own with the app in it. */
export interface AppPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What must never happen: uncaught errors, and refusals by the content policy or Trusted Types. */
  readonly reports: readonly string[];
}

interface Opening extends BrowserContextOptions {
  url: string;
  /** The account, if the service believes anybody. Without it nobody is signed in. */
  user?: string;
  name?: string;
  /** The place in the app, as the part after the `#`. */
  at?: string;
  /** Whether files may go from device to device. Otherwise the browser has no peer connections. */
  direct?: boolean;
}

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Collects everything that a page must never report. */
function listenForReports(page: Page, reports: string[]): void {
  page.on('pageerror', (error) => reports.push(String(error.stack ?? error)));
  page.on('console', (entry) => {
    const text = entry.text();
    if (/Content Security Policy|TrustedScript|Trusted Type|Uncaught/.test(text)) reports.push(text);
  });
}

/** Open pages, each with the navigations that failed and why. The page of such an error says nothing. */
const opened = new Map<Page, string[]>();
const SCENE_CHARS = 600;

/** Returns what each open page shows, for the error of a test that fails. */
async function tellScene(): Promise<string> {
  const all = [...opened].map(async ([page, failed]) => {
    const text = await page.locator('body').innerText({ timeout: 2_000 });
    const shown = text.replace(/\s*\n\s*/g, ' | ').slice(-SCENE_CHARS);
    return [`${page.url()} shows: ${shown}`, ...failed].join('\n');
  });
  return (await Promise.allSettled(all)).map((one) => (one.status === 'fulfilled' ? one.value : '')).join('\n');
}

export async function openApp(browser: Browser, opening: Opening): Promise<AppPage> {
  const { url, user, name, at = '', direct = false, ...options } = opening;
  const context = await browser.newContext({
    ...{ viewport: DESKTOP, ignoreHTTPSErrors: true, acceptDownloads: true },
    ...options,
  });
  if (!direct) await context.addInitScript(() => Object.assign(globalThis, { RTCPeerConnection: undefined }));
  else {
    // A test can close the connections, like a network that is lost.
    await context.addInitScript(() => {
      const [connections, Own] = [[] as RTCPeerConnection[], RTCPeerConnection];
      class Kept extends Own {
        constructor(configuration?: RTCConfiguration) {
          super(configuration);
          connections.push(this);
        }
      }
      Object.assign(globalThis, { connections, RTCPeerConnection: Kept });
    });
  }
  const reports: string[] = [];
  context.on('page', (page) => listenForReports(page, reports));
  if (user !== undefined) {
    const identity = { user, name, deviceId: randomBytes(9).toString('base64url') };
    // This happens only once: after a reload it is the same device, and a signed-out one stays signed out.
    await context.addInitScript((text) => {
      if (location.protocol === 'about:' || localStorage.getItem('baton-language') !== null) return;
      localStorage.setItem('baton-language', 'en');
      localStorage.setItem('baton-development', text);
    }, JSON.stringify(identity));
  }
  // A test cannot answer when a browser asks for a place, so saved files go to the downloads.
  await context.addInitScript(() => {
    Object.assign(window, { showSaveFilePicker: undefined, showDirectoryPicker: undefined });
  });
  const page = await context.newPage();
  const failed: string[] = [];
  opened.set(page, failed);
  page.once('close', () => opened.delete(page));
  page.on('requestfailed', (request) => {
    if (!request.isNavigationRequest()) return;
    failed.push(
      `${request.method()} ${new URL(request.url()).origin} failed: ${request.failure()?.errorText ?? 'no reason'}`,
    );
  });
  Object.assign(globalThis, { tellScene });
  await page.goto(`${url}/${at === '' ? '' : `#/${at}`}`);
  return { page, context, reports };
}

/** Returns the address of a replica as people use it. */
export const localUrl = ({ url }: { url: string }): string => url.replace('127.0.0.1', 'localhost');

export const deviceRow = (page: Page, name: string): Locator =>
  page.locator('.device', { has: page.locator('.device-name', { hasText: name }) });

/** Asks to be let in as a stranger, under the proposed name, and shows the code for that. */
export async function askForCode(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Use another device' }).click();
  await page.getByLabel('Device name').waitFor();
  await page.keyboard.press('Enter');
}

/** Signs in as a user who is new to the service, and names this browser, which is then the only device. */
export async function signInAnew(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Sign in/ }).click();
  await page.locator('input[name=user]').fill(`user-${randomBytes(4).toString('hex')}`);
  await page.keyboard.press('Enter');
  await page.getByLabel('Device name').fill(name);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Only this device so far' }).waitFor();
}

/** Returns what is shown in a thread. The list beside it shows the last words too. */
export const inThread = (page: Page): Locator => page.locator('.main');

/**
 * Goes from the thread of the device that let this browser in, where the app begins, to the list beside or before it.
 */
export async function leaveFirstThread(page: Page): Promise<void> {
  await page.locator('.pane.thread').waitFor();
  await page.evaluate(() => {
    location.hash = '#/';
  });
  await page.locator('.device').first().waitFor();
}

/** Opens the thread of a device, and waits for its composer: until then the page has that of the previous thread. */
export async function openThread(page: Page, name: string): Promise<void> {
  await deviceRow(page, name).click();
  await page.locator('.pane.thread h1', { hasText: name }).waitFor();
  await page.locator('.composer textarea').waitFor();
}

export async function say(page: Page, text: string): Promise<void> {
  await page.locator('.composer textarea').fill(text);
  await page.keyboard.press('Enter');
}

/** Chooses files as people do: the button of the thread, and the browser's picker. */
export async function chooseFiles(page: Page, files: Parameters<Locator['setInputFiles']>[0]): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Send files' }).click();
  await (await chooser).setFiles(files);
}

export const accept = (page: Page): Promise<void> => page.getByRole('button', { name: 'Accept', exact: true }).click();
