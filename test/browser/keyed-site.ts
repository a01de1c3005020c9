import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { type AppPage, DESKTOP, leaveFirstThread, openApp } from './app-page.ts';
import { startBalancer } from './balancer.ts';
import { type KeyedDevice, makeKeyedDevice } from './keyed-device.ts';

/** A service at one public address, where browsers sign in with keys. */
export interface KeyedSite {
  readonly url: string;
  readonly prefix: string;
  /** Signs in a device that makes the key of a new account. */
  account(): Promise<KeyedDevice>;
  /** Opens the app in a browser of its own, which `laptop` lets in with its keys. */
  open(
    browser: Browser,
    laptop: KeyedDevice,
    options: { name: string; direct?: boolean } & BrowserContextOptions,
  ): Promise<AppPage>;
  /** Logs a person in. Returns the headers with which a device of that person begins its session. */
  logIn(user: string): Promise<{ Cookie: string; Origin: string }>;
  /** Makes a device that is not signed in yet. */
  device(): KeyedDevice;
  /** Signs a device in, in a new account whose content is not encrypted. */
  plainAccount(): Promise<KeyedDevice>;
  /** Kills the replica of the address with SIGKILL, and puts another one in its place. */
  replaceReplica(): Promise<void>;
  stop(): Promise<void>;
}

/** Shows the code of a new browser, and returns the link in it. */
export async function showCode(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Use another device' }).click();
  await page.getByLabel('Device name').fill(name);
  await page.keyboard.press('Enter');
  return String(await page.locator('a.link-text').getAttribute('href'));
}

async function letIn(laptop: KeyedDevice, page: Page, name: string): Promise<void> {
  const digits = await laptop.letIn(await showCode(page, name));
  const question = page.getByRole('dialog', { name: 'Are the digits the same?' });
  await question.getByText(digits).waitFor();
  await question.getByRole('button', { name: 'Laptop shows these' }).click();
  await question.waitFor({ state: 'detached' });
  await leaveFirstThread(page);
}

/** The address of a site with one replica, or with several behind a balancer. */
type Address = Pick<KeyedSite, 'url' | 'replaceReplica' | 'stop'>;

function keyedSiteAt(site: SignInSite, address: Address): KeyedSite {
  const { url } = address;
  async function plainAccount(): Promise<KeyedDevice> {
    const laptop = makeKeyedDevice(site, url);
    await laptop.signIn('Laptop');
    return laptop;
  }
  return {
    ...address,
    prefix: site.prefix,
    plainAccount,
    logIn: async (user) => ({ Cookie: (await site.logIn(user)).cookie, Origin: url }),
    device: () => makeKeyedDevice(site, url),
    async account() {
      const laptop = await plainAccount();
      await laptop.sealing().rings.create({ kind: 'cli' });
      return laptop;
    },
    async open(browser, laptop, { name, ...options }) {
      const app = await openApp(browser, { url, locale: 'en', viewport: DESKTOP, ...options });
      await letIn(laptop, app.page, name);
      return app;
    },
  };
}

const startSiteOf = (url: string, env: Record<string, string>): Promise<SignInSite> =>
  startSignInSite({ APP_RATE_LIMIT_SCALE: '0', APP_PUBLIC_URL: url, ...env });

/** Starts a site. `env`: further settings of the replica at the address. */
export async function startKeyedSite(env: Record<string, string> = {}): Promise<KeyedSite> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const site = await startSiteOf(url, env);
  const start = (): Promise<ReplicaProcess> => site.startReplica({ APP_PORT: String(port) });
  let replica = await start();
  return keyedSiteAt(site, {
    url,
    async replaceReplica() {
      await replica.kill();
      replica = await start();
    },
    stop: () => site.stop(),
  });
}

/** Starts two replicas, which get requests in turn. Each `replaceReplica` replaces the older one. */
export async function startBalancedSite(): Promise<KeyedSite> {
  const living: ReplicaProcess[] = [];
  let turn = 0;
  const balancer = await startBalancer(() => {
    turn += 1;
    return living[turn % living.length] as ReplicaProcess;
  });
  const site = await startSiteOf(balancer.url, {});
  living.push(site.one, site.two);
  return keyedSiteAt(site, {
    url: balancer.url,
    async replaceReplica() {
      // A balancer learns of a death after it happened.
      await living[0]?.kill();
      living.shift();
      living.push(await site.startReplica());
    },
    async stop() {
      await balancer.stop();
      await site.stop();
    },
  });
}
