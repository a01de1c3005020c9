import { makeApnsConnection } from '../../../services/sync/push/senders/apns/apns-connection.ts';
import type { PushSenderParts } from '../../../services/sync/push/senders/senders.ts';
import type { PushSender } from '../../../services/sync/push/sender.ts';
import { apnsError, type FakeApns, startFakeApns } from '../../support/fake-push/apns.ts';
import { makeTestCertificate, type TestCertificate } from '../../support/fake-push/certificate.ts';
import type { Scripted } from '../../support/fake-push/scripted.ts';
import { startTcpProxy } from '../../support/redis/tcp-proxy.ts';
import { closeSenders, makeSender, makeTexts, noticeOf } from './sending.ts';

const TARGET = { kind: 'apns', token: 'a1b2c3d4'.repeat(8) } as const;
const DELIVERED = { outcome: 'delivered' };
const MINUTE_MS = 60_000;

describe('Apple Push Notification service', () => {
  let certificate: TestCertificate;
  let apns: FakeApns;
  beforeAll(() => {
    certificate = makeTestCertificate();
  });
  afterAll(() => certificate.remove());
  beforeEach(async () => {
    apns = await startFakeApns({ certificate });
  });
  afterEach(async () => {
    await closeSenders();
    await apns.stop();
  });

  const senderOf = (parts: Partial<PushSenderParts> = {}): PushSender =>
    makeSender({ apns: { ...apns.account, host: apns.host }, ca: certificate.cert.toString(), ...parts });

  test('a push says the kind, the count and the id, and shows a line that says no more', async () => {
    const nowMs = Date.now();
    const sender = senderOf({ now: () => nowMs });
    await expect(sender.send(TARGET, noticeOf({ count: 2, ttlSeconds: 600 }))).resolves.toEqual(DELIVERED);

    expect(apns.complaints).toEqual([]);
    expect(apns.notifications).toEqual([
      {
        token: TARGET.token,
        payload: {
          aps: { alert: { 'loc-key': 'New message' }, sound: 'default', 'mutable-content': 1 },
          v: 1,
          type: 'message',
          count: 2,
          id: noticeOf().id,
        },
        topic: apns.account.topic,
        collapseId: noticeOf().topic,
        expiration: Math.floor(nowMs / 1_000) + 600,
        priority: '10',
        providerToken: expect.any(String),
      },
    ]);
  });

  test('the preview that a browser would get does not go there', async () => {
    await senderOf().send(TARGET, noticeOf({ preview: { from: 'Alices phone', text: 'a secret' } }));
    expect(apns.notifications).toHaveLength(1);
    expect(JSON.stringify(apns.notifications)).not.toMatch(/Alices|secret/);
  });

  test('one connection carries all pushes, and one token those of all replicas', async () => {
    const texts = makeTexts();
    const [one, two] = [senderOf({ texts }), senderOf({ texts })];
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => one.send(TARGET, noticeOf())));
    await two.send(TARGET, noticeOf());

    expect(outcomes).toEqual(Array.from({ length: 50 }, () => DELIVERED));
    expect(apns.sessions).toBe(2);
    expect(apns.providerTokens.size).toBe(1);
  });

  test('a connection that was told to go away is made anew', async () => {
    const sender = senderOf();
    await sender.send(TARGET, noticeOf());
    apns.goAway();
    // GOAWAY reaches the sender before the answer that follows it.
    await sender.send(TARGET, noticeOf());
    await expect(sender.send(TARGET, noticeOf())).resolves.toEqual(DELIVERED);
    expect(apns.sessions).toBe(2);
  });

  test('what is under way when the connection is told to go away is answered', async () => {
    const sender = senderOf();
    await sender.send(TARGET, noticeOf());
    const underWay = sender.send(TARGET, noticeOf());
    await apns.received(2);
    apns.goAway();
    await expect(underWay).resolves.toEqual(DELIVERED);
  });

  test('a connection that broke is made anew', async () => {
    const sender = senderOf();
    await sender.send(TARGET, noticeOf());
    apns.script.next({ manner: 'silent' });
    const cut = sender.send(TARGET, noticeOf());
    await apns.received(2);
    apns.breakConnections();
    await expect(cut).resolves.toEqual({ outcome: 'retry', afterMs: null, reason: 'network' });
    await expect(sender.send(TARGET, noticeOf())).resolves.toEqual(DELIVERED);
    expect(apns.sessions).toBe(2);
  });

  test('a connection on which no answer came in time is not used again', async () => {
    const sender = senderOf({ sendMs: 3_000 });
    await sender.send(TARGET, noticeOf());
    apns.script.next({ manner: 'silent' });
    await expect(sender.send(TARGET, noticeOf())).resolves.toEqual({
      outcome: 'retry',
      afterMs: null,
      reason: 'timeout',
    });
    await expect(sender.send(TARGET, noticeOf())).resolves.toEqual(DELIVERED);
    expect(apns.sessions).toBe(2);
  });

  test('a connection that was quiet for long is asked first whether it still lives', async () => {
    const proxy = await startTcpProxy(apns.url);
    const connection = makeApnsConnection({
      origin: `https://${new URL(proxy.url).host}`,
      ca: certificate.cert.toString(),
      quietMs: 0,
    });
    const post = () => connection.post({ headers: {}, path: '/none', body: '{}', signal: AbortSignal.timeout(20_000) });
    await post();
    await post();
    expect(apns.sessions).toBe(1);
    proxy.silence('');

    await expect(post()).resolves.toMatchObject({ status: 404, body: '{"reason":"BadPath"}' });
    expect(apns.sessions).toBe(2);
    await connection.close();
    await proxy.stop();
  });

  test('nobody there is a push for later', async () => {
    const [sender, { host }] = [senderOf(), apns];
    await apns.stop();
    await expect(sender.send(TARGET, noticeOf())).resolves.toEqual({
      outcome: 'retry',
      afterMs: null,
      reason: 'network',
    });
    expect(sender.providerOf(TARGET)).toBe(host);
    apns = await startFakeApns({ certificate });
  });

  test('a certificate that nobody vouches for is refused', async () => {
    const sender = makeSender({ apns: { ...apns.account, host: apns.host } });
    await expect(sender.send(TARGET, noticeOf())).resolves.toEqual({
      outcome: 'retry',
      afterMs: null,
      reason: 'network',
    });
    expect(apns.notifications).toEqual([]);
  });

  describe('provider tokens', () => {
    test('a token serves for 50 minutes', async () => {
      let nowMs = Date.now() - 55 * MINUTE_MS;
      const sender = senderOf({ now: () => nowMs, texts: { get: async () => null, put: async (_, text) => text } });
      await sender.send(TARGET, noticeOf());
      nowMs += 49 * MINUTE_MS;
      await sender.send(TARGET, noticeOf());
      expect(apns.providerTokens.size).toBe(1);
      nowMs += 2 * MINUTE_MS;
      await sender.send(TARGET, noticeOf());
      expect(apns.providerTokens.size).toBe(2);
    });

    test('an expired token is replaced once, for all replicas, and the push goes out at once', async () => {
      let nowMs = Date.now() - 30 * MINUTE_MS;
      const texts = makeTexts();
      const replicas = [0, 1].map(() => senderOf({ now: () => nowMs, texts }));
      for (const replica of replicas) await replica.send(TARGET, noticeOf());
      apns.expireProviderTokens();
      nowMs += 25 * MINUTE_MS;

      for (const replica of [...replicas, senderOf({ now: () => nowMs, texts })])
        await expect(replica.send(TARGET, noticeOf())).resolves.toEqual(DELIVERED);
      expect(apns.providerTokens.size).toBe(2);
    });

    test('no token is made within 20 minutes of the last one, even when that is said to have expired', async () => {
      const sender = senderOf();
      await sender.send(TARGET, noticeOf());
      apns.expireProviderTokens();

      for (let nth = 0; nth < 3; nth++)
        await expect(sender.send(TARGET, noticeOf())).resolves.toEqual({
          outcome: 'retry',
          afterMs: MINUTE_MS,
          reason: 'token_expired',
        });
      expect(apns.providerTokens.size).toBe(1);
    });

    test('too many tokens are answered with patience and the same token', async () => {
      const sender = senderOf();
      apns.script.next(apnsError(429, 'TooManyProviderTokenUpdates'));
      await expect(sender.send(TARGET, noticeOf())).resolves.toEqual({
        outcome: 'retry',
        afterMs: MINUTE_MS,
        reason: 'token_updates',
      });
      await expect(sender.send(TARGET, noticeOf())).resolves.toEqual(DELIVERED);
      expect(apns.providerTokens.size).toBe(1);
    });

    test('a key that cannot sign is found out at once', () => {
      const apnsWith = (privateKeyPem: string) => ({ ...apns.account, privateKeyPem });
      expect(() => senderOf({ apns: apnsWith('none') })).toThrow('The key of APNs is none for ES256');
    });

    test('a token with another key id fails and is not made again', async () => {
      const sender = senderOf({ apns: { ...apns.account, keyId: 'ANOTHERKEY', host: apns.host } });
      await expect(sender.send(TARGET, noticeOf())).resolves.toEqual({ outcome: 'failed', reason: 'status 403' });
    });
  });

  const failed = (reason: string) => ({ outcome: 'failed', reason });
  const retry = (reason: string, afterMs: number | null = null) => ({ outcome: 'retry', afterMs, reason });
  const GONE = { outcome: 'gone' };
  const CLASSES: [name: string, scripted: Scripted, outcome: object][] = [
    [
      '410 Unregistered, and since when',
      apnsError(410, 'Unregistered', { timestamp: 1_700_000_000_000 }),
      { ...GONE, asOfMs: 1_700_000_000_000 },
    ],
    ['410 Unregistered, since nobody knows when', apnsError(410, 'Unregistered', { timestamp: 'soon' }), GONE],
    ['410 ExpiredToken', apnsError(410, 'ExpiredToken'), GONE],
    ['400 BadDeviceToken, which a mistaken host says of all', apnsError(400, 'BadDeviceToken'), failed('status 400')],
    ['400 DeviceTokenNotForTopic', apnsError(400, 'DeviceTokenNotForTopic'), failed('status 400')],
    ['400 TopicDisallowed', apnsError(400, 'TopicDisallowed'), failed('status 400')],
    ['400 without a word', 400, failed('status 400')],
    ['403 InvalidProviderToken', apnsError(403, 'InvalidProviderToken'), failed('status 403')],
    ['403 BadDeviceToken, which is none', apnsError(403, 'BadDeviceToken'), failed('status 403')],
    ['404 BadPath', apnsError(404, 'BadPath'), failed('status 404')],
    ['405 MethodNotAllowed', apnsError(405, 'MethodNotAllowed'), failed('status 405')],
    ['413 PayloadTooLarge', apnsError(413, 'PayloadTooLarge'), failed('status 413')],
    ['429 TooManyRequests', apnsError(429, 'TooManyRequests'), retry('status 429')],
    ['500 InternalServerError', apnsError(500, 'InternalServerError'), retry('status 500')],
    [
      '503 ServiceUnavailable with seconds',
      { ...apnsError(503, 'ServiceUnavailable'), headers: { 'retry-after': '9' } },
      retry('status 503', 9_000),
    ],
    ['503 Shutdown', apnsError(503, 'Shutdown'), retry('status 503')],
    ['a redirect', { status: 307, headers: { location: 'https://127.0.0.1:1/' } }, failed('redirect 307')],
    ['410 with an endless body', { status: 410, manner: 'endless' }, failed('status 410')],
    ['a reset', { manner: 'reset' }, retry('network')],
  ];
  test.each(CLASSES)('an answer of %s leads to the right act', async (_, scripted, outcome) => {
    apns.script.next(scripted);
    await expect(senderOf().send(TARGET, noticeOf())).resolves.toEqual(outcome);
    expect(apns.notifications).toHaveLength(1);
    // Only the bytes that were on their way in buffers were written.
    await expect(apns.script.poured()).resolves.toBeLessThan(1_048_576);
  });

  test('the device of an app that is gone leads to the end of its registration', async () => {
    apns.unregister(TARGET.token);
    await expect(senderOf().send(TARGET, noticeOf())).resolves.toMatchObject(GONE);
  });

  test('without a host of its own it goes to Apple, where the application got its token', () => {
    const sender = senderOf({ apns: apns.account });
    expect(sender.providerOf(TARGET)).toBe('api.push.apple.com');
    expect(sender.providerOf({ ...TARGET, environment: 'production' })).toBe('api.push.apple.com');
    expect(sender.providerOf({ ...TARGET, environment: 'sandbox' })).toBe('api.sandbox.push.apple.com');
    expect(senderOf().providerOf({ ...TARGET, environment: 'sandbox' })).toBe(apns.host);
  });
});
