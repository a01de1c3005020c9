import type { TObject } from 'typebox';
import { RATES } from '../../../../../shared/contract/rates.ts';
import type { HeaderField, Route } from '../../../../../shared/contract/vocabulary/route.ts';
import { isEventStream } from '../../../../../shared/service-kit/http/request-context.ts';
import { responsesOf } from './answers.ts';
import { type Json, referring } from './schemas.ts';
import { securityOf } from './security.ts';

const fields = (schema: TObject | null, place: 'path' | 'query'): Json[] =>
  Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || (schema?.required as string[] | undefined)?.includes(name) === true,
    schema: referring(field),
  }));

const header = (
  name: string,
  { description, required = false, schema }: Omit<HeaderField, 'required'> & { required?: boolean },
): Json => ({
  name,
  in: 'header',
  required,
  schema: schema === undefined ? { type: 'string' } : referring(schema),
  description,
});

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,64}$', examples: ['7f9c2ba4-e88f-827d-6160-55076051e2f1'] },
  description: 'A repetition within 10 minutes answers the first result and makes nothing new.',
};

function parametersOf(route: Route): Json[] {
  return [
    ...fields(route.params, 'path'),
    ...fields(route.query, 'query'),
    ...Object.entries(route.headers).map(([name, field]) => header(name, field)),
    ...(route.idempotent ? [IDEMPOTENCY_KEY] : []),
    ...(isEventStream(route)
      ? [header('Last-Event-ID', { description: 'The position to go on from; wins over the query.' })]
      : []),
  ];
}

/** Returns the request body. An optional body may be left out, but must not be of another kind. */
function bodyOf(route: Route): Json {
  if (route.bytesType !== null) {
    const schema = { type: 'string', format: 'binary' };
    const description = 'Bytes of the file, as many as the sender likes to send in one request.';
    return { requestBody: { required: false, description, content: { [route.bytesType]: { schema } } } };
  }
  if (route.body === null) return {};
  const type = route.bodyKind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  return { requestBody: { required: !route.bodyOptional, content: { [type]: { schema: referring(route.body) } } } };
}

function needs({ identity, device, scope }: Route): string {
  if (identity === 'public') return 'Public.';
  const parts = ['Needs an identity'];
  if (device === 'required') parts.push('with a device');
  if (scope === 'full') parts.push('of full scope');
  if (scope === 'own') parts.push('of full scope, or a guest who acts on its own device');
  return `${parts.join(', ')}.`;
}

function rateOf({ rate }: Route): string {
  if (rate === null) return '';
  const { limit, windowSeconds, by } = RATES[rate];
  return ` At most ${limit} in ${windowSeconds} s for one ${by} (group \`${rate}\`).`;
}

/** Returns one row of the route table as an operation. */
export const operationOf = (name: string, route: Route, tag: string): Json => ({
  operationId: name,
  tags: [tag],
  summary: route.summary,
  description: `${needs(route)}${rateOf(route)}`,
  security: securityOf(name, route),
  parameters: parametersOf(route),
  ...bodyOf(route),
  responses: responsesOf(route),
  'x-baton-identity': route.identity,
  'x-baton-device': route.device,
  'x-baton-scope': route.scope,
  'x-baton-same-origin': route.sameOrigin,
  'x-baton-cors': route.cors,
  'x-baton-rate': route.rate === null ? null : { group: route.rate, ...RATES[route.rate] },
  ...(route.body && { 'x-baton-body-limit-bytes': route.bodyLimitBytes }),
});
