import { randomBytes } from 'node:crypto';
import { until } from '../support/redis/redis-processes.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { firefoxPath } from './bare-firefox.ts';
import { hasWebKit } from './bare-webkit.ts';
import { type DrivenPage, nameAs } from './driven-page.ts';
import { openFirefoxPage } from './firefox-page.ts';
import { said, there } from './found.ts';
import { type KeyedSite, startKeyedSite } from './keyed-site.ts';
import { openWebKitPage } from './webkit-page.ts';

const SHOWN_WITHIN_MS = 30_000;

const OTHERS = [
  { name: 'Firefox', isThere: firefoxPath !== undefined, open: openFirefoxPage },
  { name: 'WebKit', isThere: hasWebKit, open: openWebKitPage },
];

const says = (page: DrivenPage, text: string) => page.run(said(text, SHOWN_WITHIN_MS));

const goTo = (page: DrivenPage, place: string) => page.run(`void (location.hash = '#/${place}')`);

async function reload(page: DrivenPage): Promise<void> {
  await page.run('void Object.assign(globalThis, { isBefore: true }), location.reload()');
  // The old page may still answer.
  await until(
    () => page.run('String(globalThis.isBefore)').catch(() => 'between two pages'),
    (isBefore) => isBefore === 'undefined',
    'the page is loaded again',
  );
}

/** Empties the storage of keys, like a browser that clears data that was unused for long. */
async function loseKeys(page: DrivenPage): Promise<void> {
  await page.run(`(async () => {
    const answer = (request) => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const database = await answer(indexedDB.open('baton-keys'));
    const names = [...database.objectStoreNames];
    const transaction = database.transaction(names, 'readwrite');
    await Promise.all(names.map((name) => answer(transaction.objectStore(name).clear())));
    database.close();
  })()`);
  await reload(page);
}

/** Types the two words that the app asks for. */
async function typeTwo(page: DrivenPage, words: readonly string[]): Promise<void> {
  await page.run(there('.main input', SHOWN_WITHIN_MS));
  const numbers = (await page.run(`[...document.querySelectorAll('.main input')].map((input, index) => {
    input.dataset.index = index;
    return /[0-9]+/.exec(input.labels[0].textContent)[0];
  }).join()`)) as string;
  for (const [index, number] of numbers.split(',').entries()) {
    await page.type(`.main input[data-index="${index}"]`, words[Number(number) - 1] ?? '');
  }
}

for (const { name, isThere, open } of OTHERS) {
  skipUnless(isThere, `needs ${name}`).describe(`recovery words in ${name}`, () => recover(open));
}

function recover(open: (url: string) => Promise<DrivenPage>): void {
  let site: KeyedSite;
  let page: DrivenPage;
  beforeAll(async () => {
    site = await startKeyedSite();
    page = await open(site.url);
  }, 120_000);
  afterAll(async () => {
    await page.stop();
    await site.stop();
  });

  test('are made, and let it in again when its keys are gone, with what came meanwhile', async () => {
    const laptop = await site.account();
    await page.click('.front button strong', 'Use another device');
    await nameAs(page, 'Mac');
    const link = String(await page.run(`${there('a.link-text', SHOWN_WITHIN_MS)}.then(({ href }) => href)`));
    const digits = await laptop.letIn(link);
    await says(page, digits);
    await page.click('dialog button', 'Laptop shows these');

    await page.shows('.device-name', 'Laptop');
    await goTo(page, 'words');
    await page.click('button', 'Make recovery words');
    await page.run(`${there('.word-list li:nth-child(24)', SHOWN_WITHIN_MS)}.then(() => null)`);
    const list = "[...document.querySelectorAll('.word-list li')].map(({ textContent }) => textContent).join(' ')";
    const words = ((await page.run(list)) as string).split(' ');
    expect(words).toHaveLength(24);
    await page.click('button', 'I have written them down');
    await typeTwo(page, words);
    await page.click('button', 'Finish');
    await says(page, 'The recovery words count from now on.');
    expect((await laptop.ring()).ring.body.members.map(({ kind }) => kind).sort()).toEqual(['cli', 'web', 'words']);

    await loseKeys(page);
    await goTo(page, 'settings');
    await says(page, 'The keys of this browser are gone.');
    const text = `waits-${randomBytes(6).toString('hex')}`;
    await laptop.send('Mac', text);
    await page.click('a', 'Use recovery words');
    await page.type('.main textarea', words.toReversed().join(' '));
    await page.click('button', 'Get the key');
    await says(page, 'These words do not belong together.');
    await page.type('.main textarea', words.join(' '));
    await page.click('button', 'Get the key');
    await page.run(`${there('.fingerprint', SHOWN_WITHIN_MS)}.then(() => null)`);
    await goTo(page, '');
    await page.click('.device-name', 'Laptop');
    await page.shows('.theirs p', text);
    await page.run(`${there('.theirs .lock.is-sealed', SHOWN_WITHIN_MS)}.then(() => null)`);
    // Its earlier keys are out.
    expect((await laptop.ring()).ring.body.epoch).toBe(2);
  }, 180_000);
}
