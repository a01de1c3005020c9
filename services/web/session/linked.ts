import { readSignInLink } from '../../../shared/client/session/sign-in-link.ts';
import { tabWords } from '../kept-words.ts';

/*
 * The code of a new device that a camera opened in this browser. It is removed from the address at once: it must not reach
 * the login page, the history, or anybody who looks at the screen. The code stays in this tab until the user was asked about
 * it.
 */
const LINK = 'baton-link';

/** The part of such a link for clients, which no server sees. */
const FRAGMENT = /^#k=[\w.-]{1,200}$/;

/** Takes the code out of the address of this page, which then becomes the app's. True: the address had a code. */
export function takeLink(): boolean {
  if (location.pathname !== '/link') return false;
  const found = readSignInLink(location.href);
  const fragment = FRAGMENT.test(location.hash) ? location.hash : '';
  if (found !== null) tabWords.set(LINK, `/link?r=${found.request_id}&c=${found.approval_code}${fragment}`);
  history.replaceState(null, '', '/');
  // The fragment was not a place in the app.
  dispatchEvent(new HashChangeEvent('hashchange'));
  return found !== null;
}

/** Returns the code, which is kept over the login and over a reload of this tab; null when there is none. */
export const linked = (): string | null => tabWords.get(LINK);

export const endLink = (): void => tabWords.set(LINK, null);
