import { EventEmitter, once } from 'node:events';
import { Deliverer } from '../../../services/sync/push/delivery/deliverer.ts';
import { makeNotices } from '../../../services/sync/push/delivery/notice.ts';
import type { PushSender, PushTarget } from '../../../services/sync/push/sender.ts';
import type { PushStore, Registration, Taken } from '../../../services/sync/push/store.ts';
import { makeMetrics } from '../../../services/sync/telemetry/metrics.ts';
import { targetOf } from './sending.ts';

const keys = { p256dh: '', auth: '' };
const registrationOf = (target: PushTarget): Registration => ({
  ...{ id: 'id', hash: 'hash', fence: '1', createdAtMs: 0, lastOkAtMs: null, isSuspended: false },
  ...{ preview: 'none', target },
});

/** Makes two push services: one that does not answer until it is told to, and one that answers at once. */
function makeScene(parts: Partial<Taken> = {}) {
  const news = new EventEmitter();
  const sent: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const hostOf = (deviceId: string) => `${deviceId.split('-')[0]}.example`;
  const sender: PushSender = {
    async send(target) {
      const { host } = new URL((target as PushTarget & { kind: 'web' }).endpoint);
      sent.push(host);
      news.emit(host);
      if (host === 'hanging.example') await released;
      return { outcome: 'delivered' };
    },
    providerOf: (target) => new URL((target as PushTarget & { kind: 'web' }).endpoint).host,
    close: () => Promise.resolve(),
  };
  const targetAt = (deviceId: string) => targetOf({ endpoint: `https://${hostOf(deviceId)}/${deviceId}`, keys });
  const store: Pick<PushStore, 'target' | 'take' | 'owns' | 'finish'> = {
    target: (_, { deviceId }) => Promise.resolve(targetAt(deviceId)),
    take: (_, { deviceId }) =>
      Promise.resolve<Taken>({
        ...{ registration: registrationOf(targetAt(deviceId)), newest: 'n', sinceMs: 0, attempts: 0, notHere: 0 },
        ...{ nowMs: 1, dueAtMs: 0, count: 1, id: 'n', message: '', ...parts },
      }),
    owns: () => Promise.resolve(true),
    finish: () => Promise.resolve(null),
  };
  const metrics = makeMetrics({ version: 'test' });
  const deliverer = new Deliverer({
    ...{ store: store as PushStore, concurrency: 2, scheduleDue: () => Promise.resolve(), metrics },
    outbox: () => Promise.resolve({ sender, notices: makeNotices({ topicSecret: 'secret', transferSeconds: 60 }) }),
    onFailure: (task, error) => {
      throw new Error(task, { cause: error });
    },
  });
  return {
    deliverer,
    release,
    sent,
    metrics,
    waiting: async () => (await metrics.push_queue_depth.get()).values[0]?.value ?? 0,
    /** Resolves when the answering service was sent a push. */
    answered: () => once(news, 'quick.example'),
  };
}

const jobOf = (deviceId: string) => `push:web:message:${deviceId}:peer`;

describe('a push service that hangs', () => {
  test('holds up no push for another one, and little waits for it here', async () => {
    const { deliverer, release, answered, waiting } = makeScene();
    for (let i = 0; i < 10_000; i++) deliverer.push('ann', jobOf(`hanging-${i}`));
    deliverer.push('ann', jobOf('quick-1'));
    await answered();
    expect(await waiting()).toBeLessThan(1_000);
    release();
    await deliverer.stop();
  });

  test('keeps nobody from taking over what others accepted for another one', async () => {
    const { deliverer, release, answered, sent } = makeScene();
    for (let i = 0; i < 1_000; i++) deliverer.takeOver('ann', jobOf(`hanging-${i}`));
    deliverer.takeOver('ann', jobOf('quick-1'));
    await answered();
    expect(sent.filter((host) => host === 'hanging.example')).toHaveLength(2);
    release();
    await deliverer.stop();
  });
});

test('what was delivered because of a message is counted as such, other pushes are not', async () => {
  const { deliverer, metrics, answered } = makeScene();
  for (const job of [jobOf('quick-1'), jobOf('quick-2').replace('message', 'transfer')]) {
    const sent = answered();
    deliverer.push('ann', job);
    await sent;
  }
  await deliverer.stop();
  expect((await metrics.push_sent_total.get()).values).toMatchObject([{ value: 2 }]);
  expect((await metrics.messages_unacked_pushed_total.get()).values).toMatchObject([{ value: 1 }]);
});

test.each([
  ['the first try counts from when it was due', { attempts: 0, dueAtMs: 1_014_000, nowMs: 1_015_000 }, 1],
  ['a later try counts from when the message came', { attempts: 2, dueAtMs: 1_014_000, nowMs: 1_015_000 }, 15],
  [
    'the try after a replica died counts as if no stream had been waited for longer than 15 s',
    { dueAtMs: 1_030_000, nowMs: 1_030_000 },
    15,
  ],
])('the delay of a push: %s', async (_, taken, seconds) => {
  const { deliverer, metrics, answered } = makeScene({ sinceMs: 1_000_000, ...taken });
  const sent = answered();
  deliverer.push('ann', jobOf('quick-1'));
  await sent;
  await deliverer.stop();
  const values = (await metrics.push_delay_seconds.get()).values;
  const valueOf = (end: string) => values.find(({ metricName }) => metricName?.endsWith(end))?.value;
  expect(valueOf('_count')).toBe(1);
  expect(Math.floor(valueOf('_sum') ?? 0)).toBe(seconds);
});
