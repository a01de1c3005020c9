import type { RouteName } from '../../../shared/contract/routes.ts';
import { makeDevice, randomUser } from '../../support/device.ts';
import { type LoneApp, startLoneApp } from '../../support/lone-app.ts';
import { routeOf, routesWhere, expectRight, SAMPLES, sampleRequest } from '../../support/samples.ts';
import { type Site, startSite } from '../../support/site.ts';
import { picture } from '../../support/redis/stored.ts';
import { expectProblem, request, type WireAnswer, type WireRequest } from '../../support/wire.ts';

/*
 * These tests are made from the route table. Every route that takes a body gets every kind of bad one. It must refuse
 * the body with a problem that names the field, with a status below 500 and without a trace in the store. The refusal
 * comes before any module is reached. Each test checks that no handler was called, and one test for every route checks
 * that the store is untouched.
 */

const user = randomUser();
const own = makeDevice({ user, name: 'Laptop' });
const other = makeDevice({ user, name: 'Phone' });
/** A device of another account, which is erased. */
const erased = makeDevice({ user: randomUser() });
const scene = { own, other };

let site: Site;
let app: LoneApp;
beforeAll(async () => {
  [site, app] = await Promise.all([startSite({}, { alone: true }), startLoneApp()]);
  await Promise.all([own, other, erased].map((device) => device.on(site.one).call('getMe')));
});
afterAll(() => Promise.all([site.stop(), app.stop()]));

