import type { Browser, Page } from 'playwright-core';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../support/replicas.ts';
import { openApp } from './app-page.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { launchChromium, withChromium } from './chromium.ts';
import { makeOtherBuild, type OtherBuild } from './other-build.ts';
import { untilWorker, untilWorkerIsRefused } from './service-worker.ts';

/* Two replicas behind one address serve different builds of the app, as during a rolling update. */

const SCRIPT = /^\/assets\/index-.+\.js$/;
const STYLE = /^\/assets\/index-.+\.css$/;
const MISSES = 3;
/** The service worker fetches the whole app in two versions, which takes long. */
const WORKER_TEST_MS = 240_000;

withChromium.describe('the app while two versions are served', () => {
  let other: OtherBuild;
  let browser: Browser;
  let replicas: { before: ReplicaProcess; after: ReplicaProcess };
  let balancer: Balancer;
  beforeAll(async () => {
    other = makeOtherBuild();
    const store = { redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() };
    const [before, after, launched] = await Promise.all([
      startReplica(store),
      startReplica({ ...store, main: other.main }),
      launchChromium(),
    ]);
    replicas = { before, after };
    browser = launched;
  }, 120_000);
  beforeEach(async () => {
    balancer = await startBalancer(() => replicas.before);
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await balancer.stop();
  });
  afterAll(async () => {
    await Promise.all([stopReplicas(), browser.close()]);
    other.remove();
  });

  const open = () => openApp(browser, { url: balancer.url });
  const visits = () => balancer.answered.filter(({ isVisit }) => isVisit).length;
  const misses = () => balancer.answered.filter(({ status }) => status === 404).length;
  const allFrom = (replica: ReplicaProcess) => balancer.spread(() => replica);

  /** Waits until the app is there with its style, and no longer retries anything. */
  async function untilWhole(page: Page): Promise<void> {
    await page.waitForFunction(
      () =>
        document.querySelector('.front h1') !== null &&
        getComputedStyle(document.querySelector('.front') as Element).display === 'grid' &&
        sessionStorage.getItem('baton-tries') === null,
    );
  }

  test.each([
    ['the new page and an old script', 'after', 'before', SCRIPT],
    ['the new page and an old style', 'after', 'before', STYLE],
    ['the old page and a new script', 'before', 'after', SCRIPT],
    ['the old page and a new style', 'before', 'after', STYLE],
  ] as const)('a first visit that would mix %s shows the app all the same', async (_, page, wrong, what) => {
    let missed = 0;
    balancer.spread(({ path, isOfWorker }) => {
      if (isOfWorker || !what.test(path) || missed === MISSES) return replicas[page];
      missed += 1;
      return replicas[wrong];
    });
    const one = await open();
    await untilWhole(one.page);
    expect(misses()).toBeGreaterThan(0);
    // The page was asked for again: from a replica, or from the service worker if that exists by then.
    expect(
      await one.page.evaluate(() =>
        performance.getEntriesByType('navigation').map((entry) => (entry as PerformanceNavigationTiming).type),
      ),
    ).toEqual(['reload']);
    expect(visits()).toBeLessThanOrEqual(MISSES + 1);
    expect(one.reports).toEqual([]);
  });

  test('a first visit whose requests go to one version and the other in turn shows the app', async () => {
    let turn = 0;
    balancer.spread(() => {
      turn += 1;
      return turn % 2 === 0 ? replicas.before : replicas.after;
    });
    const { page, reports } = await open();
    await untilWhole(page);
    expect(reports).toEqual([]);
  });

  test('a page that never gets its script says what to do, and is whole when that is done', async () => {
    balancer.spread(({ path }) => (SCRIPT.test(path) ? replicas.before : replicas.after));
    const { page, reports } = await open();
    await page.getByRole('alert').getByText('Reload this page in a minute').waitFor();
    expect(visits()).toBe(9);
    allFrom(replicas.after);
    await page.reload();
    await untilWhole(page);
    expect({ visits: visits(), reports }).toEqual({ visits: 10, reports: [] });
  });

  test(
    'the shell is kept of one version or not at all, and is tried again when somebody looks at the page',
    async () => {
      balancer.spread(({ path, isOfWorker }) => (isOfWorker && path === '/' ? replicas.before : replicas.after));
      const one = await open();
      const { page, context, reports } = one;
      await untilWorkerIsRefused(one);
      expect(await page.evaluate(() => caches.keys())).toEqual([]);

      allFrom(replicas.after);
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await untilWorker(page);
      await context.setOffline(true);
      await page.reload();
      await untilWhole(page);
      expect(reports).toEqual([]);
    },
    WORKER_TEST_MS,
  );

  test(
    'a page that is open keeps its files when the next version has taken over',
    async () => {
      const { page, reports } = await open();
      await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
      const [lazy] = await page.evaluate(async () => {
        const [name] = await caches.keys();
        const kept = await (await caches.open(String(name))).keys();
        return kept.map(({ url }) => url).filter((url) => url.includes('/file-worker-'));
      });
      allFrom(replicas.after);
      await page.evaluate(async () => {
        const changed = new Promise((resolve) => {
          navigator.serviceWorker.addEventListener('controllerchange', resolve);
        });
        await (await navigator.serviceWorker.ready).update();
        await changed;
      });
      const status = await page.evaluate(async (url) => (await fetch(String(url), { cache: 'no-store' })).status, lazy);
      expect({ status, reports }).toEqual({ status: 200, reports: [] });
      await page.reload();
      await untilWhole(page);
      expect(await page.evaluate(() => document.querySelector('script[type=module]')?.getAttribute('src'))).toContain(
        '00000000',
      );
    },
    WORKER_TEST_MS,
  );
});
