import request from 'supertest';
import { publicApp } from '../public-app.ts';

/* How a replica serves the web app. test/browser shows what the app does. */

const { app } = publicApp();

async function assets(): Promise<string[]> {
  const { text } = await request(app).get('/').expect(200);
  return [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => String(path));
}

test('the page has code, style and pictures in files of this origin, and none of it inline', async () => {
  const { text, headers } = await request(app).get('/').expect('Content-Type', 'text/html; charset=utf-8');
  expect(text).not.toMatch(/<style|style="|\son\w+=|<script>|(src|href)="(http|\/\/|data:)/);
  expect(headers['content-security-policy']).toContain(
    "default-src 'self'; object-src 'none'; script-src 'self'; style-src 'self'",
  );
  expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'; trusted-types baton");
  expect(headers['content-security-policy']).not.toMatch(/unsafe|data:|nonce|sha256|http/);
  const paths = await assets();
  expect(paths.length).toBeGreaterThan(3);
  for (const path of paths) await request(app).get(path).expect(200).expect('X-Content-Type-Options', 'nosniff');
});

test('the page says how one signs in here', async () => {
  const { text } = await request(app).get('/').expect(200);
  expect(text).toContain('<meta name="baton-login" content="development" />');
});

test('each file comes as what it is, is kept for ever, and is smaller for whoever takes that', async () => {
  const [script, style, manifest] = ['.js', '.css', '.webmanifest'].map(async (ending) =>
    String((await assets()).find((path) => path.endsWith(ending) && path !== '/assets/boot.js')),
  );
  await request(app)
    .get(String(await style))
    .expect('Content-Type', 'text/css; charset=utf-8');
  await request(app)
    .get(String(await manifest))
    .expect('Content-Type', 'application/manifest+json; charset=utf-8');
  const sizes: Record<string, number> = {};
  for (const encoding of ['br', 'gzip', 'identity']) {
    const { headers } = await request(app)
      .head(String(await script))
      .set('Accept-Encoding', encoding)
      .expect(200)
      .expect('Content-Type', 'text/javascript; charset=utf-8')
      .expect('Cache-Control', 'public, max-age=31536000, immutable')
      .expect('Vary', 'Accept-Encoding');
    expect(headers['content-encoding'] ?? 'identity').toBe(encoding);
    sizes[encoding] = Number(headers['content-length']);
  }
  expect(sizes.br).toBeLessThan(Number(sizes.gzip));
  expect(sizes.gzip).toBeLessThan(Number(sizes.identity) / 2);
});

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['gzip, br;q=0', 'gzip'],
  ['*', 'br'],
  ['zstd', undefined],
  ['', undefined],
])('who accepts "%s" gets %s, whatever is named first', async (accepted, sent) => {
  const script = String((await assets()).find((path) => path.endsWith('.js') && path !== '/assets/boot.js'));
  const { headers } = await request(app).head(script).set('Accept-Encoding', accepted).expect(200);
  expect(headers['content-encoding']).toBe(sent);
});

test('the page leads to the licences of the packages in it', async () => {
  const page = await request(app).get('/').expect(200);
  const [, path] = /<link rel="license" href="([^"]+)"/.exec(page.text) ?? [];
  const { text } = await request(app).get(String(path)).expect('Content-Type', 'text/plain; charset=utf-8');
  expect(text).toMatch(/^Baton's web app contains these \d+ packages/);
  for (const name of ['preact', 'idb', 'linkify-it']) {
    expect(text).toMatch(new RegExp(`^${name} [\\d.]+ \\([A-Z]+\\)\\n\\n[^]*?Copyright`, 'm'));
  }
});

test('before all else comes the script that every version has under the same name', async () => {
  const { text } = await request(app).get('/').expect(200);
  expect(/<(script|link)[^>]*>/.exec(text)?.[0]).toBe('<script src="/assets/boot.js">');
});

test('where a code leads is the app, for anybody, and a way on for a browser without script', async () => {
  const address = '/link?r=abc&c=def';
  const { text, headers } = await request(app).get(address).expect(200).expect('Cache-Control', 'no-store');
  expect(text).toContain('<noscript>');
  expect(text).toContain('<a href="/link/plain?r=abc&amp;c=def">');
  expect(headers['content-security-policy']).toContain("script-src 'self'");
  expect(headers['referrer-policy']).toBe('strict-origin');
});

test.each(['/link', '/link?r=abc', '/link?r=%22%3E%3Cscript%3E&c=def', '/link?r=%&c=%', '/join?i=abc'])(
  '%s is the page of the app as it stands',
  async (address) => {
    const { text } = await request(app).get('/').expect(200);
    expect((await request(app).get(address).expect(200)).text).toBe(text);
  },
);

test.each(['/', '/sw.js', '/assets/boot.js'])('%s is asked for anew each time', async (path) => {
  await request(app).get(path).expect(200).expect('Cache-Control', 'no-cache');
});

test.each([
  '/assets/none.js',
  '/assets/files.json',
  '/assets/..%2findex.html',
  '/index.html',
  '/manifest.json',
  '/app',
])('%s is nothing of it', async (path) => {
  const { status, headers } = await request(app).get(path);
  expect([400, 404]).toContain(status);
  expect(headers['content-type']).toMatch(/^application\/problem\+json/);
});

test('no cache remembers that a version lacks a file', async () => {
  await request(app).get('/assets/index-00000000.js').expect(404).expect('Cache-Control', 'no-store');
});

test.each([
  ['the share sheet of a system', { Origin: 'null', 'Sec-Fetch-Site': 'none' }],
  ['a form of another site', { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
  ['somebody with a cookie and nothing else', { Cookie: 'session=one' }],
])('what %s posts to a browser without the worker leads to the app, unread', async (_, headers) => {
  await request(app)
    .post('/share')
    .set(headers)
    .attach('files', Buffer.alloc(3_000_000), 'large.bin')
    .field('text', 'hello')
    .expect(303)
    .expect('Location', '/');
});

test('the address of the share sheet leads to the app, and takes no other method', async () => {
  await request(app).get('/share?text=hello').expect(303).expect('Location', '/');
  await request(app).put('/share').expect(405);
});
