import { ERRORS } from '../../../shared/contract/errors.ts';
import type { EventSpec } from '../../../shared/contract/event.ts';
import { EVENTS } from '../../../shared/contract/events.ts';
import { RATES } from '../../../shared/contract/rates.ts';
import type { Route } from '../../../shared/contract/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { escapeHtml as text, page } from './page.ts';
import { errorsOf } from './route-errors.ts';

const code = (word: string): string => `<code>${text(word)}</code>`;
const schema = (value: unknown): string => `<pre>${text(JSON.stringify(value, null, 2))}</pre>`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const cells = (tag: 'th' | 'td', row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>${cells('th', head)}${rows.map((row) => cells('td', row)).join('\n')}</table>`;
};
const errorLink = (name: string): string => `<a href="#error-${name}">${code(name)}</a>`;

function needs(route: Route): string {
  if (route.identity === 'public') return 'Public.';
  const parts = ['Needs an identity'];
  if (route.device === 'required') parts.push('with a device');
  if (route.scope === 'full') parts.push('of full scope');
  if (route.scope === 'own') parts.push('of full scope, or a guest acting on its own device');
  return `${parts.join(', ')}.`;
}

function rate(route: Route): string {
  if (route.rate === null) return '';
  const { limit, windowSeconds, by } = RATES[route.rate];
  return ` At most ${limit} in ${windowSeconds} s for one ${by} (group ${code(route.rate)}).`;
}

function answer(status: string, body: Route['answers'][number]): string {
  if (body === null || body === undefined) return `<p>${code(status)}, no body.</p>`;
  if (typeof body === 'string') return `<p>${code(status)} ${code(body)}</p>`;
  return `<p>${code(status)}</p>${schema(body)}`;
}

function routeSection([name, route]: [string, Route]): string {
  const parts: [string, unknown][] = [
    ['Path', route.params],
    ['Query', route.query],
    ['Body', route.body],
  ];
  const request = parts.map(([title, value]) => (value === null ? '' : `<p>${title}</p>${schema(value)}`));
  const keyed = route.idempotent ? ` Honours ${code('Idempotency-Key')}.` : '';
  return [
    `<h3 id="route-${text(name)}">${code(`${route.method} ${route.path}`)}</h3>`,
    `<p>${text(route.summary)}. ${needs(route)}${rate(route)}${keyed}</p>`,
    ...request,
    ...Object.entries(route.answers).map(([status, body]) => answer(status, body)),
    `<p>Errors: ${errorsOf(route).map(errorLink).join(', ')}</p>`,
  ].join('\n');
}

const eventSection = ([name, { summary, data, id }]: [string, EventSpec]): string =>
  `<h3 id="event-${text(name)}">${code(name)}</h3>\n<p>${text(summary)}. Carries an id: ${id}.</p>\n${schema(data)}`;

const RETRY = { never: 'no', later: 'later', refresh: 'after signing in again' } as const;

const errorRows = (): string[][] =>
  Object.entries(ERRORS).map(([name, { status, title, retry }]) => [
    `<span id="error-${name}">${code(name)}</span>`,
    String(status),
    text(title),
    RETRY[retry],
  ]);

/** The contract as a page to read, from the same tables as the OpenAPI document. */
export const docsPage = (): string =>
  page(
    'Baton: the wire contract',
    [
      '<h1>Baton: the wire contract</h1>',
      '<p>Version 1. Made from the tables that the service itself runs on; for programs:',
      '<a href="/api/openapi.json">openapi.json</a>.</p>',
      '<p><a href="#routes">Routes</a> · <a href="#events">Events</a> · <a href="#errors">Errors</a></p>',
      '<h2 id="routes">Routes</h2>',
      ...Object.entries<Route>(ROUTES).map(routeSection),
      '<h2 id="events">Events</h2>',
      `<p>What ${code('GET /api/hub/events')} carries: ${code('event')}, ${code('data')} (one JSON object), and ${code('id')}.</p>`,
      ...Object.entries<EventSpec>(EVENTS).map(eventSection),
      '<h2 id="errors">Errors</h2>',
      `<p>${code('application/problem+json')} (RFC 9457); ${code('code')} is the stable part.</p>`,
      table(['code', 'status', 'meaning', 'try again'], errorRows()),
    ].join('\n'),
  );

/** What a browser finds at `/` as long as there is no web client. */
export const homePage = (): string =>
  page(
    'Baton',
    `<h1>Baton</h1>
<p>Baton links the devices of one account: they see each other come and go, pass messages, and share one clipboard.
Any number of replicas serve one account together, so it does not matter which of them a device is connected to.</p>
<ul>
<li><a href="/api/docs">The wire contract, to read</a></li>
<li><a href="/api/openapi.json">The same as OpenAPI 3.1</a></li>
</ul>`,
  );
