import { makeVapidKeys } from '../../../services/sync/push/senders/web-push/vapid.ts';
import { makePushSender, type PushSenderParts } from '../../../services/sync/push/senders/senders.ts';
import type { PushNotice, PushSender, PushTarget, SharedTexts } from '../../../services/sync/push/sender.ts';
import type { FakeSubscription } from '../../support/fake-push/push-service.ts';

/* Builders for the tests of the senders. */

export const SUBJECT = 'mailto:push@baton-ops.dev';

export const VAPID = { id: 'key-1', ...makeVapidKeys(), current: true };

export const noticeOf = (parts: Partial<PushNotice> = {}): PushNotice => ({
  type: 'message',
  count: 1,
  id: '0197c0de-0000-7000-8000-000000000001',
  preview: null,
  ttlSeconds: 86_400,
  urgency: 'high',
  topic: 'dGhyZWFkLW9mLXRoZS1zZW5kZXI0MQ',
  ...parts,
});

export const targetOf = (
  { endpoint, keys }: Pick<FakeSubscription, 'endpoint' | 'keys'>,
  keyId = VAPID.id,
): PushTarget & { kind: 'web' } => ({ kind: 'web', endpoint, ...keys, keyId });

/** Makes the texts that the replicas share, as one of them sees them. */
export function makeTexts(): SharedTexts & { readonly all: ReadonlyMap<string, string> } {
  const all = new Map<string, string>();
  return {
    all,
    get: (name) => Promise.resolve(all.get(name) ?? null),
    put(name, text) {
      if (!all.has(name)) all.set(name, text);
      return Promise.resolve(all.get(name) ?? text);
    },
  };
}

const senders = new Set<PushSender>();

/** Makes a sender that `afterEach(closeSenders)` closes. */
export function makeSender(parts: Partial<PushSenderParts>): PushSender {
  const endpointRules = { allow: ['known'] };
  const sender = makePushSender({ vapid: null, fcm: null, apns: null, endpointRules, texts: makeTexts(), ...parts });
  senders.add(sender);
  return sender;
}

export async function closeSenders(): Promise<void> {
  await Promise.all([...senders].map((sender) => sender.close()));
  senders.clear();
}
