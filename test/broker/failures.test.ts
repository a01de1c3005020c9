import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { BROKER_LIMITS, type IssuedSession } from '../../shared/contract/modules/broker.ts';
import { sessionMint, sessionRotate } from '../../services/broker/sessions/scripts.ts';
import { bindScript } from '../../shared/service-kit/redis/scripts/bound-script.ts';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { type OwnRedis, startOwnRedis } from '../support/redis/own-redis.ts';
import { connectTo, keysUnder, randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { startTcpProxy } from '../support/redis/tcp-proxy.ts';
import { expectProblem, request } from '../support/wire.ts';
import { type BrokerProcess, eventually, spawnBroker, startBroker, stopBrokers } from './support/brokers.ts';
import { mintOf, serviceOf } from './support/service.ts';

afterAll(stopBrokers);

/** Returns the digest by which the client calls a script of the broker, once it has sent it in full. */
const digestOf = ({ text }: { text: string }): string => createHash('sha1').update(text).digest('hex');

const MINT = digestOf(bindScript(sessionMint, false, [{ REPLAY_SECONDS: BROKER_LIMITS.mintReplaySeconds }]));
/** This script has the grace of the configuration. */
const ROTATE = digestOf(bindScript(sessionRotate, false, [{ GRACE_MS: BROKER_LIMITS.graceSeconds * 1000 }]));

/** Tests that start brokers of their own need more time than others on a busy machine. */
const SEVERAL_STARTS_MS = 90_000;

describe('a broker that dies between the store and its answer', () => {
  test(
    'has minted one session, which a repetition at another broker answers',
    async () => {
      const keyPrefix = randomPrefix();
      const proxy = await startTcpProxy(sharedRedisUrl());
      const [dying, other] = await Promise.all([
        startBroker({ keyPrefix, redisUrl: proxy.url }),
        startBroker({ keyPrefix }),
      ]);
      const living = serviceOf(other);
      const [fields, key] = [mintOf(), randomUUID()];
      await serviceOf(dying).mint();

      const stored = proxy.cutBeforeAnswerTo(MINT);
      const unanswered = serviceOf(dying)
        .tryMint(fields, key)
        .catch(() => null);
      await stored;
      await dying.kill();
      expect(await unanswered).toBeNull();
      const [before] = await living.list(fields.subject);
      expect(before).toBeDefined();

      const session = await living.mint(fields, key);
      expect(session.session_id).toBe(before?.session_id);
      await living.verify(session.cookie.value);
      expect(await living.list(fields.subject)).toHaveLength(1);
      await proxy.stop();
    },
    SEVERAL_STARTS_MS,
  );

  test(
    'has rotated: the old secret still leads to the new one',
    async () => {
      const keyPrefix = randomPrefix();
      const proxy = await startTcpProxy(sharedRedisUrl());
      const [dying, other] = await Promise.all([
        startBroker({ keyPrefix, redisUrl: proxy.url }),
        startBroker({ keyPrefix }),
      ]);
      const living = serviceOf(other);
      const session = await living.mint();
      await serviceOf(dying).rotate((await living.mint()).cookie.value);

      const stored = proxy.cutBeforeAnswerTo(ROTATE);
      const unanswered = serviceOf(dying)
        .tryRotate(session.cookie.value)
        .catch(() => null);
      await stored;
      await dying.kill();
      expect(await unanswered).toBeNull();
      const next = await living.rotate(session.cookie.value);
      expect(next.cookie.value).not.toBe(session.cookie.value);
      await living.verify(next.cookie.value);
      await proxy.stop();
    },
    SEVERAL_STARTS_MS,
  );
});

test('a cut connection to the store loses nothing: the request is answered, and there is one session', async () => {
  const keyPrefix = randomPrefix();
  const proxy = await startTcpProxy(sharedRedisUrl());
  const service = serviceOf(await startBroker({ keyPrefix, redisUrl: proxy.url }));
  await service.mint();
  const fields = mintOf();
  const cut = proxy.cutBeforeAnswerTo(MINT);
  const [answer] = await Promise.all([service.tryMint(fields), cut]);
  // The client sends it again over the next connection, and gets the answer of the first time.
  expect(answer.status).toBe(201);
  expect(await service.list(fields.subject)).toHaveLength(1);
  await service.verify((answer.body as IssuedSession).cookie.value);
  await proxy.stop();
});

describe('without the store', () => {
  let redis: OwnRedis;
  let broker: BrokerProcess;
  beforeAll(async () => {
    redis = await startOwnRedis();
    broker = await startBroker({ redisUrl: redis.url });
  });
  afterAll(() => redis.stop());

  test('everything that needs it is 503 at once, and works when it is back', async () => {
    const service = serviceOf(broker);
    const session = await service.mint();
    await redis.kill();
    const startedAt = Date.now();
    expectProblem(await service.tryMint(mintOf()), 'store_unavailable');
    expectProblem(await service.tryVerify(session.cookie.value), 'store_unavailable');
    expectProblem(await service.tryVerifyToken(session.access_token), 'store_unavailable');
    expectProblem(await service.tryRotate(session.cookie.value), 'store_unavailable');
    const { subject, session_id: id } = session;
    expectProblem(await service.tryRevoke({ subject, session_id: id, reason: 'x' }), 'store_unavailable');
    expectProblem(await service.page(subject), 'store_unavailable');
    const cookie = { Cookie: `baton=${session.cookie.value}` };
    expectProblem(await request(broker, { path: '/forward-auth', headers: cookie }), 'store_unavailable');
    expect(Date.now() - startedAt).toBeLessThan(14_000);
    // Keys are in memory, so services that check tokens can go on.
    expect((await request(broker, { path: '/.well-known/jwks.json' })).status).toBe(200);
    await redis.start();
    await eventually('the session is known again', async () => {
      const answer = await service.tryVerify(session.cookie.value);
      return answer.status === 200 ? true : null;
    });
  });

  test('a broker that starts before its store waits for it', async () => {
    await redis.kill();
    const early = spawnBroker({ BROKER_REDIS_URL: redis.url, BROKER_KEY_PREFIX: randomPrefix() }, await freePort());
    const health = await eventually('the port is open', () => request(early, { path: '/healthz' }).catch(() => null));
    expectProblem(health, 'store_unavailable');
    expectProblem(await serviceOf(early).tryMint(mintOf()), 'store_unavailable');
    await redis.start();
    await early.ready();
    await serviceOf(early).mint();
  });

  test('an emptied store signs everybody out and does not stop the broker', async () => {
    const service = serviceOf(broker);
    const session = await eventually('the broker has its store again', async () => {
      const answer = await service.tryMint(mintOf());
      return answer.status === 201 ? (answer.body as IssuedSession) : null;
    });
    const direct = connectTo(redis.url);
    await direct.flushall();
    expectProblem(await service.tryVerify(session.cookie.value), 'session_expired');
    await service.verify((await service.mint()).cookie.value);
    direct.disconnect();
  });
});

describe('the end', () => {
  test('SIGTERM lets running requests finish and exits with 0', async () => {
    const keyPrefix = randomPrefix();
    const redis = await startOwnRedis({ persistent: false });
    const broker = await startBroker({ redisUrl: redis.url, keyPrefix });
    const service = serviceOf(broker);
    const fields = mintOf();
    redis.pause();
    const running = service.tryMint(fields);
    await eventually('the request is in the broker', async () =>
      (await request(broker, { path: '/healthz' })).status === 200 ? true : null,
    );
    broker.process.kill('SIGTERM');
    redis.resume();
    const [answer] = await Promise.all([running, once(broker.process, 'close')]);
    expect(answer.status).toBe(201);
    expect(broker.process.exitCode).toBe(0);
    expect(broker.log()).toContain('stopped');
    await redis.stop();
  });

  test('a taken port is reported by its number', async () => {
    const broker = await startBroker();
    const port = Number(new URL(broker.url).port);
    const second = spawnBroker({ BROKER_REDIS_URL: sharedRedisUrl(), BROKER_KEY_PREFIX: randomPrefix() }, port);
    await once(second.process, 'close');
    expect(second.process.exitCode).toBe(1);
    expect(second.log()).toContain(`127.0.0.1:${port} is taken by another process`);
  });

  test('nothing of one prefix is found under another', async () => {
    const [one, two] = [randomPrefix(), randomPrefix()];
    const service = serviceOf(await startBroker({ keyPrefix: one }));
    const stranger = serviceOf(await startBroker({ keyPrefix: two }));
    const session = await service.mint();
    expectProblem(await stranger.tryVerify(session.cookie.value), 'session_expired');
    expectProblem(await stranger.tryVerifyToken(session.access_token), 'session_expired');
    const redis = connectTo(sharedRedisUrl());
    expect((await keysUnder(redis, two)).filter((key) => !key.includes('{sys}'))).toEqual([]);
    redis.disconnect();
  });
});
