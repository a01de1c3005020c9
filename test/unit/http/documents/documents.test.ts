import request from 'supertest';
import { openApiDocument } from '../../../../services/sync/http/documents/openapi/document.ts';
import { findFileFlaws } from '../../../../services/sync/transfers/file-names.ts';
import { ERRORS } from '../../../../shared/contract/errors.ts';
import { EVENTS } from '../../../../shared/contract/events.ts';
import { parseDeviceName } from '../../../../shared/contract/vocabulary/fields.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../../shared/contract/routes.ts';
import { page } from '../../../../shared/service-kit/http/page.ts';
import { publicApp } from '../public-app.ts';

interface Operation {
  operationId: string;
  responses: Record<string, { description: string; headers?: object; 'x-baton-codes'?: string[] }>;
  parameters: { name: string; in: string; required: boolean }[];
  requestBody?: { content: object };
  tags?: string[];
  security?: object[];
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string }[];
  components: { schemas: Record<string, { pattern?: string }>; securitySchemes: object };
  'x-events': Record<string, unknown>;
  'x-errors': Record<string, unknown>;
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as Document;
const operation = (route: Route): Operation | undefined => document.paths[route.path]?.[route.method.toLowerCase()];
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

describe('what the document says of a route', () => {
  const answer = (route: Route, status: number) => operation(route)?.responses[status];
  const headers = (route: Route, status: number) => Object.keys(answer(route, status)?.headers ?? {});

  test('an upload has a body of bytes, and says how far it came', () => {
    expect(operation(ROUTES.appendUpload)?.requestBody?.content).toEqual({
      'application/partial-upload': { schema: { type: 'string', format: 'binary' } },
    });
    expect(operation(ROUTES.appendUpload)?.parameters).toContainEqual(
      expect.objectContaining({ name: 'Upload-Offset', in: 'header', required: true }),
    );
    expect(headers(ROUTES.appendUpload, 204)).toEqual(expect.arrayContaining(['Upload-Offset', 'Upload-Complete']));
    expect(headers(ROUTES.headUpload, 204)).toContain('Upload-Length');
    expect(headers(ROUTES.appendUpload, 409)).toContain('Upload-Offset');
  });

  test('a refusal that ends says when', () => {
    expect(headers(ROUTES.sendMessage, 429)).toEqual(
      expect.arrayContaining(['Retry-After', 'RateLimit', 'RateLimit-Policy']),
    );
    expect(headers(ROUTES.sendMessage, 503)).toContain('Retry-After');
  });

  test('who is sent elsewhere has not succeeded, and is told where', () => {
    for (const route of [ROUTES.logIn, ROUTES.openLink]) {
      expect(answer(route, 302)?.description).not.toMatch(/^(Success|Done)/);
      expect(headers(route, 302)).toContain('Location');
    }
    expect(answer(ROUTES.openLink, 401)).toBeUndefined();
  });

  test.each(rows)('%s can be asked by another method, or with too many headers', (_, route) => {
    expect(answer(route, 405)).toEqual({ $ref: '#/components/responses/MethodNotAllowed' });
    expect(answer(route, 431)).toEqual({ $ref: '#/components/responses/HeadTooLong' });
  });

  test.each(rows)('%s has a tag of the list, and a scheme for each way to say who asks', (_, route) => {
    const { tags = [], security = [] } = operation(route) ?? {};
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining(tags));
    expect(tags).toHaveLength(1);
    const schemes = Object.keys(document.components.securitySchemes);
    const named = security.flatMap((each) => Object.keys(each));
    expect(schemes).toEqual(expect.arrayContaining(named));
    if (route.identity === 'caller') expect(named).toEqual(expect.arrayContaining(['accessToken', 'sessionCookie']));
  });

  test.each([
    ['Phone', true],
    [' Phone ', true],
    ['x'.repeat(32), true],
    ['x'.repeat(33), false],
    ['*', false],
    [' * ', false],
    ['', false],
    ['Küche', false],
  ])('the bounds of a device name are those of its rule: "%s"', (name, isOne) => {
    const { pattern = '' } = document.components.schemas['DeviceNameInput'] ?? {};
    expect([new RegExp(pattern, 'u').test(name), parseDeviceName(name) !== null]).toEqual([isOne, isOne]);
  });

  test.each([
    ['photos/beach.jpg', true],
    ['.profile', true],
    ['..a/...', true],
    ['a/../b', false],
    ['./a', false],
    ['/a', false],
    ['a//b', false],
    ['a\\b', false],
    ['a\u202eb', false],
    ['a\u061cb', false],
    ['a\u200eb', false],
    ['a\u200fb', false],
    ['a\u200db', true],
    ['x'.repeat(255), true],
    ['x'.repeat(256), false],
  ])('the bounds of a file name are those of its rule: "%s"', (name, isOne) => {
    const { pattern = '' } = document.components.schemas['FileName'] ?? {};
    expect([new RegExp(pattern, 'u').test(name), findFileFlaws([{ name, size: 1 }]).length === 0]).toEqual([
      isOne,
      isOne,
    ]);
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

  test('checks the origin of every write; what the share sheet posts is not read', () => {
    const unchecked = rows.filter(([, { method, sameOrigin }]) => !['GET', 'HEAD'].includes(method) && !sameOrigin);
    expect(unchecked.map(([name, { body, bytes, identity }]) => ({ name, body, bytes, identity }))).toEqual([
      { name: 'postShare', body: null, bytes: false, identity: 'public' },
    ]);
  });
});

describe('served', () => {
  test('a page without script has the one style that the policy lets in', async () => {
    const { headers } = await request(publicApp().app).get('/api/docs').expect(200);
    const hash = /'(sha256-[^']+)'/.exec(String(headers['content-security-policy']))?.[1];
    expect(hash).toBe(`sha256-${await styleHash(page('Title', '<p>Text</p>'))}`);
  });

  test('the readable page has its script and style in files of its own', async () => {
    const { app } = publicApp();
    const { text, headers } = await request(app).get('/api/docs').expect(200);
    expect(text).not.toMatch(/<style|style="|\son\w+=|<script>|(src|href)="(http|\/\/)/);
    expect(headers['content-security-policy']).not.toMatch(/unsafe|data:|nonce|http/);
    const files = [...text.matchAll(/(?:src|href)="(\/reference\/[^"]+)"/g)].map(([, path]) => String(path));
    expect(files.map((path) => path.replace(/-[0-9a-f]{12}/, ''))).toEqual(
      ['swagger-ui.css', 'page.css', 'swagger-ui-bundle.js', 'start.js', 'license.txt'].map(
        (name) => `/reference/${name}`,
      ),
    );
    const style = await request(app).get(String(files[0])).expect('Content-Type', 'text/css; charset=utf-8');
    expect(style.text).not.toContain('data:');
    const pictures = [...style.text.matchAll(/url\(([^)]+)\)/g)].map(([, name]) => `/reference/${name}`);
    expect(pictures.length).toBeGreaterThan(0);
    for (const path of pictures)
      await request(app)
        .get(path)
        .expect(200)
        .expect('Content-Type', /^image\//);
  });

  test('a file of that page may be kept for ever, and comes compressed to whoever takes that', async () => {
    const { app } = publicApp();
    const { text } = await request(app).get('/api/docs');
    const path = String(/src="([^"]+)"/.exec(text)?.[1]);
    const zipped = await request(app).get(path).set('Accept-Encoding', 'gzip').expect(200);
    const plain = await request(app).get(path).set('Accept-Encoding', 'identity').expect(200);
    expect(zipped.headers).toMatchObject({
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(Number(zipped.headers['content-length'])).toBeLessThan(Number(plain.headers['content-length']) / 3);
    expect(zipped.text).toBe(plain.text);
    await request(app).head(path).expect(200);
  });

  test.each(['files.json', 'names.json', 'none.js', '..%2f..%2freplica.js', '%2e%2e'])(
    '%s is no file of that page',
    async (name) => {
      await request(publicApp().app).get(`/reference/${name}`).expect(404);
    },
  );

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
