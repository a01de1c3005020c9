import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { type BrokerProcess, startBroker, stopBrokers } from '../../broker/support/brokers.ts';
import { serviceOf } from '../../broker/support/service.ts';
import { randomUser } from '../../support/device.ts';
import { type Site, startSite } from '../../support/site.ts';

/* Late headers are checked like the first ones, however many there are. */

const SECRET = randomBytes(24).toString('hex');
const user = randomUser();

let site: Site;
let broker: BrokerProcess;
beforeAll(async () => {
  [site, broker] = await Promise.all([
    startSite({ APP_IDENTITY: 'edge', APP_EDGE_SECRET: SECRET }, { alone: true }),
    startBroker(),
  ]);
});
afterAll(async () => {
  await site.stop();
  await stopBrokers();
});

/**
 * The smallest possible header. There are more of them than servers count by themselves, within the 16 KiB of a head.
 */
const TINY = 'a:\r\n'.repeat(3_000);

/** Sends on a connection of its own, which stays open until the server has answered and closes it. */
async function ask({ url }: { url: string }, path: string, ...headers: string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${headers.join('\r\n')}\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

const trusted = [`X-Edge-Secret: ${SECRET}`, `X-Auth-Subject: ${user}`, 'X-Auth-Scope: guest'];
const TINY_LINES = TINY.slice(0, -2);

test('a request with three thousand headers is answered like any other', async () => {
  expect(await ask(site.one, '/api/me', ...trusted, TINY_LINES)).toMatch(/^HTTP\/1\.1 200 /);
});

test.each(['X-Auth-Scope: full', 'X_Auth_Scope: full', 'x-auth-meta: device-of-somebody\r\nX-Auth-Meta: other-device'])(
  'a second identity header is seen behind three thousand others: %j',
  async (second) => {
    const answer = await ask(site.one, '/api/me', ...trusted, TINY_LINES, second);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"invalid_request"');
  },
);

test('an identity behind three thousand others is believed with the proof before them, and not without', async () => {
  const [proof = '', ...identity] = trusted;
  expect(await ask(site.one, '/api/me', proof, TINY_LINES, ...identity)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask(site.one, '/api/me', TINY_LINES, ...identity)).toMatch(/^HTTP\/1\.1 401 /);
});

test('a head of more than 16 KiB is refused', async () => {
  expect(await ask(site.one, '/api/me', ...trusted, 'a:12345\r\n'.repeat(3_000).slice(0, -2))).toMatch(
    /^HTTP\/1\.1 431 /,
  );
});

test('the broker sees a second credential behind three thousand headers', async () => {
  const { cookie, access_token: token } = await serviceOf(broker).mint({ subject: user });
  const own = `Cookie: baton=${cookie.value}`;
  expect(await ask(broker, '/forward-auth', own, TINY_LINES)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ask(broker, '/forward-auth', own, TINY_LINES, own)).toMatch(/^HTTP\/1\.1 401 /);
  const bearer = `Authorization: Bearer ${token}`;
  expect(await ask(broker, '/forward-auth', bearer, TINY_LINES, bearer)).toMatch(/^HTTP\/1\.1 401 /);
});
