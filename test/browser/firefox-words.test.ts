import { skipUnless } from '../support/runner/skips.ts';
import { makeDevice } from '../support/device.ts';
import { until } from '../support/redis/redis-processes.ts';
import { type Site, startSite } from '../support/site.ts';
import { localUrl } from './app-page.ts';
import { randomUser } from './app-two.ts';
import { firefoxPath } from './bare-firefox.ts';
import { found } from './found.ts';
import { signIn } from './driven-page.ts';
import { type FirefoxPage, openFirefoxPage } from './firefox-page.ts';

const withFirefox = skipUnless(firefoxPath !== undefined, 'needs Firefox');
const AREA = "document.querySelector('.composer textarea')";
const MESSAGE = '  pw: a`b`c\n```sh words\n  ls\n```\n看https://example.com/路径，很好。';

withFirefox.describe('words in the app in Firefox', () => {
  let site: Site;
  let fox: FirefoxPage;
  beforeAll(async () => {
    site = await startSite({}, { alone: true });
    fox = await openFirefoxPage(localUrl(site.one));
  }, 120_000);
  afterAll(() => Promise.all([site.stop(), fox.stop()]));

  const value = () => fox.run(`${AREA}.value`);
  const items = () => fox.run("document.querySelectorAll('.item').length");
  const paste = (forms: object, files: readonly string[]) =>
    fox.run(`(() => {
      const data = new DataTransfer();
      for (const [type, text] of Object.entries(${JSON.stringify(forms)})) data.setData(type, text);
      for (const name of ${JSON.stringify(files)}) data.items.add(new File(['x'], name, { type: 'image/png' }));
      // Its constructor does not support files.
      const event = new ClipboardEvent('paste', { bubbles: true, cancelable: true });
      Object.defineProperty(event, 'clipboardData', { value: data });
      ${AREA}.dispatchEvent(event);
      return event.defaultPrevented;
    })()`);
  const press = (init: object) =>
    fox.run(`${AREA}.dispatchEvent(new KeyboardEvent('keydown',
      { key: 'Enter', bubbles: true, cancelable: true, ...${JSON.stringify(init)} }))`);

  test('input methods end their words, pasted cells are text, drafts stay, and a message is shown as it is', async () => {
    const user = randomUser();
    const phone = makeDevice({ user, name: 'Phone' });
    await phone.on(site.one).call('getMe');
    await signIn(fox, { user, name: 'Fox' });
    const composer = found('.composer textarea', 'Message', 30_000);
    await fox.run(`void (globalThis.focusedAtFirst = ${composer}.then(() => document.activeElement.tagName))`);
    await fox.click('.device-name', 'Phone');
    await fox.shows('.composer textarea', 'Message');
    // The heading has the focus from the start, so it cannot take it from a user who is already typing.
    expect(await fox.run('focusedAtFirst')).toBe('H1');

    await fox.type('.composer textarea', 'half a word');
    expect(await press({ keyCode: 229 })).toBe(true);
    expect(await press({ isComposing: true, keyCode: 13 })).toBe(true);
    expect(await paste({ 'text/plain': 'a\tb' }, ['image.png'])).toBe(false);
    expect([await value(), await items()]).toEqual(['half a word', 0]);

    await fox.run('void Object.assign(globalThis, { isBefore: true }), location.reload()');
    // The old page may still answer.
    await until(
      () => fox.run('String(globalThis.isBefore)').catch(() => 'between two pages'),
      (isBefore) => isBefore === 'undefined',
      'the page is loaded again',
    );
    await fox.shows('.composer textarea', 'Message');
    expect(await value()).toBe('half a word');
    await fox.run(`${AREA}.focus()`);
    await fox.press('Enter');
    await fox.shows('.mine p', 'half a word');
    expect(await value()).toBe('');
    expect(await paste({ 'text/html': '<img>' }, ['image.png'])).toBe(true);

    await phone.on(site.one).call('sendMessage', { body: { to: 'Fox', content: MESSAGE } });
    await fox.shows('.theirs a', 'https://example.com/路径');
    expect(await fox.run("document.querySelector('.theirs .rich-text').textContent")).toBe(MESSAGE);
    await fox.run('document.activeElement.blur()');
    await fox.run("getSelection().selectAllChildren(document.querySelector('.theirs .rich-text'))");
    expect(
      await fox.run(`new Promise((resolve) => {
        addEventListener('copy', (event) => resolve(event.clipboardData.getData('text/plain')), { once: true });
        document.execCommand('copy');
      })`),
    ).toBe(MESSAGE);
    expect(fox.reports).toEqual([]);
  }, 180_000);
});
