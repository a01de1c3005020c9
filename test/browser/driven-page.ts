import type { Page } from 'playwright-core';
import { openThread, say } from './app-page.ts';

/** The app in a browser that Playwright does not drive. */
export interface DrivenPage {
  /** Waits for an element of this selector that has this text or label. */
  shows(selector: string, text: string, withinMs?: number): Promise<void>;
  /** Clicks the element, once it is there. */
  click(selector: string, text: string): Promise<void>;
  /** Types into the one field of this selector, and replaces its text. */
  type(selector: string, text: string): Promise<void>;
  press(key: 'Enter'): Promise<void>;
  /** Clicks a button that opens the browser's picker, and chooses a file there. */
  choose(selector: string, text: string, path: string): Promise<void>;
  /** Returns the value of an expression in the page, once it has resolved. */
  run(expression: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** Gives the browser a name when the page asks for one. */
export async function nameAs(driven: DrivenPage, name: string): Promise<void> {
  await driven.shows('.front h1', 'Name this device');
  await driven.type('.front input', name);
  await driven.press('Enter');
}

/** Signs in as a new user does: a name, then one for this browser. */
export async function signIn(driven: DrivenPage, { user, name }: { user: string; name: string }): Promise<void> {
  await driven.shows('.front h1', 'Your devices, linked');
  await driven.type('.front input', user);
  await driven.press('Enter');
  await nameAs(driven, name);
}

/** Sends a message each way between the driven page and another device, "Desktop". */
export async function talk(driven: DrivenPage, desktop: Page, name: string): Promise<void> {
  await driven.click('.device-name', 'Desktop');
  await openThread(desktop, name);
  await say(desktop, `to ${name}`);
  await driven.shows('.theirs p', `to ${name}`);
  await driven.type('.composer textarea', `from ${name}`);
  await driven.press('Enter');
  await desktop.locator('.theirs', { hasText: `from ${name}` }).waitFor();
}

/** Puts a text in the clipboard, each way. */
export async function shareClipboard(driven: DrivenPage, desktop: Page): Promise<void> {
  await driven.click('a', 'Clipboard');
  await desktop.getByRole('link', { name: 'Clipboard' }).click();
  await driven.type('.pane textarea', 'copied here');
  await driven.click('button', 'Put in the clipboard');
  await desktop.locator('.pane').getByRole('button', { name: 'show' }).click();
  await desktop.locator('.clipboard-text', { hasText: 'copied here' }).waitFor();
  await desktop.locator('.pane textarea').fill('copied by the desktop');
  await desktop.getByRole('button', { name: 'Put in the clipboard' }).click();
  await driven.shows('.clipboard-from .own', 'Desktop');
  await driven.click('.pane .clipboard-words small', 'show');
  await driven.shows('.clipboard-text', 'copied by the desktop');
}
