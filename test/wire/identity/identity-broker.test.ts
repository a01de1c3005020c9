import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { type BrokerProcess, spawnBroker, stopBrokers, TOKEN } from '../../broker/support/brokers.ts';
import { newSubject, serviceOf } from '../../broker/support/service.ts';
import { makeSigner } from '../../edge/key-server.ts';
import { makeDevice } from '../../support/device.ts';
import { closeRawStreams, openRawStream } from '../../support/raw-stream.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../support/redis/redis.ts';
import { until } from '../../support/redis/redis-processes.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../../support/replicas.ts';
import { isStream, routeOf, routesWhere, sampleRequest, refusesStrangers } from '../../support/samples.ts';
import { keysHolding } from '../../support/redis/stored.ts';
import { expectProblem, request } from '../../support/wire.ts';

/* Identity mode `broker` (CONTRACT.md, "Identity"), with the real broker. */

const [keyPrefix, brokerPrefix, redisUrl] = [randomPrefix(), randomPrefix(), sharedRedisUrl()];
const brokerEnv = { BROKER_REDIS_URL: redisUrl, BROKER_KEY_PREFIX: brokerPrefix, BROKER_LOG_LEVEL: 'info' };

let broker: BrokerProcess;
let replica: ReplicaProcess;
let dev: ReplicaProcess;

const startOther = (env: Record<string, string>) =>
  startReplica({
    redisUrl,
    keyPrefix,
    env: { APP_IDENTITY: 'broker', APP_BROKER_URL: broker.url, APP_BROKER_TOKEN: TOKEN, APP_LOG_LEVEL: 'info', ...env },
  });

beforeAll(async () => {
  broker = spawnBroker(brokerEnv, await freePort());
  await broker.ready();
  [replica, dev] = await Promise.all([startOther({}), startReplica({ redisUrl, keyPrefix })]);
});
afterEach(closeRawStreams);
afterAll(async () => {
  await stopReplicas();
  await stopBrokers();
});

interface Who {
  subject?: string;
  scope?: 'full' | 'guest';
  name?: string;
}

async function signIn({ subject = newSubject(), scope = 'full', name = 'Laptop' }: Who = {}) {
  const device = makeDevice({ user: subject, name, scope });
  await device.on(dev).call('getMe');
  const session = await serviceOf(broker).mint({ subject, meta: device.id, label: name, scope });
  return {
    ...{ subject, device, session },
    cookie: { Cookie: `baton=${session.cookie.value}` },
    bearer: { Authorization: `Bearer ${session.access_token}` },
  };
}

type Headers = Record<string, string | string[]>;
const askMe = (headers: Headers, of = replica) => request(of, { path: '/api/me', headers });
/** Returns how many questions the broker has answered. */
const questions = () => broker.log().split('"path":"/v1/verify"').length - 1;
/** The broker logs an answer after it has sent it. */
const untilQuestions = (count: number) =>
  until(
    () => Promise.resolve(questions()),
    (answered) => answered >= count,
    'the broker to log its answers',
  );

test('the cookie and the access token are the session', async () => {
  const { subject, device, cookie, bearer } = await signIn();
  for (const headers of [cookie, bearer]) {
    expect((await askMe(headers)).body).toMatchObject({
      user_id: subject,
      scope: 'full',
      device: { device_id: device.id, name: 'Laptop' },
    });
  }
});

test('a guest is a guest', async () => {
  const { bearer, device } = await signIn({ scope: 'guest' });
  expect((await askMe(bearer)).body).toMatchObject({ scope: 'guest' });
  const other = makeDevice({ user: device.user });
  for (const name of routesWhere(({ scope }) => scope !== 'any')) {
    const asked = sampleRequest(name, { own: other, other });
    expectProblem(await request(replica, { ...asked, headers: bearer }), 'guest_forbidden');
  }
});

describe('nobody is', () => {
  test.each<[string, () => Headers | Promise<Headers>]>([
    ['who shows nothing', () => ({})],
    [
      'who brings headers of an edge',
      () => ({ 'X-Auth-Subject': 'admin', 'X-Auth-Scope': 'full', 'X-Dev-User': 'admin' }),
    ],
    ['a cookie that cannot be one', () => ({ Cookie: 'baton=v1.x.y' })],
    ['a cookie that might be one', () => ({ Cookie: `baton=v1.${'A'.repeat(44)}.${'A'.repeat(43)}` })],
    [
      'two cookies',
      async () => {
        const { cookie } = await signIn();
        return { Cookie: `${cookie.Cookie}; ${cookie.Cookie}` };
      },
    ],
    [
      'the name of the cookie that https has',
      async () => {
        const { session } = await signIn();
        return { Cookie: `__Host-baton=${session.cookie.value}` };
      },
    ],
    [
      'two tokens',
      async () => {
        const { bearer } = await signIn();
        return { Authorization: [bearer.Authorization, bearer.Authorization] };
      },
    ],
    ['a wrong token beside a good cookie', async () => ({ ...(await signIn()).cookie, Authorization: 'Bearer x.y.z' })],
    ['a password', () => ({ Authorization: 'Basic YTpi' })],
  ])('%s', async (_, headers) => {
    expectProblem(await askMe(await headers()), 'unauthenticated');
  });

  test.each(routesWhere(refusesStrangers))('who asks for %s without a session', async (name) => {
    const own = makeDevice({ user: 'u' });
    expectProblem(await request(replica, sampleRequest(name, { own, other: own })), 'unauthenticated');
  });
});

