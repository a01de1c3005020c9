import type { TSchema } from 'typebox';

/**
 * What a client checks of an answer or an event: the schema without its words for people, short enough for a page to load.
 * - `{field: form, 'field?': form}`: an object; fields that are not named are let be
 * - a regular expression: a text that it matches; `true`: true or false; a text: this very one; null: anything
 * - `['i', least, most]`: an integer; `['a', form, least, most]`: a list; `['n', form]`: that or null
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

/** What stands for a state or a kind: a newer service may say words that this client does not know. */
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
  return new RegExp(`^[^]{${minLength ?? 0},${maxLength ?? ''}}$`);
}

/** The bounds that are given; what stands before one that is given is null. */
function bounds(least: unknown, most: unknown): [] | [number] | [number, number] {
  if (most === undefined) return least === undefined ? [] : [least as number];
  return [(least ?? Number.MIN_SAFE_INTEGER) as number, most as number];
}

/** Throws for a schema that no client could check: another form has to be added here and in `misfit` first. */
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

/** The form of a schema. Where the tables hold forms already, as in what is built for pages, it is the form itself. */
export function formOf(schema: TSchema): Form {
  if (!made.has(schema)) made.set(schema, makeForm(schema));
  return made.get(schema) as Form;
}
