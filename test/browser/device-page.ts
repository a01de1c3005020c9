import type { Browser, Page } from 'playwright-core';
import type { TestDevice } from '../support/device.ts';
import { newContext } from './chromium.ts';
import { PAGE_PATH, serveParty } from './served-files.ts';

/** A device in a page. `evaluate` runs in it, where `party` is the device. */
export interface DevicePage {
  readonly page: Page;
  readonly evaluate: Page['evaluate'];
  /** The complaints of the browser: uncaught errors, and errors on its console. */
  readonly complaints: readonly string[];
  reload(): Promise<void>;
}

/** Returns the address that people open in the browser: `localhost`, which is the replica's public address. */
export const addressOf = (replica: { url: string }, path: string): string => {
  const url = new URL(path, replica.url);
  url.hostname = 'localhost';
  return url.href;
};

/** Collects everything that the browser complains about from now on, except the icon that it asks for by itself. */
export function listenForComplaints(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (entry) => {
    const { url } = entry.location();
    if (entry.type() === 'error' && !url.endsWith('/favicon.ico')) complaints.push(`${entry.text()} (${url})`);
  });
  return complaints;
}

/** Opens the page of a device on a replica, in a context of its own, and waits until its stream is open. */
export async function openDevice(browser: Browser, device: TestDevice, replica: { url: string }): Promise<DevicePage> {
  const context = await newContext(browser);
  await serveParty(context);
  const page = await context.newPage();
  const complaints = listenForComplaints(page);

  async function join(): Promise<void> {
    const { headers } = device;
    await page.evaluate(
      async (itself) => {
        joinAccount(itself);
        await party.stream.next('ready');
      },
      { headers },
    );
  }
  await page.goto(addressOf(replica, PAGE_PATH));
  await join();
  return {
    page,
    evaluate: page.evaluate.bind(page),
    complaints,
    async reload() {
      await page.reload();
      await join();
    },
  };
}