interface Schema {
  type?: string;
  anyOf?: Schema[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
}

const bodyOf = (name: RouteName): Schema => routeOf(name).body as Schema;
const goodBody = (name: RouteName): Record<string, unknown> => SAMPLES[name](scene).body ?? {};
const takers = routesWhere(({ body, bodyKind }) => body !== null && bodyKind === 'json');

const ONE_OF_EACH_TYPE: Readonly<Record<string, unknown>> = {
  null: null,
  boolean: true,
  integer: 7,
  number: 7.5,
  string: 'text',
  array: [],
  object: {},
};

/** Returns the JSON types that a field allows; empty: any. */
const allowedTypes = ({ type, anyOf, enum: values }: Schema): string[] => {
  if (anyOf) return anyOf.flatMap(allowedTypes);
  if (type) return type === 'number' ? ['number', 'integer'] : [type];
  return (values ?? []).map((value) => (value === null ? 'null' : typeof value));
};

/** Every field of every body, with a value of every type that it does not allow. */
const wrongTypes = takers.flatMap((name) =>
  Object.entries(bodyOf(name).properties ?? {}).flatMap(([field, schema]) => {
    const allowed = allowedTypes(schema);
    const wrong = allowed.length === 0 ? [] : Object.keys(ONE_OF_EACH_TYPE).filter((type) => !allowed.includes(type));
    return wrong.map((type) => [name, field, type] as const);
  }),
);

const requiredFields = takers.flatMap((name) => (bodyOf(name).required ?? []).map((field) => [name, field] as const));

const textFields = takers.flatMap((name) =>
  Object.entries(bodyOf(name).properties ?? {})
    .filter(([, schema]) => allowedTypes(schema).includes('string'))
    // Sealed content for a receiver of files may be longer (test/transfers/records.test.ts).
    .filter(([field]) => !(name === 'initTransfer' && field === 'sealed'))
    .map(([field]) => [name, field] as const),
);

/** Sends the request of a route with this change in place of its body. */
function sendTo(target: { url: string }, name: RouteName, change: Partial<WireRequest>): Promise<WireAnswer> {
  const { headers, ...rest } = change;
  const sender = name === 'eraseAccount' ? erased : own;
  return request(target, { ...sampleRequest(name, scene), headers: { ...sender.headers, ...headers }, ...rest });
}
const send = (name: RouteName, change: Partial<WireRequest>) => sendTo(site.one, name, change);

/** Returns the answer to a refused body, and checks that no handler was reached. */
async function refused(name: RouteName, change: Partial<WireRequest>): Promise<WireAnswer> {
  app.handled();
  const answer = await sendTo(app, name, change);
  expect(app.handled()).toEqual([]);
  return answer;
}

test('every route that takes a body is walked here', () => {
  expect(takers).toEqual(expect.arrayContaining(['sendMessage', 'setClipboard', 'renameDevice', 'ackMessages']));
  expect(takers.filter((name) => bodyOf(name).type !== 'object')).toEqual([]);
});

test.each(takers)('a replica refuses a bad body of %s, and the store is what it was before', async (name) => {
  const before = await picture(site.redis, site.prefix);
  for (const body of [Buffer.from('[]'), Buffer.from('{"cut":'), Buffer.from([0xff])]) {
    expectProblem(await send(name, { body }), 'invalid_request');
  }
  expectProblem(await send(name, { headers: { 'Content-Type': 'text/plain' } }), 'unsupported_media_type');
  expect(await picture(site.redis, site.prefix, before)).toEqual(before);
});

test.each(takers)('a good body of %s reaches its handler', async (name) => {
  app.handled();
  expect((await sendTo(app, name, {})).status).toBe(204);
  expect(app.handled()).toEqual([name]);
});

test.each(wrongTypes)('%s refuses a %s that is %s, and names it', async (name, field, type) => {
  const body = { ...goodBody(name), [field]: ONE_OF_EACH_TYPE[type] };
  const { errors } = expectProblem(await refused(name, { body }), 'invalid_request');
  expect(errors?.map(({ path }) => path.split('/')[2])).toContain(field);
});

test.each(requiredFields)('%s refuses a body without %s, and names it', async (name, field) => {
  const { [field]: _, ...body } = goodBody(name);
  const { errors } = expectProblem(await refused(name, { body }), 'invalid_request');
  expect(errors).toEqual([{ path: `/body/${field}`, message: 'is required' }]);
});

// Only a module refuses some of these.
test.each(textFields)('%s refuses a %s of 100,000 characters', async (name, field) => {
  const before = await picture(site.redis, site.prefix);
  const answer = await send(name, { body: { ...goodBody(name), [field]: 'x'.repeat(100_000) } });
  expect(await picture(site.redis, site.prefix, before)).toEqual(before);
  expect([400, 413, 415]).toContain(answer.status);
  expectProblem(answer, (answer.body as { code: 'invalid_request' }).code);
});

describe.each(takers)('%s', (name) => {
  const good = (): Record<string, unknown> => goodBody(name);
  const padded = (bytes: number): Buffer => {
    const bare = JSON.stringify({ ...good(), padding: '' });
    return Buffer.from(JSON.stringify({ ...good(), padding: 'x'.repeat(bytes - bare.length) }));
  };

  const needsFields = (bodyOf(name).required ?? []).length > 0;

  test.each(['null', 'true', '7', '"text"', '[]', '[{}]', ...(needsFields ? ['{}'] : [])])(
    'refuses %s as its body',
    async (text) => {
      expectProblem(await refused(name, { body: Buffer.from(text) }), 'invalid_request');
    },
  );

  test.each([
    ['cut off', () => JSON.stringify(good()).slice(0, -1)],
    ['followed by more', () => `${JSON.stringify(good())} {}`],
    ['in single quotes', () => JSON.stringify(good()).replaceAll('"', "'")],
    ['with a comma at the end', () => `${JSON.stringify(good()).slice(0, -1)},}`],
    ['of words that only JavaScript knows', () => '{"content":NaN,"name":undefined}'],
    ['behind a byte order mark', () => `\ufeff${JSON.stringify(good())}`],
    ['of a million brackets', () => '['.repeat(100_000)],
  ])('refuses JSON that is %s', async (_, text) => {
    expectProblem(await refused(name, { body: Buffer.from(text()) }), 'invalid_request');
  });

  test.each([
    ['a stray byte', [0xff]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['half a character', [0xc3]],
    ['an overlong slash', [0xc0, 0xaf]],
  ])('refuses text with %s: it is not UTF-8', async (_, bytes) => {
    const [start, end] = JSON.stringify({ ...good(), padding: '|' }).split('|') as [string, string];
    const body = Buffer.concat([Buffer.from(start), Buffer.from(bytes), Buffer.from(end)]);
    const { detail } = expectProblem(await refused(name, { body }), 'invalid_request');
    expect(detail).toBe('The body is not UTF-8');
  });

  const isOptional = routeOf(name).bodyOptional;

  if (!isOptional)
    test('refuses a request without a body, of whatever kind', async () => {
      for (const headers of [{}, { 'Content-Length': '0' }, { 'Content-Type': 'application/json' }]) {
        expectProblem(await refused(name, { body: undefined, headers }), 'invalid_request');
      }
      expectProblem(await refused(name, { body: Buffer.alloc(0), chunked: true }), 'invalid_request');
    });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=iso-8859-1',
    'application/json-patch+json',
    'json',
    '',
  ])('refuses its body as "%s"', async (type) => {
    const answer = await refused(name, { headers: { 'Content-Type': type } });
    expectProblem(answer, 'unsupported_media_type');
  });

  test('refuses a compressed body, because sizes are bytes as received', async () => {
    const answer = await refused(name, { headers: { 'Content-Encoding': 'gzip' } });
    expectProblem(answer, 'unsupported_media_type');
  });

  test('takes a body of exactly its limit', async () => {
    expectRight(name, await send(name, { body: padded(routeOf(name).bodyLimitBytes) }), scene);
  });

  test.each([
    ['that says so', false],
    ['that comes in chunks', true],
  ])('refuses a body of one byte more %s', async (_, chunked) => {
    const { bodyLimitBytes } = routeOf(name);
    const answer = await refused(name, { body: padded(bodyLimitBytes + 1), chunked });
    expect(expectProblem(answer, 'body_too_large').detail).toContain(String(bodyLimitBytes));
  });

  test('ignores fields that it does not know, so that newer clients are served', async () => {
    const extra = { sent_by: 'a newer client', nested: { a: [1, { b: null }] }, constructor: 'x', toString: 1 };
    expectRight(name, await send(name, { body: { ...good(), ...extra } }), scene);
  });

  test('refuses a field that is nested 10,000 deep, also one that it does not know', async () => {
    const deep = `${'[{"a":'.repeat(5_000)}1${'}]'.repeat(5_000)}`;
    const body = Buffer.from(`${JSON.stringify(good()).slice(0, -1)},"deep":${deep}}`);
    expectProblem(await refused(name, { body }), 'invalid_request');
  });

  if (needsFields)
    test('takes no field from a prototype', async () => {
      for (const field of ['__proto__', 'constructor', 'prototype']) {
        const body = Buffer.from(`{"${field}":${JSON.stringify(good())}}`);
        expectProblem(await refused(name, { body }), 'invalid_request');
      }
    });

  test('lets nobody change what objects inherit', async () => {
    const evil = Buffer.from(`${JSON.stringify(good()).slice(0, -1)},"__proto__":{"content":7,"name":7}}`);
    expectRight(name, await send(name, { body: evil }), scene);
    expectRight(name, await send(name, {}), scene);
  });
});
