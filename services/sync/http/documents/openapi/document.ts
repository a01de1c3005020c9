import { clipboardRoutes } from '../../../../../shared/contract/modules/clipboard.ts';
import { deviceRoutes } from '../../../../../shared/contract/modules/devices.ts';
import { ERRORS } from '../../../../../shared/contract/errors.ts';
import type { EventSpec } from '../../../../../shared/contract/vocabulary/event.ts';
import { EVENTS } from '../../../../../shared/contract/events.ts';
import { identityRoutes } from '../../../../../shared/contract/modules/identity.ts';
import { messageRoutes } from '../../../../../shared/contract/modules/messages.ts';
import { presenceRoutes } from '../../../../../shared/contract/modules/presence.ts';
import { pushRoutes } from '../../../../../shared/contract/modules/push.ts';
import { relayRoutes } from '../../../../../shared/contract/modules/relay.ts';
import type { Route } from '../../../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../../../shared/contract/routes.ts';
import { sessionRoutes } from '../../../../../shared/contract/modules/sessions.ts';
import { signalRoutes } from '../../../../../shared/contract/modules/signal.ts';
import { signinRoutes } from '../../../../../shared/contract/modules/signin.ts';
import { streamRoutes } from '../../../../../shared/contract/modules/stream.ts';
import { transferRoutes } from '../../../../../shared/contract/modules/transfers.ts';
import { answerHeaders, problemExamples, sharedResponses } from './answers.ts';
import { operationOf } from './operation.ts';
import { type Json, namedSchemas, referring } from './schemas.ts';
import { SECURITY_SCHEMES } from './security.ts';

const EVENTS_TAG = 'Events';

/** Routes in none of the others describe the service itself. */
const TAGS: readonly { name: string; description: string; routes?: Readonly<Record<string, Route>> }[] = [
  {
    name: 'Sign-in by QR',
    description: 'A new device shows a code, a device of the account approves it.',
    routes: signinRoutes,
  },
  {
    name: 'Sessions',
    description: 'Who is asking, and the sessions of the account.',
    routes: { ...identityRoutes, ...sessionRoutes },
  },
  { name: 'Devices', description: 'The devices of the account and their names.', routes: deviceRoutes },
  {
    name: 'Hub',
    description: 'The event stream, presence, and signals between two devices.',
    routes: { ...streamRoutes, ...presenceRoutes, ...signalRoutes },
  },
  { name: 'Messages', description: 'Short texts, kept until they are acknowledged.', routes: messageRoutes },
  { name: 'Clipboard', description: 'One clipboard for the account, for a few minutes.', routes: clipboardRoutes },
  {
    name: 'Transfers',
    description: 'Which files go from which device to which, and how far they have come.',
    routes: transferRoutes,
  },
  {
    name: 'Relay',
    description:
      'The bytes of files between two devices that find no other way: resumable uploads (draft-ietf-httpbis-resumable-upload) and downloads.',
    routes: relayRoutes,
  },
  { name: 'Push', description: 'Waking devices that have no stream.', routes: pushRoutes },
  { name: 'Service', description: 'What the service says about itself.' },
  { name: EVENTS_TAG, description: 'What `GET /api/hub/events` carries.' },
];

const tagOf = (name: string): string =>
  TAGS.find(({ routes }) => routes && Object.hasOwn(routes, name))?.name ?? 'Service';

function paths(): Json {
  const byPath: Record<string, Json> = {};
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    byPath[route.path] = { ...byPath[route.path], [route.method.toLowerCase()]: operationOf(name, route, tagOf(name)) };
  }
  return byPath;
}

const IDS = {
  always: 'Carries an `id`: its position.',
  sometimes: 'Carries an `id`, its position, at times.',
  never: 'Carries no `id`.',
} as const;

/**
 * An event in terms of OpenAPI, as something that the service sends by itself. It does not come as a request: its name is
 * in `event:` of the stream, and what is called the body here is in `data:`.
 */
const webhookOf = (name: string, { summary, data, id }: EventSpec): Json => ({
  post: {
    operationId: `event:${name}`,
    tags: [EVENTS_TAG],
    summary,
    description: `An event of \`GET /api/hub/events\`, not a request: \`event: ${name}\`, and this as \`data\`. ${IDS[id]}`,
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: referring(data) } } },
    responses: { default: { description: 'None: events are not answered.' } },
    'x-baton-id': id,
  },
});

const INFO = {
  title: 'Baton',
  version: '1',
  summary: 'Links the devices of one account.',
  description: [
    'Presence, messages, one clipboard, files, push and sign-in by QR. Changes inside version 1 only add: ignore what you do not know.',
    'Times are Unix milliseconds. Refusals are problem documents (RFC 9457), of which `code` is the stable part; `Retry-After` goes with 429 and 503.',
    'What the event stream carries stands under *Webhooks*: they are events of `GET /api/hub/events`, and nobody is called.',
  ].join('\n\n'),
  license: { name: 'MIT', identifier: 'MIT' },
};

/** The contract as an OpenAPI 3.1 document, made from the route table, the event catalogue and the error registry. */
export const openApiDocument = (): Json => ({
  openapi: '3.1.0',
  info: INFO,
  servers: [{ url: '/', description: 'Wherever this document comes from.' }],
  tags: TAGS.map(({ name, description }) => ({ name, description })),
  paths: paths(),
  webhooks: Object.fromEntries(Object.entries<EventSpec>(EVENTS).map(([name, spec]) => [name, webhookOf(name, spec)])),
  components: {
    schemas: namedSchemas(),
    headers: answerHeaders(),
    responses: sharedResponses(),
    examples: problemExamples(),
    securitySchemes: SECURITY_SCHEMES,
  },
  'x-events': Object.fromEntries(
    Object.entries<EventSpec>(EVENTS).map(([name, { summary, data, id }]) => [
      name,
      { summary, id, data: referring(data) },
    ]),
  ),
  'x-errors': ERRORS,
});
