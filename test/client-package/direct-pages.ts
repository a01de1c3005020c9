import type { Page } from 'playwright-core';
import type { TestDevice } from '../support/device.ts';
import { useInstalledSite } from './opened.ts';

/*
 * Opens two pages, one at each replica, whose installed library sends and receives directly (`programs/direct-page.html`).
 */

export interface Outcome {
  state: string;
  mode?: string;
  paths: string[];
  ms: number;
  patchedBytes: number;
  sha256: string[] | null;
}
export interface JoinOptions {
  direct?: boolean;
  holdMs?: number;
  iceTransportPolicy?: 'all' | 'relay';
}
export interface DirectDevice {
  send(to: string, sizes: number[]): Promise<Outcome>;
  resume(id: string): Promise<Outcome>;
  receive(options?: { slowMs?: number; direct?: boolean }): Promise<Outcome>;
  progressed(share: number): Promise<{ bytes: number; path: string }>;
  id(): string;
  pathNow(): string;
  pause(): void;
  resumeNow(): void;
  cut(): void;
}
export type DirectWindow = Window & {
  join(headers: Record<string, string>, options: JoinOptions): Promise<void>;
  device: DirectDevice;
  alter: ((data: unknown, count: number) => unknown) | null;
};

export async function join(page: Page, { headers }: TestDevice, options: JoinOptions): Promise<void> {
  await page.waitForFunction(() => 'join' in globalThis);
  await page.evaluate(([itself, how]) => (globalThis as unknown as DirectWindow).join(itself, how), [
    headers,
    options,
  ] as const);
}

export const send = (page: Page, ...sizes: number[]): Promise<Outcome> =>
  page.evaluate((each) => (globalThis as unknown as DirectWindow).device.send('Phone', each), sizes);
export const receive = (page: Page, options = {}): Promise<Outcome> =>
  page.evaluate((how) => (globalThis as unknown as DirectWindow).device.receive(how), options);
export const on = <T>(page: Page, work: (device: DirectDevice) => T): Promise<T> =>
  page.evaluate(`(${String(work)})(globalThis.device)`);
export const progressed = (page: Page, share: number) =>
  page.evaluate((wanted) => (globalThis as unknown as DirectWindow).device.progressed(wanted), share);
export const alter = (page: Page, how: string) => page.evaluate(`globalThis.alter = ${how}`);

export function expectSame(sent: Outcome, received: Outcome): void {
  expect([sent.state, received.state]).toEqual(['DONE', 'DONE']);
  expect(received.sha256).toEqual(sent.sha256);
}

/** Starts the replicas and the browser before the tests of a file. Returns functions that open a sender and a receiver. */
export function useDirectPages() {
  const installed = useInstalledSite();

  async function pair(ofSender: JoinOptions = {}, ofReceiver: JoinOptions = {}) {
    const { site } = installed;
    const devices = await site.enrol('Laptop', 'Phone');
    const opened = (replica: { url: string }) => installed.open('direct-page.html', replica);
    const [sender, receiver] = [await opened(site.one), await opened(site.two)];
    await Promise.all([join(sender, devices[0], ofSender), join(receiver, devices[1], ofReceiver)]);
    return { sender, receiver, laptop: devices[0], phone: devices[1] };
  }

  return { pair, siteOne: () => installed.site.one };
}
