import fc from 'fast-check';
import type { Browser } from 'playwright-core';
import { type Site, startSite } from '../support/site.ts';
import { openThread, say } from './app-page.ts';
import { keepMessages, openTwo, shownTexts } from './app-two.ts';
import { launchChromium, withChromium } from './chromium.ts';

const MESSAGES = [
  '```hello```',
  'run ```rm x``` now',
  'pw: a`b`c',
  'empty `` and ``` ``` here',
  '````\n```\nnested\n```\n````',
  '```sh with words\n  ls\n\n```\nafter',
  '```\nnever closed\n  at all',
  '    four spaces  and  two\n\n\n\tand a tab  ',
  'run `npm start`, then `npm test`',
  '`a` `b',
];

const PIECES = [
  '`',
  '```',
  '````',
  '\n',
  ' ',
  '\t',
  'word',
  'x_y',
  '{;',
  'https://example.org/a',
  '(',
  ')',
  '看',
  '\u202e',
];

withChromium.describe('the words of messages in the app', () => {
  let site: Site;
  let browser: Browser;
  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  }, 120_000);
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
  afterAll(() => Promise.all([site.stop(), browser.close()]));

  test('every character of a message is shown, in its order', async () => {
    const { user, desktop } = await openTwo(browser, site);
    const random = fc.sample(
      fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 30 }).map((all) => all.join('')),
      { numRuns: 50 - MESSAGES.length, seed: 33 },
    );
    const texts = [...MESSAGES, ...random];
    await keepMessages(desktop.page, user, texts);
    expect(await shownTexts(desktop.page)).toEqual(texts);
    expect(desktop.reports).toEqual([]);
  });

  test('what is between clean backticks and in a closed fence looks like code, and nothing else does', async () => {
    const { user, desktop } = await openTwo(browser, site);
    await keepMessages(desktop.page, user, MESSAGES);
    const code = await desktop.page
      .locator('.bubble')
      .evaluateAll((all) =>
        all.map((one) => [...one.querySelectorAll('code, pre')].map(({ textContent }) => textContent)),
      );
    expect(code).toEqual([
      ...[[], [], [], []],
      ['````\n```\nnested\n```\n````'],
      ['```sh with words\n  ls\n\n```\n'],
      [],
      ['    four spaces  and  two\n\n\n\tand a tab  '],
      ...[['npm start', 'npm test'], ['a']],
    ]);
  });

  test('copying a message, by its button or by selecting it, gives its exact text', async () => {
    const { user, desktop } = await openTwo(browser, site, { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = desktop;
    const text = '  before `code`  \n\n```js\n  let a;\n\n```\n\nafter\n';
    await keepMessages(page, user, [text]);
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    expect(await clipboard()).toBe(text);
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.locator('.bubble').evaluate((bubble) => {
      const range = document.createRange();
      range.setStartBefore(bubble.firstChild as Node);
      range.setEndAfter(bubble.lastChild as Node);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
    });
    await page.keyboard.press('Control+C');
    expect(await clipboard()).toBe(text);
  });

  test('links lead where they say, and what could fool is none', async () => {
    const { user, desktop } = await openTwo(browser, site);
    await keepMessages(desktop.page, user, [
      'https://en.wikipedia.org/wiki/Baton_(conducting)',
      '看https://example.com/路径，很好。',
      'HTTPS://EXAMPLE.COM/A and HTTPS://',
      "https://example.org/it's, (https://example.org/b).",
      'www.example.org or me@example.org',
      'https://bank.example@evil.example javascript:alert(1)',
      'https://exam\u200bple.org https://example.org/\u202egpj.exe',
      'https://m\u00fcller.example/',
    ]);
    const links = desktop.page.locator('.bubble a');
    await links.first().waitFor();
    expect(
      await links.evaluateAll((all) =>
        all.map((one) => [one.textContent, one.getAttribute('href'), one.getAttribute('title')]),
      ),
    ).toEqual([
      ['https://en.wikipedia.org/wiki/Baton_(conducting)', 'https://en.wikipedia.org/wiki/Baton_(conducting)', null],
      ['https://example.com/路径', 'https://example.com/%E8%B7%AF%E5%BE%84', null],
      ['HTTPS://EXAMPLE.COM/A', 'https://example.com/A', null],
      ["https://example.org/it's", "https://example.org/it's", null],
      ['https://example.org/b', 'https://example.org/b', null],
      ['www.example.org', 'https://www.example.org/', null],
      ['me@example.org', 'mailto:me@example.org', null],
      ['https://m\u00fcller.example/', 'https://xn--mller-kva.example/', 'xn--mller-kva.example'],
    ]);
    const rel = await links.evaluateAll((all) => all.map((one) => one.getAttribute('rel')));
    expect(new Set(rel)).toEqual(new Set(['noopener noreferrer nofollow']));
  });

  test('what turns the order of letters turns nothing around it', async () => {
    const { user, desktop } = await openTwo(browser, site);
    await keepMessages(desktop.page, user, ['\u202e https://example.org/abc `code` end']);
    await desktop.page.locator('.bubble a').waitFor();
    const places = await desktop.page.locator('.bubble').evaluate((bubble) => {
      const at = (node: Node, letter: number): number => {
        const range = document.createRange();
        range.setStart(node, letter);
        range.setEnd(node, letter + 1);
        return range.getBoundingClientRect().left;
      };
      const link = bubble.querySelector('a')?.firstChild as Node;
      const time = bubble.closest('.item')?.querySelector('time')?.firstChild as Node;
      return { link: [at(link, 0), at(link, 8)], time: [at(time, 0), at(time, 2)] };
    });
    expect(places.link[0]).toBeLessThan(places.link[1] as number);
    expect(places.time[0]).toBeLessThan(places.time[1] as number);
  });

  test('a message reaches the other device with every space that was typed', async () => {
    const { phone, desktop } = await openTwo(browser, site);
    await Promise.all([openThread(phone.page, 'Desktop'), openThread(desktop.page, 'Phone')]);
    const text = '  indented first\n    and second  ';
    await say(phone.page, text);
    await desktop.page.locator('.theirs').waitFor();
    expect(await shownTexts(desktop.page)).toEqual([text]);
    await phone.page.locator('.composer textarea').fill(' \n\t ');
    expect(await phone.page.getByRole('button', { name: 'Send', exact: true }).last().isDisabled()).toBe(true);
  });
});
