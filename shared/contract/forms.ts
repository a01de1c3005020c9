import type { TSchema } from 'typebox';
import { EVENTS, type EventName } from './events.ts';
import type { Route } from './vocabulary/route.ts';
import { ROUTES, type RouteName } from './routes.ts';

/**
 * What a client checks of an answer or an event: the schema without its words for people, short enough for a page to load.
 * - `{field: form, 'field?': form}`: an object; fields that are not named are let be
 * - `['n', form]`: that or null; `['&', form, ...]`: all of these; `['a', form, least, most]`: a list
 * - `['s', least, most, pattern]`: a text; `['i', least, most]`: an integer; `['b']`: true or false; `['c', value]`: this value
 * - `['w']`: one of a list of words, or a word that only a newer service knows; `['*']`: anything
 */
export type Form = { readonly [field: string]: Form } | readonly [kind: string, ...rules: unknown[]];

type Rules = Readonly<Record<string, unknown>>;

const trimmed = (form: readonly [string, ...unknown[]]): Form => {
  const last = form.findLastIndex((rule) => rule !== undefined);
  return form.slice(0, last + 1).map((rule) => rule ?? null) as unknown as Form;
};

function objectForm({ properties = {}, required = [] }: { properties?: object; required?: readonly string[] }): Form {
  const fields = Object.entries(properties).map(([name, field]) => [
    required.includes(name) ? name : `${name}?`,
    formOf(field as TSchema),
  ]);
  return Object.fromEntries(fields) as Form;
}

/** Throws for a schema that no client could check: another form has to be added here and in `misfit` first. */
function formOf(schema: TSchema): Form {
  const rules = schema as Rules;
  if (rules['anyOf'] !== undefined) {
    const [first, ...others] = rules['anyOf'] as TSchema[];
    const isNullable = others.length === 1 && (others[0] as Rules)['type'] === 'null';
    if (first === undefined || !isNullable) throw new Error('clients know no other union than with null');
    return ['n', formOf(first)];
  }
  if (rules['allOf'] !== undefined) return ['&', ...(rules['allOf'] as TSchema[]).map(formOf)];
  if (rules['enum'] !== undefined) return ['w'];
  if ('const' in rules) return ['c', rules['const']];
  switch (rules['type']) {
    case 'object':
      return objectForm(schema);
    case 'array':
      return trimmed(['a', formOf(rules['items'] as TSchema), rules['minItems'], rules['maxItems']]);
    case 'string':
      return trimmed(['s', rules['minLength'], rules['maxLength'], rules['pattern']]);
    case 'integer':
      return trimmed(['i', rules['minimum'], rules['maximum']]);
    case 'boolean':
      return ['b'];
    case undefined:
      return ['*'];
    default:
      throw new Error(`clients know no ${String(rules['type'])}`);
  }
}

type Answers = Readonly<Record<number, Form>>;

const answersOf = ({ answers }: Route): Answers =>
  Object.fromEntries(
    Object.entries(answers).flatMap(([status, answer]) =>
      answer === null || typeof answer === 'string' ? [] : [[status, formOf(answer)]],
    ),
  );

const mapped = <K extends string, T, U>(table: Readonly<Record<K, T>>, to: (row: T) => U) =>
  Object.fromEntries(Object.entries<T>(table).map(([name, row]) => [name, to(row)])) as Readonly<Record<K, U>>;

/** Of each route by its status, where the answer is JSON. */
export const ANSWER_FORMS: Readonly<Record<RouteName, Answers>> = mapped<RouteName, Route, Answers>(ROUTES, answersOf);

/** Of the data of each event. */
export const EVENT_FORMS: Readonly<Record<EventName, Form>> = mapped<EventName, { data: TSchema }, Form>(
  EVENTS,
  ({ data }) => formOf(data),
);
