import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BareChromium, launchBareChromium } from './bare-chromium.ts';
import { found } from './found.ts';

interface Opening {
  url: string;
  /** The account, if the service believes anybody. Without it nobody is signed in. */
  user?: string;
  name?: string;
  /** Whether files may go from device to device. Otherwise the browser has no peer connections. */
  direct: boolean;
  /** A script that runs before the app, and the functions that it can call with a text. */
  script?: string;
  functions?: Readonly<Record<string, (text: string) => void>>;
}

/** What a page did while it was watched. */
export interface Measured {
  /** The longest time between two beats of a clock that beats every 10 ms. */
  pauseMs: number;
  /** By how much the memory of the browser's renderers grew, at most: pages, workers and service workers. */
  grownBytes: number;
}

/** The app in a browser of its own, with as little remote control as possible. */
export interface MeasuredPage {
  /** Waits for an element of this selector that has this text or label. */
  shows(selector: string, text: string, withinMs?: number): Promise<void>;
  /** Clicks the element, once it is there. */
  click(selector: string, text: string): Promise<void>;
  /** Clicks a button that opens the browser's picker, and chooses a file there. */
  choose(selector: string, text: string, path: string): Promise<void>;
  /** Clicks a button that hands a file to the downloads. Resolves to the file's path. */
  save(selector: string, text: string): Promise<string>;
  /** Watches the page until the returned function is called. */
  watch(): Promise<() => Promise<Measured>>;
  /** Loads the page again. */
  reload(): Promise<void>;
  /** Evaluates an expression in the page, and waits for its promise. */
  run(expression: string): Promise<unknown>;
  stop(): Promise<void>;
}

const SHOWN_WITHIN_MS = 30_000;
const BEAT_MS = 10;
/** Often enough to see what is held over several pieces of a file. */
const WEIGH_MS = 100;
const KIB = 1024;

/**
 * Returns the bytes that a process holds apart from files: its own, and those shared with others. Without /proc nothing
 * is measured.
 */
function heldBytes(pid: number): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  const status = readFileSync(path, 'utf8');
  return (
    KIB *
    ['RssAnon', 'RssShmem'].reduce((sum, name) => sum + Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]), 0)
  );
}

async function rendererBytes(browser: BareChromium): Promise<number> {
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
  const all = processInfo as { type: string; id: number }[];
  return all.filter(({ type }) => type === 'renderer').reduce((sum, { id }) => sum + heldBytes(id), 0);
}

/** Samples what renderers hold until it is told to stop. Returns the most above the start. */
async function weigh(browser: BareChromium): Promise<() => Promise<number>> {
  const idle = await rendererBytes(browser);
  let most = idle;
  let isOver = false;
  const sampled = (async () => {
    while (!isOver) {
      most = Math.max(most, await rendererBytes(browser));
      await new Promise((resolve) => setTimeout(resolve, WEIGH_MS));
    }
  })();
  return async () => {
    isOver = true;
    await sampled;
    return most - idle;
  };
}

/** Returns the script that runs before the app: who this is, in which language, and what this browser cannot do. */
const beginning = ({ user, name, direct, script = '' }: Opening): string => {
  const identity = JSON.stringify({ user, name, deviceId: randomBytes(9).toString('base64url') });
  const keep = `localStorage.setItem('baton-development', ${JSON.stringify(identity)});`;
  return `
    if (location.protocol !== 'about:' && localStorage.getItem('baton-language') === null) {
      localStorage.setItem('baton-language', 'en');
      ${user === undefined ? '' : keep}
    }
    Object.assign(window, { showSaveFilePicker: undefined, showDirectoryPicker: undefined });
    ${direct ? '' : 'window.RTCPeerConnection = undefined;'}
    ${script}`;
};

const START_BEATING = `
  clearInterval(window.beating);
  window.longestMs = 0;
  let last = performance.now();
  window.beating = setInterval(() => {
    const now = performance.now();
    window.longestMs = Math.max(window.longestMs, now - last);
    last = now;
  }, ${BEAT_MS})`;

export async function openMeasuredPage(opening: Opening): Promise<MeasuredPage> {
  const browser = launchBareChromium();
  try {
    return await openIn(browser, opening);
  } catch (error) {
    await browser.stop();
    throw error;
  }
}

async function openIn(browser: BareChromium, opening: Opening): Promise<MeasuredPage> {
  const { targetId } = await browser.send('Target.createTarget', {
    url: 'about:blank',
    newWindow: true,
    width: 1_000,
    height: 800,
  });
  const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params: object = {}) =>
    browser.send(method, params as Record<string, unknown>, sessionId as string);

  async function run(expression: string): Promise<unknown> {
    const options = { awaitPromise: true, returnByValue: true, userGesture: true };
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, ...options });
    const thrown = exceptionDetails as { exception?: { description?: string } } | undefined;
    if (thrown !== undefined) throw new Error(thrown.exception?.description ?? 'The page threw');
    return (result as { value?: unknown }).value;
  }
  const shows = async (selector: string, text: string, withinMs = SHOWN_WITHIN_MS): Promise<void> =>
    void (await run(`${found(selector, text, withinMs)}.then(() => null)`));
  const click = async (selector: string, text: string): Promise<void> =>
    void (await run(`${found(selector, text, SHOWN_WITHIN_MS)}.then((one) => one.click())`));
  const next = (method: string, isIt: (params: Record<string, unknown>) => boolean = () => true) =>
    new Promise<Record<string, unknown>>((resolve) => browser.on(method, (params) => isIt(params) && resolve(params)));

  await send('Page.enable');
  // The app asks before a page is loaded again while it sends a large file.
  browser.on('Page.javascriptDialogOpening', () => void send('Page.handleJavaScriptDialog', { accept: true }));
  await send('Page.addScriptToEvaluateOnNewDocument', { source: beginning(opening) });
  // Bindings reach a page only while its contexts are reported.
  if (opening.functions !== undefined) await send('Runtime.enable');
  for (const name of Object.keys(opening.functions ?? {})) await send('Runtime.addBinding', { name });
  browser.on('Runtime.bindingCalled', ({ name, payload }) => opening.functions?.[String(name)]?.(String(payload)));
  await send('Page.setInterceptFileChooserDialog', { enabled: true });
  await browser.send('Browser.setDownloadBehavior', {
    ...{ behavior: 'allowAndName', downloadPath: browser.folder, eventsEnabled: true },
  });
  // As in chromium.ts: with a microphone allowed, addresses are told and not hidden.
  await browser.send('Browser.grantPermissions', { origin: opening.url, permissions: ['audioCapture'] });
  await send('Page.navigate', { url: opening.url });
  return {
    shows,
    click,
    run,
    async reload() {
      const loaded = next('Page.loadEventFired');
      await send('Page.reload');
      await loaded;
    },
    async choose(selector, text, path) {
      const opened = next('Page.fileChooserOpened');
      await click(selector, text);
      const { backendNodeId } = await opened;
      await send('DOM.setFileInputFiles', { files: [path], backendNodeId });
    },
    async save(selector, text) {
      const saved = next('Browser.downloadProgress', ({ state }) => state === 'completed');
      await click(selector, text);
      return join(browser.folder, String((await saved).guid));
    },
    async watch() {
      const weighed = await weigh(browser);
      await run(START_BEATING);
      return async () => ({ pauseMs: Number(await run('window.longestMs')), grownBytes: await weighed() });
    },
    stop: () => browser.stop(),
  };
}
