import type { LoginRequestView } from '../../../../shared/contract/modules/signin.ts';
import { escapeHtml as text, page } from '../../../../shared/service-kit/http/page.ts';

const KINDS: Readonly<Record<string, string>> = {
  browser: 'a browser',
  macos: 'an app on macOS',
  windows: 'an app on Windows',
  linux: 'an app on Linux',
  ios: 'an app on iOS',
  shortcut: 'a shortcut',
};

const ago = (seconds: number): string =>
  seconds < 60 ? `${seconds} seconds ago` : `${Math.floor(seconds / 60)} min ago`;

interface Asked {
  view: LoginRequestView;
  code: string;
  /** The name of the user who is asked. */
  userName: string;
}

const choice = (name: string, value: string, label: string): string =>
  `<p><label><input type="radio" name="${name}" value="${value}" required> ${label}</label></p>`;

const group = (legend: string, ...rows: string[]): string =>
  `<fieldset>\n<legend>${legend}</legend>\n${rows.join('\n')}\n</fieldset>`;

/** Returns the choices. None is preselected, because the code may come from somebody else's device. */
function choices({ view }: Asked): string {
  const scopes =
    view.allowed_scopes.length > 1
      ? group(
          'What it may do',
          choice('scope', 'full', 'My device: everything, other devices and sign-ins too'),
          choice('scope', 'guest', 'A guest: messages, clipboard and files; it sees your name and your devices'),
        )
      : `<input type="hidden" name="scope" value="${text(view.allowed_scopes[0] ?? 'full')}">`;
  const lifetimes = view.allowed_persist.includes('persist')
    ? group(
        'For how long',
        choice('persist', 'once', 'For one hour'),
        choice('persist', 'persist', 'Until it is signed out, or a week without use'),
      )
    : '<input type="hidden" name="persist" value="once">\n<p>For one hour, and no longer than you.</p>';
  return `${scopes}\n${lifetimes}`;
}

/** Returns the page that asks whether another device may sign in. Deny is the first button, so that Enter denies. */
export function askPage(asked: Asked): string {
  const { view, code, userName } = asked;
  return page(
    'Baton: sign in another device?',
    `<h1>Sign in ANOTHER device?</h1>
<p>Not this one: another device asks to be signed in as <strong>${text(userName)}</strong>. Whoever holds it will read your
messages, your clipboard and your files.</p>
<table>
<tr><th>It calls itself</th><td>${text(view.device_name)}, ${text(KINDS[view.device_type] ?? view.device_type)}</td></tr>
<tr><th>It asked from</th><td>${text(view.source.address)}, ${text(view.source.user_agent)}</td></tr>
<tr><th>When</th><td>${ago(view.age_seconds)}</td></tr>
</table>
<p><strong>Approve only if you see this code on a device in front of you.</strong> Did somebody send you a link or a
picture of the code? Then it is not yours.</p>
<form method="post" action="/link">
<input type="hidden" name="request_id" value="${text(view.request_id)}">
<input type="hidden" name="approval_code" value="${text(code)}">
<p><button name="decision" value="deny" formnovalidate>Not mine: keep it out</button></p>
${choices(asked)}
<p><button name="decision" value="approve">Let the other device in</button></p>
</form>`,
  );
}

/** Returns a page that states the outcome in one sentence. */
export const outcomePage = (title: string, sentence: string): string =>
  page(`Baton: ${title}`, `<h1>${text(title)}</h1>\n<p>${text(sentence)}</p>\n<p><a href="/">Baton</a></p>`);
