import { makeDevice, randomUser } from '../../support/device.ts';
import { type Site, startSite } from '../../support/site.ts';
import { expectProblem, request } from '../../support/wire.ts';

/* Texts that are valid JSON but odd go through the store and out again on a stream. */

let site: Site;
beforeAll(async () => {
  site = await startSite({}, { alone: true });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const TEXTS = [
  '\ud800',
  'a\udc00b',
  '\u0000',
  '\u2028\u2029',
  '\r\n\r\nevent: message\n',
  '\ufeff',
  '"\\',
  '__proto__',
  '\u{10ffff}',
];

test.each(TEXTS)('%j is taken or refused on every route that takes a text, and never breaks a stream', async (text) => {
  const [sender, receiver] = await site.enrol('Laptop', 'Phone');
  const stream = site.listen(receiver, site.one);
  await stream.next('ready');
  const send = (method: string, path: string, body: object) =>
    request(site.one, { method, path, headers: sender.headers, body });
  const files = [{ name: `a${text}`, size: 1, type: text }];
  const answers = [
    await send('POST', '/api/message', { to: 'Phone', content: `x${text}` }),
    await send('POST', '/api/message', { to: text, content: 'x' }),
    await send('PUT', '/api/clipboard', { content: text, content_type: 'text/plain' }),
    await send('POST', '/api/hub/signal', { to: 'Phone', kind: 'offer', payload: { [text]: [text] } }),
    await send('POST', '/api/transfer/init', { to: 'Phone', files }),
    await send('POST', '/api/transfer/init', { to: 'Phone', files: [{ name: 'a', size: 1 }], sealed: text }),
    await send('PATCH', `/api/devices/${sender.id}`, { name: text }),
    await send('POST', '/api/auth/qr/start', { device_name: text, device_type: 'ios' }),
    await send('POST', '/api/auth/qr/deny', { request_id: text }),
  ];
  for (const answer of answers) expect(answer.status === 503 ? 0 : answer.status).toBeLessThan(500);
  await send('POST', '/api/message', { to: 'Phone', content: 'the end' });
  for (let content = ''; content !== 'the end'; )
    content = ((await stream.next('message')).data as { content: string }).content;
});

test('a signal that nests 5,000 deep is refused, and the next one arrives', async () => {
  const user = randomUser();
  const [one, two] = [makeDevice({ user, name: 'Laptop' }), makeDevice({ user, name: 'Phone' })];
  for (const device of [one, two]) await device.on(site.one).call('getMe');
  const stream = site.listen(two, site.one);
  await stream.next('ready');
  const send = (payload: string) =>
    request(site.one, {
      ...{ method: 'POST', path: '/api/hub/signal', headers: { ...one.headers, 'Content-Type': 'application/json' } },
      body: Buffer.from(`{"to":"Phone","kind":"offer","payload":${payload}}`),
    });
  expectProblem(await send(`${'['.repeat(5_000)}${']'.repeat(5_000)}`), 'invalid_request');
  expect((await send('[[1]]')).status).toBe(202);
  expect((await stream.next('signal')).data).toMatchObject({ payload: [[1]] });
});
