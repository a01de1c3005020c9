import { readSignInLink } from '../../shared/client/index.ts';
import type { KeyedDevice } from './keyed-device.ts';
import type { MeasuredPage } from './measured-page.ts';

/** Whether an account is encrypted. */
export type Kind = 'sealed' | 'plain';

/** Lets in the device that shows this link, with keys if the account is encrypted. */
export async function letInAs(kind: Kind, laptop: KeyedDevice, link: string): Promise<string | null> {
  if (kind === 'sealed') return laptop.letIn(link);
  const found = readSignInLink(link);
  if (found === null) throw new Error('This is no link');
  await laptop.client.signIns.approve(found, { scope: 'full', persist: 'persist' });
  return null;
}

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

/** Signs a page in as people do: with a code that another device approves. */
export async function signInMeasured(page: MeasuredPage, laptop: KeyedDevice, kind: Kind = 'sealed'): Promise<void> {
  await page.run(`${first('button', 'Use another device')}.then((button) => button.click())`);
  await page.run(`${first('form input')}.then((field) => field.form.requestSubmit())`);
  const link = String(await page.run(`${first('a.link-text')}.then((one) => one.href)`));
  await letInAs(kind, laptop, link);
  if (kind === 'sealed') await page.click('[role=dialog] button, dialog button', 'Laptop shows these');
}

/** Opens the other's thread in both pages. They are named after their browser; the laptop is not. */
export async function lookAtEachOther(...pages: readonly MeasuredPage[]): Promise<void> {
  for (const page of pages) await page.run(`${first('.device-name', 'Chrome')}.then((name) => name.click())`);
}
