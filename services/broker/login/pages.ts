import { escapeHtml, page } from '../../../shared/service-kit/http/page.ts';

/** Returns the page of the development login, with one field. */
export const devLoginPage = ({ action, returnTo }: { action: string; returnTo: string }): string =>
  page(
    'Development login',
    `<h1>Development login</h1>
<p>This login believes whatever name is typed. Two devices with the same name belong to one account.</p>
<form method="post" action="${escapeHtml(action)}">
<p><label>User name <input name="user" required maxlength="128" autocomplete="username" autofocus></label></p>
<input type="hidden" name="return_to" value="${escapeHtml(returnTo)}">
<p><button>Sign in</button></p>
</form>`,
  );

/** Returns the page for the user of a failed login. */
export const loginFailedPage = ({ says, again }: { says: string; again: string }): string =>
  page(
    'Sign-in failed',
    `<h1>Sign-in failed</h1>
<p>${escapeHtml(says)}</p>
<p><a href="${escapeHtml(again)}">Try again</a></p>`,
  );
