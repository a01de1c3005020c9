import type { TObject } from 'typebox';
import { ERRORS, type ErrorCode, statusesOf } from '../../../shared/contract/errors.ts';
import { EVENTS } from '../../../shared/contract/events.ts';
import { RATES } from '../../../shared/contract/rates.ts';
import { Problem } from '../../../shared/contract/problem.ts';
import type { Route } from '../../../shared/contract/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { isEventStream } from './request-facts.ts';
import { errorsOf } from './route-errors.ts';

type Json = Record<string, unknown>;

const fields = (schema: TObject | null, place: 'path' | 'query'): Json[] =>
  Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required as string[] | undefined)?.includes(name) === true,
    schema: field,
  }));

const header = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description,
});

function parametersOf(route: Route): Json[] {
  return [
    ...fields(route.params, 'path'),
    ...fields(route.query, 'query'),
    ...Object.entries(route.headers).map(([name, description]) => header(name, description)),
    ...(route.idempotent
      ? [header('Idempotency-Key', 'A repetition within 10 minutes answers the first result.')]
      : []),
    ...(isEventStream(route) ? [header('Last-Event-ID', 'The position to go on from; wins over the query.')] : []),
  ];
}

function contentOf(answer: Route['answers'][number]): Json {
  if (answer === null || answer === undefined) return {};
  if (typeof answer === 'string') return { content: { [answer]: { schema: { type: 'string' } } } };
  return { content: { 'application/json': { schema: answer } } };
}

function problemAnswer(codes: readonly ErrorCode[]): Json {
  const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' ');
  return {
    description,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    'x-baton-codes': codes,
  };
}

function responsesOf(route: Route): Json {
  const answers = Object.entries(route.answers).map(([status, answer]): [string, Json] => [
    status,
    { description: 'Success', ...contentOf(answer) },
  ]);
  const codes = errorsOf(route);
  const statuses = [...new Set(codes.flatMap(statusesOf))].sort((a, b) => a - b);
  const problems = statuses.map((status): [string, Json] => [
    String(status),
    problemAnswer(codes.filter((code) => statusesOf(code).includes(status))),
  ]);
  return Object.fromEntries([...answers, ...problems]);
}

const operationOf = (name: string, route: Route): Json => ({
  operationId: name,
  summary: route.summary,
  ...(route.identity === 'public' && { security: [] }),
  parameters: parametersOf(route),
  ...(route.body && {
    requestBody: {
      required: !route.bodyOptional,
      content: {
        [route.bodyKind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json']: { schema: route.body },
      },
    },
  }),
  responses: responsesOf(route),
  'x-baton-identity': route.identity,
  'x-baton-device': route.device,
  'x-baton-scope': route.scope,
  'x-baton-same-origin': route.sameOrigin,
  'x-baton-rate': route.rate === null ? null : { group: route.rate, ...RATES[route.rate] },
  ...(route.body && { 'x-baton-body-limit-bytes': route.bodyLimitBytes }),
});

function paths(): Json {
  const byPath: Record<string, Json> = {};
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    byPath[route.path] = { ...byPath[route.path], [route.method.toLowerCase()]: operationOf(name, route) };
  }
  return byPath;
}

/** The contract as an OpenAPI 3.1 document, made from the route table, the event catalogue and the error registry. */
export const openApiDocument = (): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Baton',
    version: '1',
    description:
      'Links the devices of one account: presence, messages, one clipboard. Changes inside version 1 only add.',
  },
  security: [{ edge: [] }],
  paths: paths(),
  components: {
    schemas: { Problem },
    securitySchemes: {
      edge: {
        type: 'http',
        scheme: 'bearer',
        description: 'Checked by the edge, which hands the identity on; or the session cookie.',
      },
    },
  },
  'x-events': Object.fromEntries(
    Object.entries(EVENTS).map(([name, { summary, data, id }]) => [name, { summary, id, data }]),
  ),
  'x-errors': ERRORS,
});
