import type { Browser, Page } from 'playwright-core';
import { launchChromium, withChromium } from '../browser/chromium.ts';
import { MIB } from '../relay/support/relayed.ts';
import type { TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { type Installed, installClient } from './installed.ts';
import { openBundledPage } from './opened.ts';

interface Outcome {
  state: string;
  mode?: string;
  paths: string[];
  ms: number;
  patchedBytes: number;
  sha256: string[] | null;
}
interface JoinOptions {
  direct?: boolean;
  holdMs?: number;
  iceTransportPolicy?: 'all' | 'relay';
}
interface DirectDevice {
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
type Page_ = Window & {
  join(headers: Record<string, string>, options: JoinOptions): Promise<void>;
  device: DirectDevice;
  alter: ((data: unknown, count: number) => unknown) | null;
};

withChromium.describe('a page whose library goes from device to device', () => {
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

  async function join(page: Page, { headers }: TestDevice, options: JoinOptions): Promise<void> {
    await page.waitForFunction(() => 'join' in globalThis);
    await page.evaluate(([itself, how]) => (globalThis as unknown as Page_).join(itself, how), [
      headers,
      options,
    ] as const);
  }

  async function pair(ofSender: JoinOptions = {}, ofReceiver: JoinOptions = {}) {
    const devices = await site.enrol('Laptop', 'Phone');
    const opened = (replica: { url: string }) => openBundledPage(installed, browser, 'direct-page.html', replica);
    const [{ page: sender }, { page: receiver }] = [await opened(site.one), await opened(site.two)];
    await Promise.all([join(sender, devices[0], ofSender), join(receiver, devices[1], ofReceiver)]);
    return { sender, receiver, laptop: devices[0], phone: devices[1] };
  }

  const send = (page: Page, ...sizes: number[]): Promise<Outcome> =>
    page.evaluate((each) => (globalThis as unknown as Page_).device.send('Phone', each), sizes);
  const receive = (page: Page, options = {}): Promise<Outcome> =>
    page.evaluate((how) => (globalThis as unknown as Page_).device.receive(how), options);
  const on = <T>(page: Page, work: (device: DirectDevice) => T): Promise<T> =>
    page.evaluate(`(${String(work)})(globalThis.device)`);
  const progressed = (page: Page, share: number) =>
    page.evaluate((wanted) => (globalThis as unknown as Page_).device.progressed(wanted), share);
  const alter = (page: Page, how: string) => page.evaluate(`globalThis.alter = ${how}`);

  function expectSame(sent: Outcome, received: Outcome): void {
    expect([sent.state, received.state]).toEqual(['DONE', 'DONE']);
    expect(received.sha256).toEqual(sent.sha256);
  }

  test('passes 200 MB to another one without a byte through the service', async () => {
    const { sender, receiver } = await pair();
    const size = 200_000_000;
    const [sent, received] = await Promise.all([send(sender, size), receive(receiver)]);
    expectSame(sent, received);
    expect([sent.paths, received.paths]).toEqual([['direct'], ['direct']]);
    expect([received.mode, sent.patchedBytes]).toEqual(['p2p', 0]);
    const rate = size / 1_000 / received.ms;
    process.stdout.write(`200 MB from page to page: ${rate.toFixed(1)} MB/s, digest and file system with it\n`);
  });

  test('passes many files, empty ones too, each whole', async () => {
    const { sender, receiver } = await pair();
    const sizes = [0, 1, 70_000, 3 * MIB + 7, 0, ...Array.from({ length: 60 }, (_, i) => i * 999)];
    const [sent, received] = await Promise.all([send(sender, ...sizes), receive(receiver)]);
    expectSame(sent, received);
    expect(received.paths).toEqual(['direct']);
  });

  test.each([
    ['the receiver has switched it off', {}, { direct: false }],
    ['the sender has switched it off', { direct: false }, {}],
    ['no path opens', { iceTransportPolicy: 'relay' as const }, {}],
  ])('goes through the relay when %s', async (_, ofSender, ofReceiver) => {
    const { sender, receiver } = await pair(ofSender, ofReceiver);
    const [sent, received] = await Promise.all([send(sender, 10 * MIB), receive(receiver)]);
    expectSame(sent, received);
    expect([sent.paths, received.paths]).toEqual([['relay'], ['relay']]);
    // Long before the thirty seconds that an attempt may take.
    expect(received.ms).toBeLessThan(15_000);
  });

  test.each(['sender', 'receiver'] as const)(
    'goes on through the relay from where it is when the path is cut at the %s',
    async (side) => {
      const pages = await pair();
      const size = 60 * MIB;
      const both = Promise.all([send(pages.sender, size), receive(pages.receiver, { slowMs: 5 })]);
      const before = await progressed(pages.receiver, 0.4);
      await on(pages[side], (device) => device.cut());
      const [sent, received] = await both;
      expectSame(sent, received);
      expect(before.path).toBe('direct');
      expect(received.paths).toEqual(['direct', 'relay']);
      expect(sent.paths).toEqual(['direct', 'relay']);
      // What the receiver had is not sent again.
      expect(sent.patchedBytes).toBeLessThanOrEqual(size - before.bytes);
      expect(sent.patchedBytes).toBeGreaterThan(0);
    },
  );

  test('has its files passed on by the relay when the path is cut among many, and none of them twice', async () => {
    const { sender, receiver } = await pair();
    const sizes = Array.from({ length: 40 }, (_, i) => MIB + i);
    const both = Promise.all([send(sender, ...sizes), receive(receiver, { slowMs: 20 })]);
    const before = await progressed(receiver, 0.5);
    await on(receiver, (device) => device.cut());
    const [sent, received] = await both;
    expectSame(sent, received);
    expect(received.paths).toEqual(['direct', 'relay']);
    expect(sent.patchedBytes).toBeLessThanOrEqual(41 * MIB - before.bytes);
  });

  test('begins in the relay where the path takes long to open, and changes over to it', async () => {
    const { sender, receiver } = await pair({}, { holdMs: 4_000 });
    const [sent, received] = await Promise.all([send(sender, 60 * MIB), receive(receiver, { slowMs: 10 })]);
    expectSame(sent, received);
    expect([sent.paths, received.paths]).toEqual([
      ['relay', 'direct'],
      ['relay', 'direct'],
    ]);
    expect(sent.patchedBytes).toBeLessThan(60 * MIB);
  });

  test('finds its path anew when the page of the receiver, and then that of the sender, is loaded again', async () => {
    const { sender, receiver, laptop, phone } = await pair();
    void send(sender, 60 * MIB).catch(() => {});
    void receive(receiver, { slowMs: 20 }).catch(() => {});
    await progressed(receiver, 0.2);
    await receiver.reload();
    await join(receiver, phone, {});
    const received = receive(receiver, { slowMs: 20 });
    await progressed(receiver, 0.2);
    const id = await on(sender, (device) => device.id());
    await sender.reload();
    await join(sender, laptop, {});
    const sent = await sender.evaluate((known) => (globalThis as unknown as Page_).device.resume(known), id);
    expectSame(sent, await received);
    expect((await received).paths.at(-1)).toBe('direct');
  });

  test('holds still while its receiver pauses', async () => {
    const { sender, receiver } = await pair();
    const both = Promise.all([send(sender, 60 * MIB), receive(receiver, { slowMs: 5 })]);
    await progressed(receiver, 0.2);
    await on(receiver, (device) => device.pause());
    const paused = await progressed(receiver, 0.2);
    await receiver.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
    const later = await progressed(receiver, 0.2);
    // What had been taken when it paused may still be written.
    expect(later.bytes - paused.bytes).toBeLessThan(2 * MIB);
    await on(receiver, (device) => device.resumeNow());
    const [sent, received] = await both;
    expectSame(sent, received);
    expect(received.paths).toEqual(['direct']);
  });

  const isBytes = 'typeof data !== "string"';
  test.each([
    ['text where bytes are due', `(data, n) => ${isBytes} && n > 5 ? 'hello' : data`],
    // The last message alone has seven bytes. Seven bytes more are more than the file has.
    ['more bytes than the file has', `(data) => ${isBytes} && data.length === 7 ? new Uint8Array(14) : data`],
    ['the wrong file', `(data) => ${isBytes} ? data : '{"say":"file","file":7,"at":0}'`],
    ['bytes before a file', '(data) => [new Uint8Array(9), data]'],
    ['empty messages', `(data) => ${isBytes} ? new Uint8Array(0) : data`],
  ])('takes the relay from a sender that sends %s', async (_, how) => {
    const { sender, receiver } = await pair();
    await alter(sender, how);
    const [sent, received] = await Promise.all([send(sender, 5 * MIB + 7), receive(receiver)]);
    expectSame(sent, received);
    expect(received.paths.at(-1)).toBe('relay');
  });

  test.each([
    ['wants a file that there is not', `(data) => '{"say":"want","file":9,"at":0}'`],
    ['wants what is behind the end', `(data) => data.replace('"at":0', '"at":5242880')`],
    ['took more than was sent', `(data) => data.replace(/"bytes":\\d+/, '"bytes":9007199254740991')`],
    ['sends bytes', '() => new Uint8Array(100)'],
    ['sends nonsense', `() => '{'.repeat(10000)`],
    ['wants without end', '(data) => Array.from({ length: 1000 }, () => data)'],
  ])('takes the relay for a receiver that %s', async (_, how) => {
    const { sender, receiver } = await pair();
    await alter(receiver, how);
    const [sent, received] = await Promise.all([send(sender, 5 * MIB), receive(receiver)]);
    expectSame(sent, received);
    expect(sent.paths.at(-1)).toBe('relay');
  });

  test('ends the transfer for both when other bytes come than were announced', async () => {
    const { sender, receiver } = await pair();
    await alter(sender, `(data) => ${isBytes} ? data.slice().fill(7) : data`);
    const [sent, received] = await Promise.all([send(sender, 5 * MIB), receive(receiver)]);
    expect([sent.state, received.state]).toEqual(['digest_mismatch', 'digest_mismatch']);
  });

  test('is not held up by a flood of candidates that lead nowhere', async () => {
    const { sender, receiver, laptop } = await pair();
    const sending = send(sender, 20 * MIB);
    const receiving = receive(receiver, { slowMs: 20 });
    const id = await sender.evaluate(async () => {
      const { device } = globalThis as unknown as Page_;
      await device.progressed(0.01);
      return device.id();
    });
    const body = {
      to: 'Phone',
      transfer_id: id,
      kind: 'candidate' as const,
      payload: { candidate: 'x'.repeat(2_000) },
    };
    for (let i = 0; i < 300; i += 1) await laptop.on(site.one).call('sendSignal', { body });
    const [sent, received] = await Promise.all([sending, receiving]);
    expectSame(sent, received);
    expect(received.paths).toEqual(['direct']);
  });
});
