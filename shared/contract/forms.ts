import type { TSchema } from 'typebox';

/**
 * The form with which a client checks a response or an event: the schema without its descriptions, short enough for a page
 * to load.
 * - `{field: form, 'field?': form}`: an object; other fields are ignored
 * - a regular expression: a text that it matches; `true`: a boolean; a text: exactly this text; null: anything
 * - `['i', least, most]`: an integer; `['a', form, least, most]`: a list; `['n', form]`: that form or null
 */
export type Form =
  | { readonly [field: string]: Form }
  | RegExp
  | true
  | string
  | null
  | readonly [kind: 'i', least?: number, most?: number]
  | readonly [kind: 'a', form: Form, least?: number, most?: number]
  | readonly [kind: 'n', form: Form];

type Rules = Readonly<Record<string, unknown>>;

/** The form of a state or a kind, because a newer service may send words that this client does not know. */
const WORD = /^[A-Za-z][\w:.-]{0,63}$/;

function objectForm({ properties = {}, required = [] }: { properties?: object; required?: readonly string[] }): Form {
  const fields = Object.entries(properties).map(([name, field]) => [
    required.includes(name) ? name : `${name}?`,
    formOf(field as TSchema),
  ]);
  return Object.fromEntries(fields) as Form;
}

function textForm({
  minLength,
  maxLength,
  pattern,
}: {
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}): Form {
  if (minLength === undefined && maxLength === undefined) return new RegExp(pattern ?? '^');
  if (pattern !== undefined) throw new Error('clients know no text with a pattern and a length');
  // JSON Schema counts characters, not UTF-16 units.
  return new RegExp(`^[^]{${minLength ?? 0},${maxLength ?? ''}}$`, 'u');
}

/** Returns the given bounds. Every integer of a form is at most the largest safe one. */
function bounds(least: unknown, most: unknown): [] | [number] | [number, number] {
  if (most === undefined || most === Number.MAX_SAFE_INTEGER) return least === undefined ? [] : [least as number];
  return [(least ?? Number.MIN_SAFE_INTEGER) as number, most as number];
}

/** Makes a form. Throws for a schema that no client could check: add a new form here and in `misfit` first. */
function makeForm(schema: TSchema): Form {
  const rules = schema as Rules;
  if (rules['anyOf'] !== undefined) {
    const [first, ...others] = rules['anyOf'] as TSchema[];
    const isNullable = others.length === 1 && (others[0] as Rules)['type'] === 'null';
    if (first === undefined || !isNullable) throw new Error('clients know no other union than with null');
    return ['n', formOf(first)];
  }
  if (rules['allOf'] !== undefined) return Object.assign({}, ...(rules['allOf'] as TSchema[]).map(objectForm)) as Form;
  if (rules['enum'] !== undefined) return WORD;
  if ('const' in rules) return rules['const'] as string;
  switch (rules['type']) {
    case 'object':
      return objectForm(schema);
    case 'array':
      return ['a', formOf(rules['items'] as TSchema), ...bounds(rules['minItems'], rules['maxItems'])];
    case 'string':
      return textForm(rules);
    case 'integer':
      return ['i', ...bounds(rules['minimum'], rules['maximum'])];
    case 'boolean':
      return true;
    case undefined:
      return null;
    default:
      throw new Error(`clients know no ${String(rules['type'])}`);
  }
}

const made = new WeakMap<TSchema, Form>();

/** Returns the form of a schema. If the tables hold forms, as in the build for pages, it returns the form itself. */
export function formOf(schema: TSchema): Form {
  if (!made.has(schema)) made.set(schema, makeForm(schema));
  return made.get(schema) as Form;
}
