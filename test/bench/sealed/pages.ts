import type { KeyedDevice } from '../../browser/keyed-device.ts';
import { startKeyedSite } from '../../browser/keyed-site.ts';
import { type MeasuredPage, openMeasuredPage } from '../../browser/measured-page.ts';
import { type Compared, type Kind, letInAs } from './compared.ts';

const MOVES_WITHIN_MS = 600_000;

/** Resolves in a page to the first element of this selector whose text begins like this. */
const first = (selector: string, text = ''): string => `new Promise((resolve) => {
  const look = () => {
    const all = [...document.querySelectorAll(${JSON.stringify(selector)})];
    const one = all.find(({ textContent }) => textContent.trim().startsWith(${JSON.stringify(text)}));
    if (one === undefined) requestAnimationFrame(look);
    else resolve(one);
  };
  look();
})`;

/** Signs a page in as people do, by a code that another device approves. */
async function signIn(page: MeasuredPage, kind: Kind, laptop: KeyedDevice): Promise<void> {
  await page.run(`${first('button', 'Use another device')}.then((button) => button.click())`);
  await page.run(`${first('form input')}.then((field) => field.form.requestSubmit())`);
  const link = String(await page.run(`${first('a.link-text')}.then((one) => one.href)`));
  await letInAs(kind, laptop, link);
  if (kind === 'sealed') await page.click('[role=dialog] button, dialog button', 'Laptop shows these');
}

/** A file by the app, from one browser to another, through the relay of a real replica: from the acceptance until it is stored. */
export async function startPages(mib: number, film: string): Promise<Compared<'moved'>> {
  const site = await startKeyedSite();
  const laptops = { sealed: await site.account(), plain: await site.plainAccount() };
  let pages: MeasuredPage[] = [];

  async function open(kind: Kind): Promise<MeasuredPage> {
    const page = await openMeasuredPage({ url: site.url, direct: false });
    pages.push(page);
    await signIn(page, kind, laptops[kind]);
    return page;
  }

  async function move(kind: Kind): Promise<number> {
    const [one, other] = [await open(kind), await open(kind)];
    // Both are named after their browser, and the laptop is not.
    for (const page of [one, other]) await page.run(`${first('.device-name', 'Chrome')}.then((name) => name.click())`);
    await one.choose('button', 'Send files', film);
    await other.shows('button', 'Accept', MOVES_WITHIN_MS);
    const startedAt = performance.now();
    await other.click('button', 'Accept');
    await other.shows('.state', 'Received', MOVES_WITHIN_MS);
    return mib / ((performance.now() - startedAt) / 1_000);
  }

  return {
    async measure(kind) {
      try {
        return { moved: await move(kind) };
      } finally {
        await Promise.all(pages.map((page) => page.stop()));
        pages = [];
      }
    },
    stop: () => site.stop(),
  };
}
