import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { removeProfile } from './remove-profile.ts';

const find = (name: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

/**
 * Returns the small browser that comes with WebKitGTK. Its folder has the processor's name and the version of the
 * interface.
 */
function findMiniBrowser(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib').filter((name) => name.includes('-linux-')) : [];
  return folders
    .flatMap((folder) => ['4.1', '6.0', '4.0'].map((version) => `/usr/lib/${folder}/webkit2gtk-${version}/MiniBrowser`))
    .find((path) => existsSync(path));
}

const driverPath = find('WebKitWebDriver');
const screenPath = find('Xvfb');
const browserPath = findMiniBrowser();
export const hasWebKit = [driverPath, screenPath, browserPath].every((path) => path !== undefined);

/** A WebKitGTK that is driven over WebDriver. */
export interface BareWebKit {
  /** The folder of its profile and its downloads, which goes with it. */
  readonly folder: string;
  /** Sends a command of the session: `POST`, or `GET` without a body. */
  send(path: string, body?: object): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a screen that nobody sees. It chooses its number itself, and prints it. */
async function startScreen(): Promise<{ child: ChildProcess; display: string }> {
  const child = spawn(screenPath as string, ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const lines = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream });
  const [number] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('Xvfb did not start'))),
  ])) as [string];
  return { child, display: `:${number}` };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function command(url: string, body?: object): Promise<unknown> {
  const answer = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
  const { value } = (await answer.json()) as { value: { message?: string } | null };
  if (!answer.ok) throw new Error(value?.message ?? `WebKitWebDriver answers ${answer.status}`);
  return value;
}

/** Waits for the driver, which does not say when it listens. */
async function untilDriven(url: string, driver: ChildProcess): Promise<void> {
  while (driver.exitCode === null) {
    const isReady = await command(`${url}/status`).then(
      () => true,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('WebKitWebDriver did not start');
}

export async function launchBareWebKit(): Promise<BareWebKit> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-webkit-'));
  mkdirSync(join(folder, 'Downloads'));
  const { child: screen, display } = await startScreen();
  const port = await freePort();
  const driver = spawn(driverPath as string, [`--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    env: {
      ...{ PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder, DISPLAY: display },
      ...{ LANG: 'C.UTF-8', LIBGL_ALWAYS_SOFTWARE: '1', NO_AT_BRIDGE: '1' },
      // The browser reaches nothing but this machine.
      ...{ http_proxy: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9', no_proxy: 'localhost,127.0.0.1' },
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await end(driver);
    await end(screen);
    removeProfile(folder);
  };
  try {
    await untilDriven(url, driver);
    const options = { binary: browserPath, args: ['--automation'] };
    const session = await command(`${url}/session`, {
      // `npm start -- --lan` has a certificate of its own.
      capabilities: { alwaysMatch: { acceptInsecureCerts: true, 'webkitgtk:browserOptions': options } },
    });
    const base = `${url}/session/${(session as { sessionId: string }).sessionId}`;
    return {
      folder,
      send: (path, body) => command(`${base}/${path}`, body),
      async stop() {
        await fetch(base, { method: 'DELETE' }).catch(() => {});
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
