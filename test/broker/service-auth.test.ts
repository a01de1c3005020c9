import { expectProblem, request } from '../support/wire.ts';
import { type BrokerProcess, OTHER_TOKEN, startBroker, stopBrokers, TOKEN } from './support/brokers.ts';
import { mintOf, serviceOf } from './support/service.ts';

const SECOND = 'second-token-of-the-service-while-it-changes';

let broker: BrokerProcess;
beforeAll(async () => {
  broker = await startBroker({ env: { BROKER_TOKENS: `baton:${TOKEN},other:${OTHER_TOKEN},baton:${SECOND}` } });
});
afterAll(stopBrokers);

const RIGHT = { Authorization: `Bearer ${TOKEN}`, 'X-Broker-App': 'baton' };

const PATHS: [string, string][] = [
  ['POST', '/v1/sessions'],
  ['GET', '/v1/sessions?subject=a'],
  ['POST', '/v1/sessions/rotate'],
  ['POST', '/v1/sessions/revoke'],
  ['POST', '/v1/verify'],
];

describe.each(PATHS)('%s %s', (method, path) => {
  test.each<[string, Record<string, string | string[]>]>([
    ['no token', { 'X-Broker-App': 'baton' }],
    ['no app', { Authorization: `Bearer ${TOKEN}` }],
    ['a wrong token', { ...RIGHT, Authorization: `Bearer ${TOKEN}x` }],
    ['the beginning of the token', { ...RIGHT, Authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['an empty token', { ...RIGHT, Authorization: 'Bearer ' }],
    ['another scheme', { ...RIGHT, Authorization: `Basic ${TOKEN}` }],
    ["another app's token", { ...RIGHT, Authorization: `Bearer ${OTHER_TOKEN}` }],
    ['an unknown app', { ...RIGHT, 'X-Broker-App': 'nobody' }],
    ['two apps', { ...RIGHT, 'X-Broker-App': ['baton', 'other'] }],
    ['two tokens', { ...RIGHT, Authorization: [`Bearer ${TOKEN}`, `Bearer ${OTHER_TOKEN}`] }],
  ])('is refused with %s, before anything of it is read', async (_what, headers) => {
    const answer = await request(broker, {
      method,
      path,
      headers,
      ...(method === 'POST' && { body: { nonsense: 1 } }),
    });
    expectProblem(answer, 'unauthenticated');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.headers['x-api-version']).toBe('1');
  });
});

test('an app that occurs twice has two tokens, for changing them', async () => {
  const { session_id: id } = await serviceOf(broker).mint(mintOf());
  const { cookie } = await serviceOf(broker, { token: SECOND }).mint(mintOf());
  expect(id).not.toBe((await serviceOf(broker).verify(cookie.value)).session_id);
});

test('other methods and paths are refused by name', async () => {
  const wrong = await request(broker, { method: 'DELETE', path: '/v1/sessions', headers: RIGHT });
  expectProblem(wrong, 'method_not_allowed');
  expect(wrong.headers['allow']).toBe('POST, GET');
  expectProblem(await request(broker, { path: '/v1/nothing', headers: RIGHT }), 'not_found');
  expectProblem(await request(broker, { path: '/' }), 'not_found');
});
