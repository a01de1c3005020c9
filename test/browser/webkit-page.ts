import { launchBareWebKit } from './bare-webkit.ts';
import type { DrivenPage } from './driven-page.ts';
import { found, said, there } from './found.ts';

/** The app in a WebKit of its own. */
export interface WebKitPage extends DrivenPage {
  /** Returns uncaught errors, and refusals by the content policy or Trusted Types, since the page was loaded. */
  reports(): Promise<readonly string[]>;
  /** Waits until the page has this text somewhere. */
  says(text: string): Promise<void>;
  /** Loads the page again, like a user who types its address. */
  reload(): Promise<void>;
  /** Goes back to the previous page, as the browser's button does. */
  back(): Promise<void>;
}

const SHOWN_WITHIN_MS = 30_000;
/** The numbers of WebDriver for keys that are not letters. */
const KEYS = { Enter: '\uE007' };
/** The name under which WebDriver hands over an element. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

const LISTEN = `globalThis.reported = [];
addEventListener('error', ({ message }) => reported.push(message));
addEventListener('unhandledrejection', ({ reason }) => reported.push(String(reason)));
addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => reported.push(violatedDirective + ' ' + blockedURI));`;

export async function openWebKitPage(url: string): Promise<WebKitPage> {
  const browser = await launchBareWebKit();

  async function run(expression: string): Promise<unknown> {
    const script = `const done = arguments[arguments.length - 1];
      Promise.resolve().then(() => ${expression}).then((value) => done({ value }), (error) => done({ error: String(error) }));`;
    const { value, error } = (await browser.send('execute/async', { script, args: [] })) as {
      value?: unknown;
      error?: string;
    };
    if (error !== undefined) throw new Error(error);
    return value;
  }
  const element = async (expression: string): Promise<string> =>
    ((await run(expression)) as Record<string, string>)[ELEMENT] as string;
  const click = async (selector: string, text: string): Promise<void> => {
    const id = await element(found(selector, text, SHOWN_WITHIN_MS));
    await browser.send(`element/${id}/click`, {});
  };
  const go = async (): Promise<void> => {
    await browser.send('url', { url });
    await run(`(() => { ${LISTEN} })()`);
  };

  try {
    await browser.send('timeouts', { script: 120_000 });
    await browser.send('window/rect', { width: 1200, height: 860 });
    await go();
  } catch (error) {
    await browser.stop();
    throw error;
  }
  return {
    run,
    click,
    reports: async () => (await run('reported')) as string[],
    shows: async (selector, text, withinMs = SHOWN_WITHIN_MS) =>
      void (await run(`${found(selector, text, withinMs)}.then(() => null)`)),
    says: async (text) => void (await run(said(text, SHOWN_WITHIN_MS))),
    async type(selector, text) {
      const id = await element(there(selector, SHOWN_WITHIN_MS));
      await browser.send(`element/${id}/clear`, {});
      await browser.send(`element/${id}/value`, { text });
    },
    async press(key) {
      const actions = ['keyDown', 'keyUp'].map((type) => ({ type, value: KEYS[key] }));
      await browser.send('actions', { actions: [{ type: 'key', id: 'keyboard', actions }] });
    },
    async choose(selector, text, path) {
      // The picker is a window of the system, which WebDriver does not reach.
      await run(`void (globalThis.asked = new Promise((resolve) => {
        HTMLInputElement.prototype.click = function () { this.hidden = false; resolve(); };
      }))`);
      await click(selector, text);
      await run('asked');
      const id = await element(`document.querySelector('body > input[type=file]')`);
      await browser.send(`element/${id}/value`, { text: path });
    },
    reload: go,
    back: async () => void (await browser.send('back', {})),
    stop: () => browser.stop(),
  };
}
