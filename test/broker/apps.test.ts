import { decodeJwt } from 'jose';
import type { IssuedSession } from '../../shared/contract/modules/broker.ts';
import { loadConfig } from '../../services/broker/config/config.ts';
import { ConfigError } from '../../shared/service-kit/config/config-error.ts';
import { randomPrefix } from '../support/redis/redis.ts';
import { expectProblem, request } from '../support/wire.ts';
import { type BrokerProcess, OTHER_TOKEN, startBroker, stopBrokers, TOKEN } from './support/brokers.ts';
import { makeBrowser } from './support/browser.ts';
import { type Service, serviceOf } from './support/service.ts';

/* Two apps at one broker. A session that one has minted means nothing to the other, nor to the other's edge. */

const keyPrefix = randomPrefix();
const subject = 'alice';

let broker: BrokerProcess;
let ours: Service;
let theirs: Service;
let mine: IssuedSession;
let foreign: IssuedSession;

beforeAll(async () => {
  broker = await startBroker({ keyPrefix, env: { BROKER_DEV_LOGIN: '1' } });
  ours = serviceOf(broker);
  theirs = serviceOf(broker, { app: 'other', token: OTHER_TOKEN });
  [mine, foreign] = await Promise.all([ours.mint({ subject }), theirs.mint({ subject })]);
});
afterAll(stopBrokers);

const atEdge = (headers: Record<string, string>, of = broker) => request(of, { path: '/forward-auth', headers });
const cookie = ({ cookie: { value } }: IssuedSession) => ({ Cookie: `baton=${value}` });
const bearer = ({ access_token }: IssuedSession) => ({ Authorization: `Bearer ${access_token}` });

test('the edge lets in what its own app has minted, by cookie and by token', async () => {
  for (const headers of [cookie(mine), bearer(mine)]) {
    const answer = await atEdge(headers);
    expect([answer.status, answer.headers['x-auth-subject']]).toEqual([200, subject]);
    expect(decodeJwt(String(answer.headers['x-auth-assertion'])).aud).toBe('baton');
  }
});

test('the edge does not let in what another app has minted, by cookie nor by token', async () => {
  for (const headers of [cookie(foreign), bearer(foreign)]) {
    const answer = await atEdge(headers);
    expect(answer.status).toBe(401);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('x-auth-'))).toEqual([]);
  }
});

test('a request that was refused ends nothing: the other app goes on with its session', async () => {
  await atEdge(cookie(foreign));
  expect(await theirs.verify(foreign.cookie.value)).toMatchObject({ session_id: foreign.session_id });
});

test('an edge can be told whose sessions it lets in', async () => {
  const other = await startBroker({ keyPrefix, env: { BROKER_FORWARD_AUTH_APP: 'other' } });
  expect((await atEdge(cookie(foreign), other)).status).toBe(200);
  expect((await atEdge(cookie(mine), other)).status).toBe(401);
});

test('no app verifies, rotates, lists or revokes what another has minted', async () => {
  expectProblem(await theirs.tryVerify(mine.cookie.value), 'session_expired');
  expectProblem(await theirs.tryVerifyToken(mine.access_token), 'session_expired');
  expectProblem(await theirs.tryRotate(mine.cookie.value), 'session_expired');
  expect((await theirs.list(subject)).map(({ session_id }) => session_id)).toEqual([foreign.session_id]);
  const revoked = await theirs.tryRevoke({ subject, session_id: mine.session_id, reason: 'revoked' });
  expectProblem(revoked, 'not_found');
  expect((await atEdge(cookie(mine))).status).toBe(200);
});

test('the token of one app does not speak in the name of another', async () => {
  const liar = serviceOf(broker, { app: 'baton', token: OTHER_TOKEN });
  expectProblem(await liar.tryVerify(mine.cookie.value), 'unauthenticated');
});

test('a login makes a session that this edge lets in, and no other app sees', async () => {
  const browser = makeBrowser();
  await browser.submit(`${broker.url}/login/dev`, { user: 'bob' });
  const credential = browser.jar.get('baton') ?? '';
  expect((await atEdge({ Cookie: `baton=${credential}` })).status).toBe(200);
  expectProblem(await theirs.tryVerify(credential), 'session_expired');
});

describe('whose sessions an edge lets in', () => {
  const LEAST = { BROKER_REDIS_URL: 'redis://127.0.0.1', BROKER_OIDC_ISSUER: 'https://a', BROKER_OIDC_CLIENT_ID: 'b' };
  const appsOf = (env: Record<string, string>) => {
    try {
      const { login, forwardAuth, warnings } = loadConfig({ ...LEAST, ...env });
      return { login: login.app, edge: forwardAuth.app, warnings: warnings.length };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems.map(({ key }) => key);
    }
  };
  const notes: Record<string, string> = { BROKER_TOKENS: 'notes:a,files:b' };
  const three: Record<string, string> = { BROKER_TOKENS: `notes:a,baton:${TOKEN}` };

  test.each<[string, Record<string, string>, unknown]>([
    ['are those of the only app', { BROKER_TOKENS: 'notes:a' }, { login: 'notes', edge: 'notes', warnings: 0 }],
    [
      'are those of the only app while its token is changed',
      { BROKER_TOKENS: 'notes:a,notes:b' },
      { login: 'notes', edge: 'notes', warnings: 0 },
    ],
    ['are those of baton among others', three, { login: 'baton', edge: 'baton', warnings: 0 }],
    [
      'are those that a login makes',
      { ...notes, BROKER_LOGIN_APP: 'files' },
      { login: 'files', edge: 'files', warnings: 0 },
    ],
    [
      'are those that it was told',
      { ...notes, BROKER_FORWARD_AUTH_APP: 'files' },
      { login: 'files', edge: 'files', warnings: 0 },
    ],
    [
      'may be others than a login makes, with a warning',
      { ...notes, BROKER_FORWARD_AUTH_APP: 'files', BROKER_LOGIN_APP: 'notes' },
      { login: 'notes', edge: 'files', warnings: 1 },
    ],
    ['must be told where nobody can know', notes, ['BROKER_FORWARD_AUTH_APP']],
    ['must be of an app with a token', { ...three, BROKER_FORWARD_AUTH_APP: 'files' }, ['BROKER_FORWARD_AUTH_APP']],
  ])('%s', (_, env, expected) => {
    expect(appsOf(env)).toEqual(expected);
  });
});
