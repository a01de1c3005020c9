import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { pushRoutes } from '../../../shared/contract/modules/push.ts';
import type { Db } from '../redis/db.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Deliverer } from './delivery/deliverer.ts';
import { makeNotices } from './delivery/notice.ts';
import { makePushQueue } from './push-queue.ts';
import { makePushHandlers } from './routes.ts';
import { makePushSender } from './senders/senders.ts';
import { makeSharedTexts } from './shared-texts.ts';
import { makePushStore } from './store.ts';
import { makeSubscriptions } from './subscriptions.ts';
import { makeVapidKeyStore, type VapidKeyStore } from './senders/web-push/vapid-key-store.ts';

interface PushModuleParts {
  db: Db;
  settings: Config['push'];
  transferSeconds: number;
  deadChannels: () => string;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  metrics: Metrics;
  onFailure: (task: string, error: unknown) => void;
}

/** Makes the sender and the notices of pushes, with the keys that this installation signs with. */
function makeOutbox(
  keys: Awaited<ReturnType<VapidKeyStore>>,
  {
    settings,
    texts,
    transferSeconds,
  }: { settings: Config['push']; texts: ReturnType<typeof makeSharedTexts>; transferSeconds: number },
) {
  const { fcm, apns, vapidSubject, endpointRules } = settings;
  const secrets = [keys?.[0]?.privateKey, fcm?.serviceAccount.private_key, apns?.privateKeyPem];
  return {
    sender: makePushSender({
      vapid: keys === null || vapidSubject === null ? null : { keys, subject: vapidSubject },
      fcm,
      apns,
      endpointRules,
      texts,
    }),
    notices: makeNotices({
      // All replicas know it, and no push service does.
      topicSecret: createHash('sha256')
        .update(`baton push topics\n${secrets.join('\n')}`)
        .digest('base64url'),
      transferSeconds,
    }),
  };
}

export function makePushModule({
  db,
  settings,
  deadChannels,
  scheduleDue,
  metrics,
  onFailure,
  transferSeconds,
}: PushModuleParts) {
  const { enabled, vapidSubject, endpointRules: rules } = settings;
  const texts = makeSharedTexts(db);
  const vapid = makeVapidKeyStore({ settings, keep: texts.keep });
  const native = (enabled ? (['fcm', 'apns'] as const) : []).filter((platform) => settings[platform] !== null);
  const hasWeb = enabled && vapidSubject !== null;
  const isEnabled = hasWeb || native.length > 0;
  const queue = makePushQueue({
    isEnabled,
    accountOf: db.keys.accountOf,
    scheduleDue,
    pushNow: (account, job) => deliverer.push(account, job),
    onFailure,
  });
  const store = makePushStore({ ...db, deadChannels, queue });

  let made: ReturnType<typeof makeOutbox> | null = null;
  // Keys made at the first start are in the store, which may be unreachable when the replica starts.
  const outbox = async () => {
    const keys = await vapid();
    made ??= makeOutbox(keys, { settings, texts, transferSeconds });
    return made;
  };

  const { concurrency } = settings;
  const deliverer = new Deliverer({ store, outbox, concurrency, scheduleDue, metrics, onFailure });
  const subscriptions = makeSubscriptions({ store, vapid, native, rules, onFailure });

  return {
    queue,
    dropDevice: subscriptions.dropDevice,
    dropAccount: subscriptions.dropAccount,
    features: { web_push: hasWeb, native_push: native.length > 0 },
    /** Pushes what the sweep of due jobs finds, as soon as the push service has a free slot here. */
    resume: async (account: string, job: string) => {
      deliverer.takeOver(account, job);
      return 'waiting';
    },
    disabledRoutes: isEnabled ? [] : Object.keys(pushRoutes),
    handlers: makePushHandlers({
      subscriptions,
      vapid,
      native,
      sendTest: ({ account, deviceId }, id) => store.test(account, deviceId as string, id),
    }),
    async stop(): Promise<void> {
      await deliverer.stop();
      await made?.sender.close();
    },
  };
}
