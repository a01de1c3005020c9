import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { skipUnless } from '../support/runner/skips.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

export const chromiumPath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

export const withChromium = skipUnless(chromiumPath !== undefined, 'needs Chromium');

/** Headless; it reaches nothing but this machine. */
export const CHROMIUM_ARGUMENTS = [
  '--headless=new',
  // For root, as whom containers run.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1',
  '--allow-loopback-in-peer-connection',
  // Also for service workers, which a context's own setting does not reach.
  '--ignore-certificate-errors',
];

/** A browser with an empty profile. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath as string, args: CHROMIUM_ARGUMENTS });

/**
 * A context like a browser of its own. With a microphone allowed, peer connections tell the addresses of all networks,
 * loopback among them, and do not hide them behind mDNS names: there may be no other network, and nobody to ask.
 */
export const newContext = (browser: Browser): Promise<BrowserContext> =>
  browser.newContext({ permissions: ['microphone'] });
