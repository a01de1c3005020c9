import type { Browser, CDPSession, Page } from 'playwright-core';
import { deviceRow, localUrl, openApp, openThread } from '../../browser/app-page.ts';
import { launchChromium, withChromium } from '../../browser/chromium.ts';
import { makeDevice, randomUser, type TestDevice } from '../../support/device.ts';
import { type Site, startSite } from '../../support/site.ts';

/*
 * `npm run bench:heap`: measures the memory of the app in a browser that is open for an hour while another device talks, comes
 * and goes, uses the clipboard and offers files. Each minute it collects garbage and prints what is left. It fails only when
 * the app reports an error. BENCH_HEAP_MINUTES sets how long it takes, BENCH_HEAP_ONLY the kinds of events, as in
 * `messages;names`.
 */

const MINUTES = Number(process.env.BENCH_HEAP_MINUTES ?? 60);
const ONLY = process.env.BENCH_HEAP_ONLY?.split(';');
const MINUTE_MS = 60_000;
/** The pause between two events of the other device. */
const PAUSE_MS = 500;
const MIB = 1024 * 1024;
const TAKES_MS = (MINUTES + 5) * MINUTE_MS;

interface Weight {
  heapMib: number;
  nodes: number;
  listeners: number;
}

async function weigh(session: CDPSession): Promise<Weight> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string): number => metrics.find((one) => one.name === name)?.value ?? NaN;
  return { heapMib: of('JSHeapUsedSize') / MIB, nodes: of('Nodes'), listeners: of('JSEventListeners') };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

withChromium.describe('the app, open for long', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite({ APP_RATE_LIMIT_SCALE: '0' }), launchChromium()]);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  /** Returns the events of the other device, in their order. */
  function makeEvents(phone: TestDevice, toId: string): (() => Promise<unknown>)[] {
    let count = 0;
    const on = () => phone.on(site.two);
    const kinds: Record<string, () => Promise<unknown>> = {
      messages: () => on().call('sendMessage', { body: { to_device_id: toId, content: `message ${(count += 1)}` } }),
      async presence() {
        const stream = site.listen(phone, site.one);
        await stream.next('ready');
        await stream.stop();
      },
      clipboard: () => on().call('setClipboard', { body: { content: `copied ${count}`, content_type: 'text/plain' } }),
      cleared: () => on().call('clearClipboard'),
      async files() {
        const files = [{ name: `film ${count}.mp4`, size: 1_000_000, mime: 'video/mp4' }];
        const { body } = await on().call('initTransfer', { body: { to_device_id: toId, files } });
        await on().call('cancelTransfer', { params: { transfer_id: body.transfer.transfer_id }, body: {} });
      },
      names: () =>
        on().call('renameDevice', { params: { device_id: phone.id }, body: { name: `Phone ${(count += 1) % 7}` } }),
    };
    return Object.entries(kinds).flatMap(([kind, event]) => (ONLY?.includes(kind) === false ? [] : [event]));
  }

  async function talk(events: readonly (() => Promise<unknown>)[], endsAtMs: number): Promise<number> {
    let done = 0;
    for (; performance.now() < endsAtMs; done += 1) {
      await events[done % events.length]?.();
      await wait(PAUSE_MS);
    }
    return done;
  }

  const idOf = async (page: Page, phone: TestDevice): Promise<string> => {
    await deviceRow(page, 'Phone').waitFor();
    const { body } = await phone.on(site.one).call('listDevices');
    return String(body.devices.find(({ name }) => name === 'Desktop')?.device_id);
  };

  test(
    `${MINUTES} minutes of events`,
    async () => {
      const user = randomUser();
      const phone = makeDevice({ user, name: 'Phone' });
      await phone.on(site.one).call('getMe');
      const { page, reports } = await openApp(browser, { url: localUrl(site.one), user, name: 'Desktop' });
      const events = makeEvents(phone, await idOf(page, phone));
      await openThread(page, 'Phone');
      const session = await page.context().newCDPSession(page);
      await session.send('Performance.enable');
      await talk(events, performance.now() + 20_000);
      let sum = 0;
      for (let minute = 0; minute <= MINUTES; minute += 1) {
        const { heapMib, nodes, listeners } = await weigh(session);
        process.stdout.write(
          `${minute} min, ${sum} events: heap ${heapMib.toFixed(1)} MiB, ${nodes} nodes, ${listeners} listeners\n`,
        );
        if (minute < MINUTES) sum += await talk(events, performance.now() + MINUTE_MS);
      }
      expect(reports).toEqual([]);
    },
    TAKES_MS,
  );
});
