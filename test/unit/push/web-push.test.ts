import { makeVapidKeys } from '../../../services/sync/push/senders/web-push/vapid.ts';
import { makeTestCertificate, type TestCertificate } from '../../support/fake-push/certificate.ts';
import { type FakePushService, startFakePushService } from '../../support/fake-push/push-service.ts';
import type { Scripted } from '../../support/fake-push/scripted.ts';
import { closeSenders, makeSender, noticeOf, SUBJECT, targetOf, VAPID } from './sending.ts';

describe('web push', () => {
  let certificate: TestCertificate;
  let service: FakePushService;
  beforeAll(() => {
    certificate = makeTestCertificate();
  });
  afterAll(() => certificate.remove());
  beforeEach(async () => {
    service = await startFakePushService({ certificate });
  });
  afterEach(async () => {
    await closeSenders();
    await service.stop();
  });

  const senderOf = ({ keys = [VAPID], subject = SUBJECT, sendMs = 10_000, now = Date.now } = {}) =>
    makeSender({
      vapid: { keys, subject },
      endpointRules: { allow: [service.host] },
      ca: certificate.cert.toString(),
      sendMs,
      now,
    });

  test('a push arrives that the browser alone can read, with the kind, the count and the id and nothing else', async () => {
    const browser = service.subscribe(VAPID.publicKey);
    const outcome = await senderOf().send(targetOf(browser), noticeOf({ type: 'transfer', count: 3 }));

    expect(outcome).toEqual({ outcome: 'delivered' });
    expect(service.complaints).toEqual([]);
    const [push] = service.pushes;
    expect(push?.payload).toEqual({ v: 1, type: 'transfer', count: 3, id: noticeOf().id });
    expect(push).toMatchObject({ ttl: 86_400, urgency: 'high', topic: noticeOf().topic });
  });

  test('the token names the origin of the endpoint and our contact, and ends within a day', async () => {
    await senderOf().send(targetOf(service.subscribe(VAPID.publicKey)), noticeOf());

    const { claims, vapidKey } = service.pushes[0] ?? {};
    expect(claims).toMatchObject({ aud: service.url, sub: SUBJECT });
    expect(Number(claims?.exp)).toBeGreaterThan(Date.now() / 1_000);
    expect(Number(claims?.exp)).toBeLessThan(Date.now() / 1_000 + 86_400);
    expect(vapidKey).toBe(VAPID.publicKey);
  });

  test('a token serves for an hour, unless the service refuses it', async () => {
    let nowMs = Date.now();
    const [sender, browser] = [senderOf({ now: () => nowMs }), service.subscribe(VAPID.publicKey)];
    const send = () => sender.send(targetOf(browser), noticeOf());
    await send();
    await send();
    nowMs += 3_600_000;
    await send();
    service.script.next(403);
    await send();
    await send();

    const tokens = service.pushes.map(({ authorization }) => authorization);
    expect(tokens.map((token) => tokens.indexOf(token))).toEqual([0, 0, 2, 2, 4]);
  });

  test('a second push of one topic takes the place of the first', async () => {
    const browser = service.subscribe();
    const sender = senderOf();
    await sender.send(targetOf(browser), noticeOf({ count: 1 }));
    await sender.send(targetOf(browser), noticeOf({ count: 2 }));
    await sender.send(targetOf(browser), noticeOf({ type: 'device', topic: 'another' }));

    expect(service.held(browser).map(({ payload }) => [payload['type'], payload['count']])).toEqual([
      ['message', 2],
      ['device', 1],
    ]);
  });

  test('the preview that a device asked for is inside the encryption', async () => {
    const browser = service.subscribe();
    const sender = senderOf();
    await sender.send(targetOf(browser), noticeOf({ preview: { from: 'Phone' } }));
    await sender.send(targetOf(browser), noticeOf({ preview: { from: 'Phone', text: 'see you at 5' } }));

    expect(service.pushes.map(({ payload }) => payload)).toEqual([
      { v: 1, type: 'message', count: 1, id: noticeOf().id, from: 'Phone' },
      { v: 1, type: 'message', count: 1, id: noticeOf().id, from: 'Phone', text: 'see you at 5' },
    ]);
  });

  test('a long preview is cut between characters to what every push service takes', async () => {
    const sender = senderOf();
    const text = '🚲'.repeat(1_024);
    await sender.send(targetOf(service.subscribe()), noticeOf({ preview: { from: 'Phone', text } }));

    const [push] = service.pushes;
    expect(push?.bytes).toBeLessThan(2_200);
    expect(push?.bytes).toBeGreaterThan(2_000);
    expect(push?.payload['text']).toMatch(/^(🚲){400,500}…$/u);
  });

  test('each subscription is signed for with the key that it was made with, also after a rotation', async () => {
    const [old, current] = [
      { id: 'old', ...makeVapidKeys(), current: false },
      { id: 'new', ...makeVapidKeys(), current: true },
    ];
    const sender = senderOf({ keys: [old, current] });
    const [before, after] = [service.subscribe(old.publicKey), service.subscribe(current.publicKey)];

    await expect(sender.send(targetOf(before, 'old'), noticeOf())).resolves.toEqual({ outcome: 'delivered' });
    await expect(sender.send(targetOf(after, 'new'), noticeOf())).resolves.toEqual({ outcome: 'delivered' });
    await expect(sender.send(targetOf(before, 'older'), noticeOf())).resolves.toEqual({
      outcome: 'not_here',
      reason: 'key_unknown',
    });
    expect(service.pushes).toHaveLength(2);
  });

  test('a push that is signed with another key than the browser subscribed with deletes nothing', async () => {
    const browser = service.subscribe(makeVapidKeys().publicKey);

    await expect(senderOf().send(targetOf(browser), noticeOf())).resolves.toEqual({
      outcome: 'failed',
      reason: 'status 403',
    });
  });

  const TOMORROW = 'Wed, 21 Oct 2026 07:28:00 GMT';
  const BEFORE_MS = Date.parse(TOMORROW) - 90_000;
  const CLASSES: [name: string, scripted: Scripted, outcome: object][] = [
    ['200', 200, { outcome: 'delivered' }],
    ['201', 201, { outcome: 'delivered' }],
    ['202', 202, { outcome: 'delivered' }],
    ['204', 204, { outcome: 'delivered' }],
    ['404', 404, { outcome: 'gone' }],
    ['410', 410, { outcome: 'gone' }],
    ['400', 400, { outcome: 'failed', reason: 'status 400' }],
    ['401', 401, { outcome: 'failed', reason: 'status 401' }],
    ['403', 403, { outcome: 'failed', reason: 'status 403' }],
    ['405', 405, { outcome: 'failed', reason: 'status 405' }],
    ['413', 413, { outcome: 'failed', reason: 'status 413' }],
    ['408', 408, { outcome: 'retry', afterMs: null, reason: 'status 408' }],
    ['429 without a time', 429, { outcome: 'retry', afterMs: null, reason: 'status 429' }],
    [
      '429 with seconds',
      { status: 429, headers: { 'retry-after': '120' } },
      { outcome: 'retry', afterMs: 120_000, reason: 'status 429' },
    ],
    [
      '429 with a date',
      { status: 429, headers: { 'retry-after': TOMORROW } },
      { outcome: 'retry', afterMs: 90_000, reason: 'status 429' },
    ],
    [
      '429 with a date that is over',
      { status: 429, headers: { 'retry-after': 'Tue, 20 Oct 2026 07:28:00 GMT' } },
      { outcome: 'retry', afterMs: 0, reason: 'status 429' },
    ],
    [
      '429 until the end of time',
      { status: 429, headers: { 'retry-after': '999999999999' } },
      { outcome: 'retry', afterMs: 86_400_000, reason: 'status 429' },
    ],
    [
      '429 with more digits than a number has',
      { status: 429, headers: { 'retry-after': '9'.repeat(400) } },
      { outcome: 'retry', afterMs: 86_400_000, reason: 'status 429' },
    ],
    [
      '429 with nonsense',
      { status: 429, headers: { 'retry-after': 'soon -1' } },
      { outcome: 'retry', afterMs: null, reason: 'status 429' },
    ],
    ['500', 500, { outcome: 'retry', afterMs: null, reason: 'status 500' }],
    ['502', 502, { outcome: 'retry', afterMs: null, reason: 'status 502' }],
    [
      '503 with seconds',
      { status: 503, headers: { 'retry-after': '7' } },
      { outcome: 'retry', afterMs: 7_000, reason: 'status 503' },
    ],
    ['a broken connection', { manner: 'reset' }, { outcome: 'retry', afterMs: null, reason: 'network' }],
  ];
  test.each(CLASSES)('an answer of %s leads to the right act', async (_, scripted, outcome) => {
    service.script.next(scripted);
    const sender = senderOf({ now: () => BEFORE_MS });

    await expect(sender.send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual(outcome);
    expect(service.pushes).toHaveLength(1);
    expect(service.complaints).toEqual([]);
  });

  test.each([301, 302, 303, 307, 308])('a redirect by %s is not followed', async (status) => {
    const elsewhere = service.subscribe();
    service.script.next({ status, headers: { location: elsewhere.endpoint } });

    await expect(senderOf().send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual({
      outcome: 'failed',
      reason: `redirect ${status}`,
    });
    expect(service.pushes).toHaveLength(1);
  });

  test('what is too large is sent once more without the preview, and then given up', async () => {
    const [sender, browser] = [senderOf(), service.subscribe()];
    const notice = noticeOf({ preview: { from: 'Phone', text: 'see you' } });
    service.script.next(413, 201, 413, 413);

    await expect(sender.send(targetOf(browser), notice)).resolves.toEqual({ outcome: 'delivered' });
    expect(service.pushes.map(({ payload }) => 'from' in payload)).toEqual([true, false]);
    await expect(sender.send(targetOf(browser), notice)).resolves.toEqual({ outcome: 'failed', reason: 'status 413' });
    expect(service.pushes).toHaveLength(4);
  });

  test.each([
    [201, { outcome: 'delivered' }],
    [410, { outcome: 'gone' }],
    [500, { outcome: 'retry', afterMs: null, reason: 'status 500' }],
  ])('of an endless or a huge answer of %s a few kilobytes are read', async (status, outcome) => {
    const sender = senderOf();
    for (const manner of ['endless', 'huge'] as const) {
      service.script.next({ status, manner });
      await expect(sender.send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual(outcome);
    }
    // Only the bytes that were on their way in buffers were written.
    await expect(service.script.poured()).resolves.toBeLessThan(33_554_432);
  });

  test('an answer whose body stands still counts by its status', async () => {
    service.script.next({ status: 410, manner: 'stalled' });
    await expect(senderOf().send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual({ outcome: 'gone' });
  });

  test('a service that does not answer is given up in time and tried again later', async () => {
    service.script.next({ manner: 'silent' });
    const sender = senderOf({ sendMs: 300 });

    await expect(sender.send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual({
      outcome: 'retry',
      afterMs: null,
      reason: 'timeout',
    });
  });

  test('headers without end are no answer', async () => {
    service.script.next({ status: 201, headers: { 'x-long': 'x'.repeat(20_000) } });
    await expect(senderOf().send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual({
      outcome: 'retry',
      afterMs: null,
      reason: 'network',
    });
  });

  test('a service whose certificate nobody vouches for gets no push', async () => {
    const sender = makeSender({
      vapid: { keys: [VAPID], subject: SUBJECT },
      endpointRules: { allow: [service.host] },
    });
    await expect(sender.send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual({
      outcome: 'retry',
      afterMs: null,
      reason: 'network',
    });
    expect(service.pushes).toEqual([]);
  });

  test('a certificate of another host is refused', async () => {
    const foreign = makeTestCertificate(['push.example']);
    const other = await startFakePushService({ certificate: foreign });
    const sender = makeSender({
      vapid: { keys: [VAPID], subject: SUBJECT },
      endpointRules: { allow: [other.host] },
      ca: foreign.cert.toString(),
    });
    await expect(sender.send(targetOf(other.subscribe()), noticeOf())).resolves.toEqual({
      outcome: 'retry',
      afterMs: null,
      reason: 'network',
    });
    expect(other.connections).toBe(1);
    expect(other.pushes).toEqual([]);
    await other.stop();
    foreign.remove();
  });

  test('stored keys that are none end the push and leave the registration', async () => {
    const target = targetOf(service.subscribe());
    const sender = senderOf();
    for (const wrong of [{ p256dh: `BA${'A'.repeat(85)}` }, { p256dh: '' }, { auth: 'short' }, { auth: '' }])
      await expect(sender.send({ ...target, ...wrong }, noticeOf())).resolves.toEqual({
        outcome: 'failed',
        reason: 'bad_keys',
      });
    expect(service.connections).toBe(0);
  });

  test('a kind that is not configured fails, and says so', async () => {
    const sender = makeSender({});
    for (const target of [
      targetOf(service.subscribe()),
      { kind: 'fcm', token: 't' },
      { kind: 'apns', token: 't' },
    ] as const)
      await expect(sender.send(target, noticeOf())).resolves.toEqual({ outcome: 'not_here', reason: 'not_configured' });
  });

  test('pushes are counted by the host and port of their provider', () => {
    const sender = senderOf();
    expect(sender.providerOf(targetOf(service.subscribe()))).toBe(service.host);
    expect(sender.providerOf(targetOf({ ...service.subscribe(), endpoint: 'https://fcm.googleapis.com/x' }))).toBe(
      'fcm.googleapis.com',
    );
  });
});
