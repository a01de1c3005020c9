import type { Form } from '../../contract/forms.ts';

type Listed = Extract<Form, readonly unknown[]>;
type Fields = { readonly [field: string]: Form };

const isList = (form: Form): form is Listed => Array.isArray(form);

/** Tells whether `value` itself fits, without its parts. */
function fits(form: Form, value: unknown): boolean {
  if (form === null) return true;
  if (form === true) return typeof value === 'boolean';
  if (typeof form === 'string') return value === form;
  if (form instanceof RegExp) return typeof value === 'string' && form.test(value);
  if (!isList(form)) return typeof value === 'object' && value !== null && !Array.isArray(value);
  const isInteger = form[0] === 'i';
  if (!(isInteger ? Number.isSafeInteger(value) : Array.isArray(value))) return false;
  const size = isInteger ? (value as number) : (value as unknown[]).length;
  const [least = size, most = size] = form.slice(isInteger ? 1 : 2) as number[];
  return size >= least && size <= most;
}

/** Returns the values in `value`, each with its name and its form. */
function partsOf(form: Listed | Fields, value: object): (readonly [name: string, form: Form, value: unknown])[] {
  if (Array.isArray(value)) return value.map((item: unknown, at) => [`${at}`, (form as Listed)[1] as Form, item]);
  return Object.entries(form as Fields).flatMap(([key, field]) => {
    const name = key.replace('?', '');
    const isThere = Object.hasOwn(value, name);
    // A missing required value gets the form of a text, which it does not fit.
    return isThere || name === key ? [[name, isThere ? field : /^/, value[name as never]] as const] : [];
  });
}

/** Returns where `value` does not fit the contract, as a path such as `/device/device_id`; null when it fits. */
export function misfit(form: Form, value: unknown, path = ''): string | null {
  if (isList(form) && form[0] === 'n') return value === null ? null : misfit(form[1], value, path);
  if (!fits(form, value)) return path || '/';
  if (typeof form !== 'object' || form === null || form instanceof RegExp) return null;
  if (isList(form) && form[0] === 'i') return null;
  for (const [name, of, part] of partsOf(form, value as object)) {
    const flaw = misfit(of, part, `${path}/${name}`);
    if (flaw !== null) return flaw;
  }
  return null;
}
