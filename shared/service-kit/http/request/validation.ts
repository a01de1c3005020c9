import type { AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { BatonError } from '../../../contract/errors.ts';
import type { Route } from '../../../contract/vocabulary/route.ts';

interface FieldError {
  path: string;
  message: string;
}

/** The most errors in a response. More would only help clients that send garbage on purpose. */
const ERRORS_SHOWN = 20;

const OPTIONS = {
  strict: true,
  // `oneOf: [{required}, ...]` names properties that the enclosing schema declares.
  strictRequired: false,
  allErrors: true,
  verbose: true,
  // The tests validate the schemas themselves. Here it would take a fifth of the start time of a replica.
  validateSchema: false,
} as const;

const asSent = new Ajv2020(OPTIONS);
const fromText = new Ajv2020({ ...OPTIONS, coerceTypes: true });

/** Returns the fields of a `oneOf` whose branches each require one field, such as `to` and `to_device_id`. */
function alternatives(schema: unknown): string[] {
  if (!Array.isArray(schema)) return [];
  const fields = schema.map((branch: AnySchemaObject) => (branch['required'] as string[] | undefined) ?? []);
  return fields.every((names) => names.length === 1) ? fields.flat() : [];
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

const WRONG_FORM = 'does not have the form that the contract gives';

/** The text of each keyword of a schema about a value that does not fit it, after the name of the field. */
const SENTENCES: Readonly<Record<string, (error: ErrorObject) => string>> = {
  type: ({ params }) =>
    `is not ${[params['type'] as string | string[]]
      .flat()
      .map((type) => KINDS[type])
      .join(' or ')}`,
  minLength: ({ params }) =>
    params['limit'] === 1 ? 'is empty' : `has fewer than ${counted(params['limit'], 'character', 'characters')}`,
  maxLength: ({ params }) => `has more than ${counted(params['limit'], 'character', 'characters')}`,
  minItems: ({ params }) => `has fewer than ${counted(params['limit'], 'entry', 'entries')}`,
  maxItems: ({ params }) => `has more than ${counted(params['limit'], 'entry', 'entries')}`,
  minimum: ({ params }) => `is less than ${params['limit']}`,
  maximum: ({ params }) => `is more than ${params['limit']}`,
  pattern: () => WRONG_FORM,
  enum: ({ params }) => `is not one of ${(params['allowedValues'] as unknown[]).join(', ')}`,
  const: ({ params }) => `is not ${params['allowedValue']}`,
  anyOf: () => WRONG_FORM,
  oneOf: () => WRONG_FORM,
  additionalProperties: () => 'is not a field of this request',
};

function fieldErrors(error: ErrorObject, place: string): FieldError[] {
  const at = `/${place}${error.instancePath}`;
  const { missingProperty, additionalProperty, property } = error.params as Record<string, string>;
  if (missingProperty !== undefined) {
    const message = property === undefined ? 'is required' : `is required with ${property}`;
    return [{ path: `${at}/${missingProperty}`, message }];
  }
  if (error.keyword === 'oneOf') {
    const fields = alternatives(error.schema);
    const message = `exactly one of ${fields.join(', ')} is required`;
    if (fields.length > 0) return fields.map((field) => ({ path: `${at}/${field}`, message }));
  }
  const message = SENTENCES[error.keyword]?.(error) ?? 'is not valid';
  return [{ path: additionalProperty === undefined ? at : `${at}/${additionalProperty}`, message }];
}

/** Whether the error of a whole choice already says what this one of a branch says. */
const insideChoice = (error: ErrorObject): boolean =>
  /\/(?:oneOf\/\d+\/required|anyOf\/\d+\/.+)$/.test(error.schemaPath);

/** Says what is wrong with one field, as a part of a sentence for people: `to is required`. */
function said({ path, message }: FieldError, place: string): string {
  if (message.startsWith('exactly one')) return message;
  const field = path.slice(place.length + 2).replaceAll('/', '.');
  return `${field === '' ? `the ${place}` : field} ${message}`;
}

function refusal(errors: readonly ErrorObject[], place: string): BatonError {
  const fields = errors.filter((error) => !insideChoice(error)).flatMap((error) => fieldErrors(error, place));
  const shown = fields.slice(0, ERRORS_SHOWN);
  const detail = [...new Set(shown.map((field) => said(field, place)))].join('; ');
  // The name of a field keeps its spelling.
  const sentence = detail.replace(/^(?:exactly|the) /, (word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return new BatonError('invalid_request', sentence, { errors: shown });
}

function check(validate: ValidateFunction | null, value: unknown, place: string): void {
  if (validate !== null && !validate(value)) throw refusal(validate.errors ?? [], place);
}

/** Returns the known fields of a query. Others are ignored. A known field that occurs twice is refused. */
function knownFields(query: Readonly<Record<string, unknown>>, route: Route): Record<string, unknown> {
  const names = Object.keys(route.query?.properties ?? {}).filter((name) => Object.hasOwn(query, name));
  const repeated = names.filter((name) => typeof query[name] !== 'string');
  if (repeated.length > 0) {
    const errors = repeated.map((name) => ({ path: `/query/${name}`, message: 'occurs more than once' }));
    throw new BatonError('invalid_request', 'A query field occurs more than once', { errors });
  }
  return Object.fromEntries(names.map((name) => [name, query[name]]));
}

/**
 * The validator of a route's requests.
 * Throws `invalid_request` with one entry per field, such as `/body/to` or `/query/name`, and `not_found` for a path that
 * cannot name anything.
 */
export interface RouteValidator {
  params(params: Record<string, unknown>): void;
  /** Returns the known fields, converted from text into the types of the schema. */
  query(query: Readonly<Record<string, unknown>>): unknown;
  body(body: unknown): void;
}

/**
 * Compiles a schema at its first use, which takes 1 ms. Compiling all routes took an eighth of the start time of a replica,
 * and most replicas serve only a few routes. A test checks that every schema compiles.
 */
function compiledLater(ajv: Ajv2020, schema: AnySchemaObject | null): () => ValidateFunction | null {
  let compiled: ValidateFunction | null = null;
  return () => (compiled ??= schema && ajv.compile(schema));
}

/** The only spelling of a number in a path: no sign, leading zero or exponent. */
const PLAIN_NUMBER = /^(?:0|[1-9]\d*)$/;

const numbersOf = ({ params }: Route): string[] =>
  Object.entries<AnySchemaObject>(params?.properties ?? {})
    .filter(([, schema]) => schema['type'] === 'integer' || schema['type'] === 'number')
    .map(([name]) => name);

/**
 * Makes a check of a field's inner content against a schema of the contract. `place` is the field's, such as `body/ring`.
 * @throws invalid_request with one entry per field
 */
export function makeInnerCheck(schema: AnySchemaObject, place: string): (value: unknown) => void {
  const compiled = compiledLater(asSent, schema);
  return (value) => check(compiled(), value, place);
}

export function makeValidator(route: Route): RouteValidator {
  const params = compiledLater(fromText, route.params);
  const numbers = numbersOf(route);
  const query = compiledLater(fromText, route.query);
  const body = compiledLater(asSent, route.body);
  return {
    params(value) {
      const validate = params();
      if (validate === null) return;
      const arePlain = numbers.every((name) => PLAIN_NUMBER.test(String(value[name])));
      if (!arePlain || !validate(value)) throw new BatonError('not_found');
    },
    query(value) {
      const validate = query();
      if (validate === null) return null;
      const fields = knownFields(value, route);
      check(validate, fields, 'query');
      return fields;
    },
    body: (value) => check(body(), value, 'body'),
  };
}
