import type { Preview } from '../../shared/contract/modules/push.ts';
import type { TestDevice } from '../support/device.ts';
import { type FakeApns, startFakeApns } from '../support/fake-push/apns.ts';
import { makeTestCertificate } from '../support/fake-push/certificate.ts';
import {
  type FakePushService,
  type FakeSubscription,
  startFakePushService,
} from '../support/fake-push/push-service.ts';
import { type FakeFcm, startFakeFcm } from '../support/fake-push/fcm.ts';
import type { Scripted } from '../support/fake-push/scripted.ts';
import type { ReplicaProcess } from '../support/replicas.ts';
import { type Site, startSite } from '../support/site.ts';

/** Replicas that may push to a push service of this machine. */
export interface PushSite {
  readonly site: Site;
  readonly service: FakePushService;
  readonly fcm: FakeFcm;
  readonly apns: FakeApns;
  readonly env: Record<string, string>;
  /** Makes a browser of the device subscribe, or send its subscription again. */
  subscribe(
    device: TestDevice,
    options?: { preview?: Preview; again?: FakeSubscription; on?: ReplicaProcess },
  ): Promise<FakeSubscription>;
  /**
   * Holds back the answer to the next push of this subscription until `answer` is called. `sent` resolves when the push
   * has come.
   */
  hold(
    subscription: FakeSubscription,
    scripted: Exclude<Scripted, number>,
  ): { sent: Promise<unknown>; answer: () => void };
  /** Resolves when no push is pending any more for the devices of this device's account. */
  settled(device: TestDevice): Promise<void>;
  stop(): Promise<void>;
}

const CHECK_EVERY_MS = 20;

const nativeEnv = (fcm: FakeFcm, { account, url }: FakeApns): Record<string, string> => ({
  APP_FCM_SERVICE_ACCOUNT: JSON.stringify(fcm.serviceAccount),
  APP_FCM_URL: fcm.url,
  APP_APNS_KEY: account.privateKeyPem,
  APP_APNS_KEY_ID: account.keyId,
  APP_APNS_TEAM: account.teamId,
  APP_APNS_TOPIC: account.topic,
  APP_APNS_URL: url,
});

/** Starts the site. For `beforeAll`. `native`: also with FCM and APNs. */
export async function startPushSite(
  env: Record<string, string> = {},
  { alone = false, native = false } = {},
): Promise<PushSite> {
  const certificate = makeTestCertificate();
  const service = await startFakePushService({ certificate });
  const [fcm, apns] = [await startFakeFcm({ certificate }), await startFakeApns({ certificate })];
  const all = { APP_PUSH_ENDPOINTS: service.host, NODE_EXTRA_CA_CERTS: certificate.certFile, ...env };
  const natively = nativeEnv(fcm, apns);
  const site = await startSite({ ...(native && natively), ...all }, { alone });
  return {
    site,
    ...{ service, fcm, apns },
    env: all,
    async subscribe(device, { preview, again, on = site.one } = {}) {
      const client = device.on(on);
      const { vapid_public_key: key } = (await client.call('getPushConfig')).body;
      const subscription = again ?? service.subscribe(key ?? undefined);
      const { endpoint, keys } = subscription;
      await client.call('subscribePush', { body: { endpoint, keys, ...(preview && { preview }) } });
      return subscription;
    },
    hold(subscription, scripted) {
      let answer = () => {};
      const until = new Promise<void>((resolve) => {
        answer = resolve;
      });
      service.scriptOf(subscription).next({ ...scripted, until });
      return { sent: service.received(1, subscription), answer };
    },
    async settled({ user }) {
      const key = `${site.prefix}:{${user}}:due`;
      const isPending = async () => (await site.redis.zrange(key, '0', '-1')).some((job) => job.startsWith('push:'));
      while (await isPending()) await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
    },
    async stop() {
      await site.stop();
      await Promise.all([service, fcm, apns].map((fake) => fake.stop()));
      certificate.remove();
    },
  };
}

/** Sends a text from one device to another. */
export const tell = async (
  from: TestDevice,
  to: Pick<TestDevice, 'id'>,
  replica: { url: string },
  content = 'the secret text',
) => (await from.on(replica).call('sendMessage', { body: { to_device_id: to.id, content } })).body;
