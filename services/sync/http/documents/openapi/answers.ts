import { ANSWER_HEADERS, type AnswerHeader } from '../../../../../shared/contract/vocabulary/answer-headers.ts';
import { ERRORS, type ErrorCode, statusesOf } from '../../../../../shared/contract/errors.ts';
import { EVENTS } from '../../../../../shared/contract/events.ts';
import type { Route } from '../../../../../shared/contract/vocabulary/route.ts';
import { isEventStream } from '../../../../../shared/service-kit/http/request-context.ts';
import { errorsOf } from '../route-errors.ts';
import { type Json, referring } from './schemas.ts';

const PROBLEM = 'application/problem+json';

/** Descriptions of the statuses of successful responses. */
const SUCCESS: Readonly<Record<number, string>> = {
  200: 'Done; here is what was asked for.',
  201: 'Made.',
  202: 'Taken; what is left of it happens later.',
  204: 'Done; there is nothing to say.',
  206: 'The part of the file that was asked for.',
  302: 'Somewhere else: `Location` says where. Nothing has happened here.',
  303: 'Go on at `Location`, by GET. Nothing has happened here.',
};

const ON_EVERY_ANSWER: readonly AnswerHeader[] = ['X-Request-Id', 'X-Api-Version'];

/** Headers that go with the status of a refusal. */
const WITH_STATUS: Readonly<Record<number, readonly AnswerHeader[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

const refer = (kind: 'headers' | 'examples' | 'responses', name: string): Json => ({
  $ref: `#/components/${kind}/${name}`,
});

const headersOf = (route: Route, status: number): Json =>
  Object.fromEntries(
    [...ON_EVERY_ANSWER, ...(WITH_STATUS[status] ?? []), ...(route.answerHeaders[status] ?? [])].map((name) => [
      name,
      refer('headers', name),
    ]),
  );

/** An event stream has no end. As tools expect, its schema describes one event. */
const ONE_EVENT = {
  type: 'object',
  description: 'One event of the stream. What `data` holds stands under the name of the event.',
  required: ['event', 'data'],
  properties: {
    event: { type: 'string', enum: Object.keys(EVENTS) },
    data: { type: 'string', contentMediaType: 'application/json' },
    id: { type: 'string', description: 'The position, to be sent as `Last-Event-ID`.' },
    retry: { type: 'integer', minimum: 0 },
  },
};

const EVENT_EXAMPLE = {
  id: '1767225600000-1211681834',
  event: 'device:removed',
  data: '{"device_id":"phone-5c1d0a7e"}',
};

function contentOf(route: Route, answer: Route['answers'][number]): Json {
  if (answer === null || answer === undefined) return {};
  if (typeof answer !== 'string') return { content: { 'application/json': { schema: referring(answer) } } };
  if (isEventStream(route)) return { content: { [answer]: { schema: ONE_EVENT, example: EVENT_EXAMPLE } } };
  const schema = { type: 'string', ...(/octet-stream|[*]/.test(answer) && { format: 'binary' }) };
  return { content: { [answer]: { schema } } };
}

/**
 * A person gets a page, and a program gets a problem document. The sender of the request cannot choose which of the two.
 */
const pageOf = ({ loginRedirect }: Route, status: number): Json =>
  loginRedirect && status < 500 ? { 'text/html': { schema: { type: 'string' } } } : {};

function refusal(route: Route, status: number, codes: readonly ErrorCode[]): Json {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
    headers: headersOf(route, status),
    content: {
      [PROBLEM]: {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, refer('examples', code)])),
      },
      ...pageOf(route, status),
    },
    'x-baton-codes': codes,
  };
}

export function responsesOf(route: Route): Json {
  const answers = Object.entries(route.answers).map(([status, answer]): [string, Json] => [
    status,
    {
      description: SUCCESS[Number(status)] ?? 'Done.',
      headers: headersOf(route, Number(status)),
      ...contentOf(route, answer),
    },
  ]);
  const codes = errorsOf(route);
  const statuses = [...new Set(codes.flatMap(statusesOf))].sort((a, b) => a - b);
  const refusals = statuses.map((status): [string, Json] => [
    String(status),
    refusal(
      route,
      status,
      codes.filter((code) => statusesOf(code).includes(status)),
    ),
  ]);
  const shared = { 405: refer('responses', 'MethodNotAllowed'), 431: refer('responses', 'HeadTooLong') };
  return Object.fromEntries([...answers, ...refusals, ...Object.entries(shared)]);
}

const ON_ALL: Pick<Route, 'answerHeaders' | 'loginRedirect'> = { answerHeaders: {}, loginRedirect: false };

/** Returns the responses that are sent before any route is looked at. */
export const sharedResponses = (): Json => ({
  MethodNotAllowed: {
    ...refusal(ON_ALL as Route, 405, ['method_not_allowed']),
    description: '`method_not_allowed`: Another method was used than those of this path.',
  },
  HeadTooLong: {
    description:
      'The head of the request is longer than 16 KiB. Said before anything of it was read; the connection ends.',
  },
});

export const answerHeaders = (): Json =>
  Object.fromEntries(
    Object.entries(ANSWER_HEADERS).map(([name, { description, schema }]) => [
      name,
      { description, schema: referring(schema) },
    ]),
  );

export const problemExamples = (): Json =>
  Object.fromEntries(
    (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
      const { status, title } = ERRORS[code];
      const type = `/api/docs#error-${code}`;
      return [code, { value: { type, title, status, detail: title, code, request_id: 'Zm9vYmFyYmF6cXV4' } }];
    }),
  );
