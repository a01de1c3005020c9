import { createECDH, randomBytes } from 'node:crypto';
import type { Scenario } from './scenario.ts';

const ecdh = createECDH('prime256v1');
const P256DH = ecdh.generateKeys().toString('base64url');

export const push: Scenario = {
  name: 'push',
  what: 'subscriptions at the limit, at a push service that never answers, tests of them, lists, removals',
  works: /^20/,
  begin(attack) {
    const origin = `https://127.0.0.1:${attack.silentPort}`;
    attack.loop('subscribePush', (device) => {
      const keys = { p256dh: P256DH, auth: randomBytes(16).toString('base64url') };
      const endpoint = `${origin}/${randomBytes(600).toString('base64url')}`;
      return attack.ask(device, { method: 'POST', path: '/api/push/subscribe', body: { endpoint, keys } });
    });
    attack.loop('testPush', (device) => attack.ask(device, { method: 'POST', path: '/api/push/test', body: {} }));
    attack.loop('listPushSubscriptions', (device) => attack.ask(device, { path: '/api/push/subscriptions' }));
    attack.loop('removePushSubscription', (device) =>
      attack.ask(device, { method: 'DELETE', path: `/api/push/subscriptions/${crypto.randomUUID()}` }),
    );
  },
};
