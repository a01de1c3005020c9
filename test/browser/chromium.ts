import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { skipUnless } from '../support/runner/skips.ts';

const find = (names: string[]): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => existsSync(path));

export const chromiumPath = find(['chromium', 'chromium-browser', 'google-chrome']);

/** The engine of Chromium without the browser around it. It opens a page with a tenth of the processor time. */
const shellPath = find(['chromium-headless-shell']);

export const withChromium = skipUnless(chromiumPath !== undefined, 'needs Chromium');

/** Chromium runs headless, and reaches nothing but this machine. */
const ARGUMENTS = [
  // Containers run as root, which needs this.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1',
  '--allow-loopback-in-peer-connection',
  // This also covers service workers, which a context's own setting does not reach.
  '--ignore-certificate-errors',
];

/** The whole browser needs one more argument to run without a window. */
export const CHROMIUM_ARGUMENTS = ['--headless=new', ...ARGUMENTS];

/**
 * Starts the whole browser, with an empty profile. Notifications and pushes need it, because its engine alone does not
 * have them.
 */
export const launchWholeChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath as string, args: CHROMIUM_ARGUMENTS });

/** Starts only the browser's engine if it is installed, with an empty profile. */
export const launchChromium = (): Promise<Browser> =>
  shellPath === undefined ? launchWholeChromium() : chromium.launch({ executablePath: shellPath, args: ARGUMENTS });

/**
 * Makes a context like a browser of its own. With a microphone allowed, peer connections tell the addresses of all
 * networks, including loopback, and do not hide them behind mDNS names. The machine may have no other network, and
 * nothing that answers mDNS.
 */
export const newContext = (browser: Browser): Promise<BrowserContext> =>
  browser.newContext({ permissions: ['microphone'] });
