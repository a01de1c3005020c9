import { ERRORS, type ErrorCode } from '../../shared/contract/errors.ts';
import { EVENTS } from '../../shared/contract/events.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { expectRight, ROUTE_NAMES, routeOf, sampleRequest, senderOf } from '../support/samples.ts';
import { type Site, startSite } from '../support/site.ts';
import { serviceSources, wordsIn } from '../support/sources.ts';
import { request } from '../support/wire.ts';

/*
 * Every route, event and error code of the contract is served, sent or raised, and the other way round.
 */

const sources = serviceSources();
const lua = sources.filter(({ path }) => path.endsWith('.lua'));
const typescript = sources.filter(({ path }) => path.endsWith('.ts'));

describe('routes', () => {
  const user = randomUser();
  const own = makeDevice({ user, name: 'Laptop' });
  const other = makeDevice({ user, name: 'Phone' });
  let site: Site;
  beforeAll(async () => {
    site = await startSite({}, { alone: true });
    await Promise.all([own, other].map((device) => device.on(site.one).call('getMe')));
  });
  afterAll(() => site.stop());

  test.each(ROUTE_NAMES)('%s is served with an answer of its row', async (name) => {
    const sample = sampleRequest(name, { own, other });
    const answer = await request(site.one, {
      ...sample,
      headers: { ...sample.headers, ...senderOf(name, own).headers },
    });
    const { status, headers, text } = answer;
    expectRight(name, answer, { own, other });
    if (status >= 400) return;
    const { answers } = routeOf(name);
    expect(Object.keys(answers).map(Number)).toContain(status);
    const expected = answers[status];
    const type = typeof expected === 'string' ? expected : 'application/json';
    expect(headers['content-type'] ?? '').toMatch(expected === null ? /^$/ : new RegExp(`^${type}(; charset=utf-8)?$`));
    if (expected === null) expect(text).toBe('');
  });

  test('the document that clients are made from has exactly the routes of the table', async () => {
    const { paths } = (await request(site.one, { path: '/api/openapi.json' })).body as {
      paths: Record<string, object>;
    };
    const documented = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented.sort()).toEqual(
      ROUTE_NAMES.map((name) => `${routeOf(name).method} ${routeOf(name).path}`).sort(),
    );
  });

  test('the document has every event beside the routes, and the readable page every error', async () => {
    const { webhooks } = (await request(site.one, { path: '/api/openapi.json' })).body as { webhooks: object };
    const { text } = await request(site.one, { path: '/api/docs' });
    expect(Object.keys(webhooks).sort()).toEqual(Object.keys(EVENTS).sort());
    expect(Object.keys(ERRORS).filter((code) => !text.includes(`id="error-${code}"`))).toEqual([]);
  });

  test('a replica without its packages has every file of the readable page, to be kept for ever', async () => {
    const { text } = await request(site.one, { path: '/api/docs' });
    const files = [...text.matchAll(/"(\/reference\/[^"]+)"/g)].map(([, path]) => String(path));
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const path of files) {
      const { status, headers } = await request(site.one, { path });
      expect({ status, kept: headers['cache-control'] }).toEqual({
        status: 200,
        kept: 'public, max-age=31536000, immutable',
      });
    }
  });

  test('no file mounts a route beside the table', () => {
    const mounting = /\b(?:app|router|server)\.(?:get|post|put|patch|delete|all|options|head|route)\(\s*['"`/]/;
    const files = typescript.filter(({ text }) => mounting.test(text)).map(({ path }) => path);
    expect(files.filter((path) => path.startsWith('sync/'))).toEqual([]);
  });
});

describe('events', () => {
  /**
   * In TypeScript: `frame('<name>'` and the text of the last frame. In Lua: the argument of an append, or of an
   * announcement that is not logged.
   */
  const written = wordsIn(typescript, /\bframe\(\s*'([^']+)'/g);
  const spelled = wordsIn(typescript, /event: ([a-z:]+)\\n/g);
  const appended = wordsIn(lua, /\bappend(?:_and_notify)?\([^'"]*?, '([^'"]+)'/g);
  const unlogged = wordsIn(lua, /\bBUS\.unlogged, [^']*'([^']+)'/g);
  const emitted = new Set([...written, ...spelled, ...appended, ...unlogged]);

  test.each(Object.keys(EVENTS))('%s of the catalogue is sent by somebody', (name) => {
    expect([...emitted]).toContain(name);
  });

  test('nothing is sent that the catalogue does not have', () => {
    expect([...emitted].filter((name) => !Object.hasOwn(EVENTS, name))).toEqual([]);
  });
});

describe('error codes', () => {
  /** Codes that no replica raises yet. If you raise one, take it off the list. */
  const LATER: readonly ErrorCode[] = [];

  /** Files that describe errors and raise none. */
  const TELLING = [
    'sync/http/documents/route-errors.ts',
    'sync/http/documents/openapi/answers.ts',
    'sync/http/documents/reference/page.ts',
  ];
  const raising = sources.filter(({ path }) => /^(sync|service-kit)\//.test(path) && !TELLING.includes(path));
  /** Literals, except those in comparisons. */
  const literals = wordsIn(raising, /(?<!===? |!==? |~= )'([a-z_]+)'/g);
  const raised = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => literals.has(code));

  test.each(Object.keys(ERRORS) as ErrorCode[])(
    '%s is raised by the replica, or is on the list of what is to come',
    (code) => {
      expect({ code, raised: raised.includes(code) }).toEqual({ code, raised: !LATER.includes(code) });
    },
  );

  test('no code is raised that the registry does not have', () => {
    const thrown = wordsIn(typescript, /new BatonError\(\s*'([^']+)'/g);
    const refused = wordsIn(lua, /\b(?:answer\(\{|return \{|return nil,) '([a-z_]+)'/g);
    const words = [...thrown, ...refused].filter((word) => word !== 'OK');
    expect(words).toEqual(
      expect.arrayContaining(['not_found', 'idempotency_key_reused', 'rate_limited', 'empty_message']),
    );
    expect(words.filter((word) => !Object.hasOwn(ERRORS, word))).toEqual([]);
  });
});
