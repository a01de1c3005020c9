import { misfit } from '../../../shared/client/http/misfit.ts';
import { type Form, formOf } from '../../../shared/contract/forms.ts';
import { EVENTS } from '../../../shared/contract/events.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { UserId } from '../../../shared/contract/vocabulary/fields.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';

/* Everything in an answer or an event that a client can make a path of has a pattern or bounds. */

type Field = readonly [path: string, form: Form];

function fieldsOf(form: Form, path: string): Field[] {
  if (Array.isArray(form)) return form[0] === 'i' ? [[path, form]] : fieldsOf(form[1] as Form, path);
  if (typeof form !== 'object' || form === null || form instanceof RegExp) return [[path, form]];
  return Object.entries(form).flatMap(([name, field]) => fieldsOf(field as Form, `${path}.${name.replace('?', '')}`));
}

const all = [
  ...Object.entries<Route>(ROUTES).flatMap(([name, { answers }]) =>
    Object.entries(answers).flatMap(([status, answer]) =>
      answer === null || typeof answer === 'string' ? [] : fieldsOf(formOf(answer), `${name} ${status}`),
    ),
  ),
  ...Object.entries(EVENTS).flatMap(([name, { data }]) => fieldsOf(formOf(data), name)),
];

/** Tells whether it excludes any text. */
const isPattern = (form: Form): form is RegExp => form instanceof RegExp && form.source !== '^';

/** Names of people, of replicas, of keys and of the broker's own things. Clients make nothing of them. */
const NO_PATHS = /\.(user_id|server_id|vapid_key_id|session_id|subscription_id)$/;

test('every route and event has a form', () => {
  expect(all.length).toBeGreaterThan(150);
});

test('ids, addresses and digests have a pattern, numbers of files their bounds', () => {
  const parts = all.filter(([path]) => /(_ids?|_url|sha256|poll_secret|access_token|origins)$/.test(path));
  const loose = parts.filter(([path, form]) => !NO_PATHS.test(path) && !isPattern(form));
  expect(parts.length).toBeGreaterThan(40);
  expect(loose).toEqual([]);
  const numbers = all.filter(([path]) => path.endsWith('.index'));
  expect(numbers.length).toBeGreaterThan(5);
  for (const [, form] of numbers) expect(form).toEqual(['i', 0, 999]);
});

test('the length of a text is counted in characters, as in its schema', () => {
  const form = formOf(UserId);
  const fits = (text: string) => misfit(form, text) === null;
  expect(['😀'.repeat(255), '\n', '😀'.repeat(256), ''].map(fits)).toEqual([true, true, false, false]);
});

test('paths of the relay are of this service, and of the relay', () => {
  const urls = all.filter(([path]) => path.endsWith('_url'));
  expect(urls.length).toBeGreaterThan(5);
  for (const [, form] of urls) {
    const own = '/api/relay/019b76da-a800-7a3b-9f7e-2b1c4d5e6f70/0/1';
    const fits = (text: string) => isPattern(form) && form.test(text);
    expect([own, `${own}?`, `${own}/..`, `/${own}`, `http://x${own}`, `@x${own}`, `${own}\n`].map(fits)).toEqual([
      true,
      ...Array(6).fill(false),
    ]);
  }
});
