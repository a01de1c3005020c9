import type { Form } from '../../contract/forms.ts';

/** What stands for a state or a kind: a newer service may say words that this client does not know. */
const WORD = /^[A-Za-z][\w:.-]{0,63}$/;

const patterns = new Map<string, RegExp>();

function matches(pattern: string | null | undefined, text: string): boolean {
  if (pattern === null || pattern === undefined) return true;
  let compiled = patterns.get(pattern);
  if (compiled === undefined) patterns.set(pattern, (compiled = new RegExp(pattern)));
  return compiled.test(text);
}

type Bound = number | null | undefined;

const isWithin = (size: number, least: Bound, most: Bound): boolean =>
  size >= (least ?? Number.NEGATIVE_INFINITY) && size <= (most ?? Number.POSITIVE_INFINITY);

const firstOf = (flaws: Iterable<string | null>): string | null => {
  for (const flaw of flaws) if (flaw !== null) return flaw;
  return null;
};

function* flawsOfFields(form: object, value: object, path: string): Generator<string | null> {
  for (const [key, field] of Object.entries(form)) {
    const name = key.replace(/\?$/, '');
    if (Object.hasOwn(value, name)) yield misfit(field as Form, value[name as never], `${path}/${name}`);
    else if (name === key) yield `${path}/${name}`;
  }
}

function fits([kind, a, b, c]: readonly unknown[], value: unknown): boolean {
  if (kind === 's') {
    return typeof value === 'string' && isWithin(value.length, a as Bound, b as Bound) && matches(c as string, value);
  }
  if (kind === 'i') return Number.isSafeInteger(value) && isWithin(value as number, a as Bound, b as Bound);
  if (kind === 'a') return Array.isArray(value) && isWithin(value.length, b as Bound, c as Bound);
  if (kind === 'w') return typeof value === 'string' && WORD.test(value);
  if (kind === 'b') return typeof value === 'boolean';
  return kind !== 'c' || value === a;
}

/** Where `value` is not what the contract says, as a path such as `/device/device_id`; null when it fits. */
export function misfit(form: Form, value: unknown, path = ''): string | null {
  if (!Array.isArray(form)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? firstOf(flawsOfFields(form, value, path)) : path || '/';
  }
  const [kind, ...rules] = form as readonly [string, ...Form[]];
  if (kind === 'n') return value === null ? null : misfit(rules[0] as Form, value, path);
  if (kind === '&') return firstOf(rules.map((each) => misfit(each, value, path)));
  if (!fits(form, value)) return path || '/';
  if (kind !== 'a') return null;
  return firstOf((value as unknown[]).map((item, at) => misfit(rules[0] as Form, item, `${path}/${at}`)));
}
