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

/** Headless; it reaches nothing but this machine. */
const ARGUMENTS = [
  // For root, as whom containers run.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1',
  '--allow-loopback-in-peer-connection',
  // Also for service workers, which a context's own setting does not reach.
  '--ignore-certificate-errors',
];

/** The whole browser needs one argument more to show nothing. */
export const CHROMIUM_ARGUMENTS = ['--headless=new', ...ARGUMENTS];

/** The whole browser, with an empty profile: for what needs notifications or pushes, which its engine alone does not have. */
export const launchWholeChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath as string, args: CHROMIUM_ARGUMENTS });

/** The engine of the browser alone where it is installed, with an empty profile. */
export const launchChromium = (): Promise<Browser> =>
  shellPath === undefined ? launchWholeChromium() : chromium.launch({ executablePath: shellPath, args: ARGUMENTS });

/**
 * A context like a browser of its own. With a microphone allowed, peer connections tell the addresses of all networks,
 * loopback among them, and do not hide them behind mDNS names: there may be no other network, and nobody to ask.
 */
export const newContext = (browser: Browser): Promise<BrowserContext> =>
  browser.newContext({ permissions: ['microphone'] });
