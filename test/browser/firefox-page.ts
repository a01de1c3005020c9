import { type BareFirefox, launchBareFirefox } from './bare-firefox.ts';
import type { DrivenPage } from './driven-page.ts';
import { found, there } from './found.ts';

/** The app in a Firefox of its own. */
export interface FirefoxPage extends DrivenPage {
  /** Uncaught errors, and refusals by the content policy or Trusted Types. */
  readonly reports: readonly string[];
  /** Clicks a button that hands a file to the downloads. Resolves to the file's path. */
  save(selector: string, text: string): Promise<string>;
}

const SHOWN_WITHIN_MS = 30_000;
/** The numbers of WebDriver for keys that are not letters. */
const KEYS = { Enter: '\uE007' };

type Entry = { level?: string; type?: string; text?: string };

function listenForReports(browser: BareFirefox): readonly string[] {
  const reports: string[] = [];
  browser.on('log.entryAdded', ({ level, type, text = '' }: Entry) => {
    const isRefused = /Content-Security-Policy|Trusted/.test(text);
    if ((level === 'error' && type === 'javascript') || isRefused) reports.push(text);
  });
  return reports;
}

export async function openFirefoxPage(url: string): Promise<FirefoxPage> {
  const browser = await launchBareFirefox();
  try {
    return await openIn(browser, url);
  } catch (error) {
    await browser.stop();
    throw error;
  }
}

interface Evaluated {
  type?: string;
  result?: { value?: unknown };
  exceptionDetails?: { text: string };
}

async function openIn(browser: BareFirefox, url: string): Promise<FirefoxPage> {
  await browser.send('session.new', { capabilities: {} });
  const events = ['log.entryAdded', 'browsingContext.downloadEnd'];
  await browser.send('session.subscribe', { events });
  const downloadBehavior = { type: 'allowed', destinationFolder: browser.folder };
  await browser.send('browser.setDownloadBehavior', { downloadBehavior });
  const reports = listenForReports(browser);
  const { context } = await browser.send('browsingContext.create', { type: 'window' });

  async function run(expression: string): Promise<unknown> {
    const asked = { expression, target: { context }, awaitPromise: true, userActivation: true };
    const { exceptionDetails, result }: Evaluated = await browser.send('script.evaluate', asked);
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return result?.value;
  }
  async function keys(values: readonly string[]): Promise<void> {
    const actions = values.flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await browser.send('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
  }
  const next = (event: string) =>
    new Promise<Record<string, unknown>>((resolve) => browser.on(event, (params) => resolve(params)));
  const click = async (selector: string, text: string): Promise<void> =>
    void (await run(`${found(selector, text, SHOWN_WITHIN_MS)}.then((one) => one.click())`));

  await browser.send('browsingContext.navigate', { context, url, wait: 'complete' });
  return {
    reports,
    run,
    click,
    shows: async (selector, text, withinMs = SHOWN_WITHIN_MS) =>
      void (await run(`${found(selector, text, withinMs)}.then(() => null)`)),
    async type(selector, text) {
      await run(`${there(selector, SHOWN_WITHIN_MS)}.then((one) => { one.focus(); one.select(); })`);
      await keys(text.split(''));
    },
    press: (key) => keys([KEYS[key]]),
    async choose(selector, text, path) {
      // Without a screen the picker closes at once, and the app is told that nothing was chosen.
      await run(`void (globalThis.asked = new Promise((resolve) => {
        HTMLInputElement.prototype.click = resolve;
      }))`);
      await click(selector, text);
      await run('asked');
      const locator = { type: 'css', value: 'body > input[type=file]' };
      const { nodes } = (await browser.send('browsingContext.locateNodes', { context, locator })) as {
        nodes: unknown[];
      };
      await browser.send('input.setFiles', { context, element: nodes[0], files: [path] });
    },
    async save(selector, text) {
      const saved = next('browsingContext.downloadEnd');
      await click(selector, text);
      return String((await saved).filepath);
    },
    stop: () => browser.stop(),
  };
}
