import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { request, type WireAnswer } from '../support/wire.ts';

/*
 * Runs the requests of the page about iOS Shortcuts as they are written there, with a cookie store like that of a
 * phone.
 */

const PAGE = fileURLToPath(new URL('../../services/cli/ios-shortcuts.md', import.meta.url));

/** The origin of the replicas, which replaces that of the page. */
const ORIGIN = 'http://localhost:8080';

interface Step {
  readonly heading: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

/** Reads the requests of the page. */
function stepsOf(page: string): Step[] {
  let heading = '';
  const steps: Step[] = [];
  for (const [, title, block] of page.matchAll(/^## (.*)$|^```http\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    if (block === undefined) continue;
    const [head = '', body = ''] = block.split('\n\n');
    const [first = '', ...lines] = head.split('\n').filter((line) => line !== '');
    const [, method = '', path = ''] = /^([A-Z]+) https:\/\/baton\.example(\S+)$/.exec(first) ?? [];
    const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2) as [string, string]));
    steps.push({ heading, method, path, headers, body: body.trim() === '' ? null : body.trim() });
  }
  return steps;
}

/** Makes a phone, which fills in the values of earlier responses and keeps cookies. */
function makePhone(url: string, known: Record<string, string>) {
  const cookies = new Map<string, string>();
  const filled = (text: string): string =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = known[name];
      if (value === undefined) throw new Error(`no response has ${name}`);
      return value;
    });
  return async ({ method, path, headers, body }: Step): Promise<WireAnswer> => {
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, filled(value).replace('https://baton.example', ORIGIN)]),
    );
    const jar = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await request(
      { url },
      {
        ...{ method, path: filled(path), headers: { ...sent, ...(jar !== '' && { Cookie: jar }) } },
        ...(body !== null && { body: Buffer.from(filled(body)) }),
      },
    );
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    for (const [name, value] of Object.entries(answer.body ?? {})) {
      if (typeof value === 'string') known[name] = value;
    }
    return answer;
  };
}

let site: SignInSite;
beforeAll(async () => {
  site = await startSignInSite();
});
afterAll(() => site.stop());

test('the page signs a shortcut in, sends the clipboard, fetches it, and signs out', async () => {
  const steps = stepsOf(readFileSync(PAGE, 'utf8'));
  expect(steps.map(({ heading }) => heading)).toEqual([
    ...['Sign in, once', 'Sign in, once', 'Send the clipboard', 'Send the clipboard'],
    ...['Fetch the clipboard', 'Fetch the clipboard', 'Sign out'],
  ]);
  const [start, status, ...rest] = steps as [Step, Step, ...Step[]];
  const laptop = await site.signIn();
  const known = { clipboard: 'a line “quoted”, é 日本' };
  const run = makePhone(site.two.url, known);

  const asked = (await run(start)).body as { qr_payload: string };
  const [, request_id, approval_code] = /r=([^&]+)&c=([^&]+)$/.exec(asked.qr_payload) ?? [];
  await laptop.ask(site.one, {
    ...{ method: 'POST', path: '/api/auth/qr/approve' },
    body: { request_id, approval_code, scope: 'full', persist: 'persist' },
  });
  expect(await run(status)).toMatchObject({ status: 200, body: { device: { name: 'Shortcuts', type: 'shortcut' } } });
  for (const [index, step] of rest.slice(0, 2).entries())
    expect([index, (await run(step)).status]).toEqual([index, 200]);
  expect((await laptop.ask(site.one, { path: '/api/clipboard' })).body).toMatchObject({
    ...{ content: known.clipboard, source_device_name: 'Shortcuts' },
  });

  await laptop.ask(site.one, {
    ...{ method: 'PUT', path: '/api/clipboard', body: { content: 'from the laptop', content_type: 'text/plain' } },
  });
  const [refresh, fetch, logout] = rest.slice(2) as [Step, Step, Step];
  expect((await run(refresh)).status).toBe(200);
  expect(await run(fetch)).toMatchObject({ status: 200, body: { content: 'from the laptop' } });
  expect((await run(logout)).status).toBe(204);
  expect((await run(refresh)).status).toBe(401);
});
