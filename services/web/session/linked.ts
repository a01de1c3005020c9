import { readSignInLink } from '../../../shared/client/session/sign-in-link.ts';
import { tabWords } from '../kept-words.ts';

/*
 * The code of a new device that a camera opened in this browser. The address of the page goes at once: it must not reach the
 * login page, the history, or whoever looks at the screen. What it said stays in this tab until it was asked about.
 */
const LINK = 'baton-link';

/** The client's own part of such a link, which no server sees. */
const FRAGMENT = /^#k=[\w.-]{1,200}$/;

/** Takes the code out of the address of this page, which is the app's from then on. True: this page came with one. */
export function takeLink(): boolean {
  if (location.pathname !== '/link') return false;
  const found = readSignInLink(location.href);
  const fragment = FRAGMENT.test(location.hash) ? location.hash : '';
  if (found !== null) tabWords.set(LINK, `/link?r=${found.request_id}&c=${found.approval_code}${fragment}`);
  history.replaceState(null, '', '/');
  // The fragment was no place in the app.
  dispatchEvent(new HashChangeEvent('hashchange'));
  return found !== null;
}

/** Kept over the login and over a reload of this tab; null when there is none. */
export const linked = (): string | null => tabWords.get(LINK);

export const endLink = (): void => tabWords.set(LINK, null);
