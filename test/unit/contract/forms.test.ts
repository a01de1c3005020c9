import { ANSWER_FORMS, EVENT_FORMS, type Form } from '../../../shared/contract/forms.ts';
import { EVENTS } from '../../../shared/contract/events.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';

/* What clients look at: everything that an answer or an event can make a path of has a pattern, or bounds. */

type Field = readonly [path: string, form: readonly unknown[]];

function fieldsOf(form: Form, path: string): Field[] {
  if (!Array.isArray(form)) {
    return Object.entries(form).flatMap(([name, field]) => fieldsOf(field as Form, `${path}.${name.replace('?', '')}`));
  }
  const [kind, ...rules] = form as readonly [string, ...unknown[]];
  if (kind === 'n' || kind === 'a') return fieldsOf(rules[0] as Form, path);
  if (kind === '&') return rules.flatMap((each) => fieldsOf(each as Form, path));
  return [[path, form]];
}

const all = [
  ...Object.entries(ANSWER_FORMS).flatMap(([name, forms]) =>
    Object.entries(forms).flatMap(([status, form]) => fieldsOf(form, `${name} ${status}`)),
  ),
  ...Object.entries(EVENT_FORMS).flatMap(([name, form]) => fieldsOf(form, name)),
];

/** Names of people, of replicas, of keys and of the broker's own things: nothing is made of them. */
const NO_PATHS = /\.(user_id|server_id|vapid_key_id|session_id|subscription_id)$/;

test('every route and event has a form', () => {
  expect(Object.keys(ANSWER_FORMS)).toEqual(Object.keys(ROUTES));
  expect(Object.keys(EVENT_FORMS)).toEqual(Object.keys(EVENTS));
  expect(all.length).toBeGreaterThan(150);
});

test('ids, addresses and digests have a pattern, numbers of files their bounds', () => {
  const parts = all.filter(([path]) => /(_ids?|_url|sha256|poll_secret|access_token|origins)$/.test(path));
  const loose = parts.filter(([path, [, , , pattern]]) => !NO_PATHS.test(path) && typeof pattern !== 'string');
  expect(parts.length).toBeGreaterThan(40);
  expect(loose).toEqual([]);
  const numbers = all.filter(([path]) => path.endsWith('.index'));
  expect(numbers.length).toBeGreaterThan(5);
  for (const [, form] of numbers) expect(form).toEqual(['i', 0, 999]);
});

test('paths of the relay are of this service, and of the relay', () => {
  const urls = all.filter(([path]) => path.endsWith('_url'));
  expect(urls.length).toBeGreaterThan(5);
  for (const [, [, , , pattern]] of urls) {
    const own = '/api/relay/019b76da-a800-7a3b-9f7e-2b1c4d5e6f70/0/1';
    const fits = (text: string) => new RegExp(pattern as string).test(text);
    expect([own, `${own}?`, `${own}/..`, `/${own}`, `http://x${own}`, `@x${own}`, `${own}\n`].map(fits)).toEqual([
      true,
      ...Array(6).fill(false),
    ]);
  }
});
