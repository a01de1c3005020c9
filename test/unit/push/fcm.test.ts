import { generateKeyPairSync } from 'node:crypto';
import type { PushSenderParts } from '../../../services/sync/push/senders/senders.ts';
import type { PushSender } from '../../../services/sync/push/sender.ts';
import { makeTestCertificate, type TestCertificate } from '../../support/fake-push/certificate.ts';
import { type FakeFcm, fcmError, startFakeFcm } from '../../support/fake-push/fcm.ts';
import type { Scripted } from '../../support/fake-push/scripted.ts';
import { closeSenders, makeSender, makeTexts, noticeOf } from './sending.ts';

const TARGET = { kind: 'fcm', token: 'dGVzdA:APA91bE-registration_token' } as const;
const DELIVERED = { outcome: 'delivered' };
const MINUTE_MS = 60_000;

describe('Firebase Cloud Messaging', () => {
  let certificate: TestCertificate;
  let fcm: FakeFcm;
  beforeAll(() => {
    certificate = makeTestCertificate();
  });
  afterAll(() => certificate.remove());
  beforeEach(async () => {
    fcm = await startFakeFcm({ certificate });
  });
  afterEach(async () => {
    await closeSenders();
    await fcm.stop();
  });

  const senderOf = (parts: Partial<PushSenderParts> = {}): PushSender =>
    makeSender({
      fcm: { serviceAccount: fcm.serviceAccount, url: fcm.url },
      ca: certificate.cert.toString(),
      ...parts,
    });

  test('a push is data alone: the kind, the count and the id', async () => {
    await expect(senderOf().send(TARGET, noticeOf({ type: 'transfer', count: 2 }))).resolves.toEqual(DELIVERED);

    expect(fcm.complaints).toEqual([]);
    expect(fcm.messages).toEqual([
      {
        token: TARGET.token,
        data: { v: '1', type: 'transfer', count: '2', id: noticeOf().id },
        android: { priority: 'HIGH', ttl: '86400s', collapse_key: noticeOf().topic },
      },
    ]);
  });

  test('what is not urgent does not wake a sleeping device', async () => {
    await senderOf().send(TARGET, noticeOf({ urgency: 'normal', ttlSeconds: 300 }));
    expect(fcm.messages[0]?.android).toMatchObject({ priority: 'NORMAL', ttl: '300s' });
  });

  test('the preview that a browser would get does not go there', async () => {
    await senderOf().send(TARGET, noticeOf({ preview: { from: 'Alices phone', text: 'a secret' } }));
    expect(fcm.bodies).toHaveLength(1);
    expect(fcm.bodies.join()).not.toMatch(/Alices|secret/);
  });

  test('one access token does for all pushes and all replicas', async () => {
    const texts = makeTexts();
    const [one, two] = [senderOf({ texts }), senderOf({ texts })];
    await Promise.all(Array.from({ length: 20 }, () => one.send(TARGET, noticeOf())));
    await two.send(TARGET, noticeOf());

    expect(fcm.messages).toHaveLength(21);
    expect(fcm.tokensGiven).toBe(1);
  });

  test('an access token is replaced five minutes before its end', async () => {
    let nowMs = Date.now();
    const sender = senderOf({ now: () => nowMs, texts: { get: async () => null, put: async (_, text) => text } });
    await sender.send(TARGET, noticeOf());
    nowMs += 54 * MINUTE_MS;
    await sender.send(TARGET, noticeOf());
    expect(fcm.tokensGiven).toBe(1);
    nowMs += 2 * MINUTE_MS;
    await sender.send(TARGET, noticeOf());
    expect(fcm.tokensGiven).toBe(2);
    expect(fcm.complaints).toEqual([]);
  });

  test('an access token that was withdrawn is replaced once, for all replicas', async () => {
    const texts = makeTexts();
    const replicas = [senderOf({ texts }), senderOf({ texts })];
    for (const replica of replicas) await replica.send(TARGET, noticeOf());
    fcm.revokeAccessTokens();

    for (const replica of [...replicas, senderOf({ texts })])
      await expect(replica.send(TARGET, noticeOf())).resolves.toEqual(DELIVERED);
    expect(fcm.tokensGiven).toBe(2);
  });

  test('where every access token is refused, pushes end without a new one each', async () => {
    const sender = senderOf();
    fcm.script.next(...Array.from({ length: 9 }, () => fcmError(401, 'UNAUTHENTICATED')));
    for (let nth = 0; nth < 5; nth++)
      await expect(sender.send(TARGET, noticeOf())).resolves.toEqual({ outcome: 'failed', reason: 'status 401' });
    expect(fcm.tokensGiven).toBe(2);
  });

  test('the token of an app that is gone leads to the end of its registration', async () => {
    fcm.unregister(TARGET.token);
    await expect(senderOf().send(TARGET, noticeOf())).resolves.toEqual({ outcome: 'gone' });
  });

  const failed = (reason: string) => ({ outcome: 'failed', reason });
  const retry = (reason: string, afterMs: number | null = null) => ({ outcome: 'retry', afterMs, reason });
  const CLASSES: [name: string, scripted: Scripted, outcome: object][] = [
    ['404 of another kind', fcmError(404, 'NOT_FOUND'), failed('status 404')],
    ['404 without a word', 404, failed('status 404')],
    ['400 INVALID_ARGUMENT', fcmError(400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'), failed('status 400')],
    ['401 THIRD_PARTY_AUTH_ERROR', fcmError(401, 'UNAUTHENTICATED', 'THIRD_PARTY_AUTH_ERROR'), failed('status 401')],
    ['403 SENDER_ID_MISMATCH', fcmError(403, 'PERMISSION_DENIED', 'SENDER_ID_MISMATCH'), failed('status 403')],
    ['413', 413, failed('status 413')],
    ['a redirect', { status: 302, headers: { location: 'https://127.0.0.1:1/' } }, failed('redirect 302')],
    ['429 QUOTA_EXCEEDED', fcmError(429, 'RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED'), retry('status 429', MINUTE_MS)],
    [
      '429 with seconds',
      { ...fcmError(429, 'RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED'), headers: { 'retry-after': '30' } },
      retry('status 429', 30_000),
    ],
    ['500 INTERNAL', fcmError(500, 'INTERNAL', 'INTERNAL'), retry('status 500')],
    [
      '503 UNAVAILABLE with seconds',
      { ...fcmError(503, 'UNAVAILABLE', 'UNAVAILABLE'), headers: { 'retry-after': '5' } },
      retry('status 503', 5_000),
    ],
    ['404 with an endless body', { status: 404, manner: 'endless' }, failed('status 404')],
    ['404 with a body that stands still', { status: 404, manner: 'stalled' }, failed('status 404')],
    ['a broken connection', { manner: 'reset' }, retry('network')],
  ];
  test.each(CLASSES)('an answer of %s leads to the right act', async (_, scripted, outcome) => {
    fcm.script.next(scripted);
    await expect(senderOf().send(TARGET, noticeOf())).resolves.toEqual(outcome);
    expect(fcm.messages).toHaveLength(1);
    expect(fcm.tokensGiven).toBe(1);
    // Only the bytes that were on their way in buffers were written.
    await expect(fcm.script.poured()).resolves.toBeLessThan(33_554_432);
  });

  test('silence is given up in time', async () => {
    fcm.script.next({ manner: 'silent' });
    await expect(senderOf({ sendMs: 500 }).send(TARGET, noticeOf())).resolves.toEqual(retry('timeout'));
  });

  const NO_TOKEN: [name: string, scripted: Scripted, outcome: object][] = [
    ['refuses the account', { status: 400, body: { error: 'invalid_grant' } }, failed('token_refused')],
    ['answers nonsense', { status: 200, body: 'surprise' }, failed('token_refused')],
    ['is in trouble', 503, retry('token_unavailable')],
    ['breaks off', { manner: 'reset' }, retry('token_unavailable')],
  ];
  test.each(NO_TOKEN)(
    'no push goes out when Google %s, and it is not asked for each push',
    async (_, scripted, outcome) => {
      let nowMs = Date.now();
      const sender = senderOf({ now: () => nowMs });
      fcm.tokenScript.next(scripted);
      await expect(sender.send(TARGET, noticeOf())).resolves.toEqual(outcome);
      await expect(sender.send(TARGET, noticeOf())).resolves.toEqual(outcome);
      expect(fcm.messages).toEqual([]);
      nowMs += MINUTE_MS;
      await expect(sender.send(TARGET, noticeOf())).resolves.toEqual(DELIVERED);
    },
  );

  test('an account with another key gets no token', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const foreign = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const sender = senderOf({ fcm: { serviceAccount: { ...fcm.serviceAccount, private_key: foreign }, url: fcm.url } });
    await expect(sender.send(TARGET, noticeOf())).resolves.toEqual(failed('token_refused'));
  });

  test('an account that cannot sign, or would sign in the clear, is found out at once', () => {
    const { serviceAccount } = fcm;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const elliptic = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    for (const wrong of [{ private_key: elliptic }, { private_key: 'none' }, { token_uri: 'http://127.0.0.1/token' }])
      expect(() => senderOf({ fcm: { serviceAccount: { ...serviceAccount, ...wrong } } })).toThrow('service account');
  });

  test('pushes are counted by the host of the API', () => {
    expect(senderOf().providerOf(TARGET)).toBe(fcm.host);
    expect(senderOf({ fcm: { serviceAccount: fcm.serviceAccount } }).providerOf(TARGET)).toBe('fcm.googleapis.com');
  });
});