test('a token that the broker did not sign does not reach it', async () => {
  const { session, subject } = await signIn();
  const atFirst = questions();
  await askMe({ Authorization: `Bearer ${session.access_token}` });
  await untilQuestions(atFirst + 1);
  const [head = '', claims = ''] = session.access_token.split('.');
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
  const payload = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  const stranger = await makeSigner(kid);
  const before = questions();
  const forged = [
    await stranger.sign({ ...payload, sub: 'admin' }, { typ: 'at+jwt' }),
    await stranger.sign(payload, { typ: 'at+jwt', kid: 'unknown' }),
    `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${claims}.`,
    `${session.access_token}x`,
  ];
  for (const token of forged) expectProblem(await askMe({ Authorization: `Bearer ${token}` }), 'unauthenticated');
  expect(questions()).toBe(before);
  expect(payload['sub']).toBe(subject);
});

test('many requests of one session, and many of a refused one, are one question each', async () => {
  const { bearer, cookie, session, subject } = await signIn();
  const before = questions();
  const answers = await Promise.all(Array.from({ length: 40 }, () => askMe(bearer)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await untilQuestions(before + 1);
  expect(questions() - before).toBe(1);
  await serviceOf(broker).tryRevoke({ subject, session_id: session.session_id, reason: 'revoked' });
  for (let i = 0; i < 10; i++) expectProblem(await askMe(cookie), 'session_revoked');
  await untilQuestions(before + 2);
  expect(questions() - before).toBe(2);
});

test('a session that was revoked elsewhere is refused within ten seconds', async () => {
  const { bearer, session, subject } = await signIn();
  expect((await askMe(bearer)).status).toBe(200);
  await serviceOf(broker).tryRevoke({ subject, session_id: session.session_id, reason: 'revoked' });
  const revokedAt = performance.now();
  let answer = await askMe(bearer);
  while (answer.status === 200 && performance.now() - revokedAt < 20_000) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    answer = await askMe(bearer);
  }
  expectProblem(answer, 'session_revoked');
});

test('over https the cookie has the name that only this host can set', async () => {
  const https = await startOther({ APP_PUBLIC_URL: 'https://baton.example' });
  const { session } = await signIn();
  expectProblem(await askMe({ Cookie: `baton=${session.cookie.value}` }, https), 'unauthenticated');
  expect((await askMe({ Cookie: `__Host-baton=${session.cookie.value}` }, https)).status).toBe(200);
});

test('with the broker away every call says so, a stream is asked to come back, and all is well when it is back', async () => {
  const { bearer, cookie, device } = await signIn();
  await broker.stop();
  try {
    for (const name of routesWhere(refusesStrangers)) {
      const asked = { ...sampleRequest(name, { own: device, other: device }), headers: bearer };
      const { endsSession } = routeOf(name);
      if (!isStream(routeOf(name)) && !endsSession) expectProblem(await request(replica, asked), 'broker_unavailable');
    }
    const stream = await openRawStream(replica, cookie);
    expect([stream.status, await stream.ended()]).toEqual([
      200,
      expect.stringMatching(/^retry: (\d+)\nevent: reconnect\ndata: {"reason":"store","retry_ms":\1}\n\n$/),
    ]);
    expect((await request(replica, { path: '/healthz' })).status).toBe(200);
  } finally {
    broker = spawnBroker(brokerEnv, Number(new URL(broker.url).port));
    await broker.ready();
  }
  const back = async () => {
    const answer = await askMe(bearer);
    return answer.status === 200;
  };
  while (!(await back())) await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await back()).toBe(true);
});

test('no credential is in a log or in the store', async () => {
  const { bearer, cookie, session } = await signIn();
  for (const headers of [bearer, cookie]) await askMe(headers);
  const redis = connectTo(redisUrl);
  const secrets = [session.access_token, session.cookie.value, session.cookie.value.split('.')[2] ?? '', TOKEN];
  for (const secret of secrets) {
    expect(replica.log().includes(secret)).toBe(false);
    expect(await keysHolding(redis, keyPrefix, secret)).toEqual([]);
  }
  redis.disconnect();
});
