import request from 'supertest';
import { docsPage } from '../../../services/sync/http/docs-page.ts';
import { openApiDocument } from '../../../services/sync/http/openapi.ts';
import { ERRORS } from '../../../shared/contract/errors.ts';
import { EVENTS } from '../../../shared/contract/events.ts';
import type { Route } from '../../../shared/contract/route.ts';
import { ROUTES } from '../../../shared/contract/routes.ts';
import { publicApp } from './public-app.ts';

interface Operation {
  operationId: string;
  responses: Record<string, { 'x-baton-codes'?: string[] }>;
  parameters: { name: string; in: string; required: boolean }[];
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  'x-events': Record<string, unknown>;
  'x-errors': Record<string, unknown>;
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as Document;
const operation = (route: Route): Operation | undefined => document.paths[route.path]?.[route.method.toLowerCase()];
const page = docsPage();
const rows = Object.entries<Route>(ROUTES);

describe('the OpenAPI document', () => {
  test('has exactly the routes of the route table', () => {
    const documented = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(documented.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(ROUTES).sort());
  });

  test.each(rows)('tells the answers and the errors of %s', (_, route) => {
    const responses = operation(route)?.responses ?? {};
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(Object.keys(route.answers)));
    const codes = Object.values(responses).flatMap((response) => response['x-baton-codes'] ?? []);
    expect(codes).toEqual(expect.arrayContaining(['internal', ...route.errors]));
  });

  test('has exactly the events of the catalogue and the codes of the registry', () => {
    expect(Object.keys(document['x-events']).sort()).toEqual(Object.keys(EVENTS).sort());
    expect(Object.keys(document['x-errors']).sort()).toEqual(Object.keys(ERRORS).sort());
  });

  test('names the parameters in paths, queries and headers', () => {
    expect(operation(ROUTES.renameDevice)?.parameters).toMatchObject([
      { name: 'device_id', in: 'path', required: true },
    ]);
    expect(operation(ROUTES.openStream)?.parameters.map(({ name }) => name)).toEqual([
      'last_event_id',
      'name',
      'Last-Event-ID',
    ]);
    expect(operation(ROUTES.sendMessage)?.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header' }]);
    expect(operation(ROUTES.pollLogin)?.parameters.map(({ name }) => name)).toEqual([
      ...['request_id', 'wait_ms', 'X-Poll-Secret'],
    ]);
  });

  test('never lets a stream answer that the store or the replica is busy', () => {
    expect(Object.keys(operation(ROUTES.openStream)?.responses ?? {})).not.toContain('503');
  });
});

describe('the readable page', () => {
  test.each(rows)('has a section on %s', (name, route) => {
    expect(page).toContain(`id="route-${name}"`);
    expect(page).toContain(`${route.method} ${route.path}`);
  });

  test.each(Object.keys(EVENTS))('has a section on the event %s', (name) => {
    expect(page).toContain(`id="event-${name}"`);
  });

  test.each(Object.keys(ERRORS))('has a row for the code %s', (code) => {
    expect(page).toContain(`id="error-${code}"`);
  });

  test('has no broken link to a code', () => {
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.filter((id) => !page.includes(`id="${id}"`))).toEqual([]);
  });
});

describe('the route table', () => {
  test.each(rows)('%s has a schema for each parameter of its path, and no other', (_, route) => {
    const named = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));
    expect(Object.keys(route.params?.properties ?? {}).sort()).toEqual(named.sort());
  });

  test('lets a guest act on its own device only where the path names one', () => {
    const own = rows.filter(([, { scope, path }]) => scope === 'own' && !path.includes('{device_id}'));
    expect(own).toEqual([]);
  });

  test('checks the origin of every write', () => {
    expect(rows.filter(([, { method, sameOrigin }]) => !['GET', 'HEAD'].includes(method) && !sameOrigin)).toEqual([]);
  });
});

describe('served', () => {
  test.each(['/', '/api/docs'])('%s is a page without script and without anything from elsewhere', async (path) => {
    const { text, headers } = await request(publicApp().app)
      .get(path)
      .expect('Content-Type', 'text/html; charset=utf-8');
    expect(text).not.toMatch(/<script|\bsrc=|href="http|url\(|\son\w+=|style="/);
    const hash = /'(sha256-[^']+)'/.exec(String(headers['content-security-policy']))?.[1];
    expect(hash).toBe(`sha256-${await styleHash(text)}`);
  });

  test('the home page leads to both documents', async () => {
    const { app } = publicApp();
    const { text } = await request(app).get('/');
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, link]) => String(link));
    expect(links).toEqual(['/api/docs', '/api/openapi.json']);
    for (const link of links) await request(app).get(link).expect(200);
  });

  test('the document is JSON, also for HEAD', async () => {
    const { app } = publicApp();
    const answer = await request(app)
      .get('/api/openapi.json')
      .expect('Content-Type', /^application\/json/);
    expect((answer.body as Document).openapi).toBe('3.1.0');
    await request(app).head('/api/openapi.json').expect(200);
  });

  test.each([
    ['ok', 200],
    ['draining', 503],
    ['store_unavailable', 503],
  ] as const)('a replica that is %s answers /healthz with %d', async (health, status) => {
    await request(publicApp({ health }).app).get('/healthz').expect(status);
  });
});

async function styleHash(html: string): Promise<string> {
  const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? '';
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style));
  return Buffer.from(bytes).toString('base64');
}
