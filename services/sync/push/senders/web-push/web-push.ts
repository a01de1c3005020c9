import webPush from 'web-push';
import { checkEndpoint, checkKeys } from '../../guard/endpoint.ts';
import { type GuardedAgentParts, makeGuardedAgent } from '../../guard/guarded-agent.ts';
import type { PushNotice, PushOutcome, PushTarget } from '../../sender.ts';
import { failed, GONE, notHere, outcomeOfStatus } from '../outcomes.ts';
import { webPayload } from '../payload.ts';
import { post } from '../post.ts';
import { checkSubject, checkVapidKey, type VapidOptions } from './vapid.ts';
import { makeVapidTokens } from './vapid-tokens.ts';

type WebTarget = Extract<PushTarget, { kind: 'web' }>;

interface WebPushParts extends GuardedAgentParts {
  vapid: VapidOptions;
  now: () => number;
}

/** Builds the encrypted request (RFC 8030, sections 5.2 to 5.4, RFC 8291). Throws for invalid keys of the browser. */
function sealed({ endpoint, p256dh, auth }: WebTarget, notice: PushNotice, withPreview: boolean) {
  const { headers, body } = webPush.generateRequestDetails(
    { endpoint, keys: { p256dh, auth } },
    webPayload(notice, { withPreview }),
    {
      contentEncoding: 'aes128gcm',
      // The package's own default is four weeks.
      TTL: notice.ttlSeconds,
      urgency: notice.urgency,
      topic: notice.topic,
    },
  );
  const texts = Object.entries(headers as Record<string, unknown>).map(([name, value]) => [name, String(value)]);
  return { headers: Object.fromEntries(texts) as Record<string, string>, body };
}

/**
 * Makes the sender to the push services of browsers, with the VAPID key of each subscription. Endpoints are judged again
 * before each push, because the rules may have become stricter since the endpoint was stored. Throws at once for keys
 * or a contact that no push service would accept.
 */
export function makeWebPush({ vapid, rules, ca, resolve, now }: WebPushParts) {
  const wrongKey = vapid.keys.find((key) => !checkVapidKey(key));
  if (wrongKey !== undefined) throw new Error(`The VAPID key ${wrongKey.id} is no pair of keys on P-256`);
  const wrongSubject = checkSubject(vapid.subject);
  if (wrongSubject !== null) throw new Error(`The VAPID subject ${wrongSubject}`);
  const { dispatcher, close } = makeGuardedAgent({ rules, ca, resolve });
  const tokens = makeVapidTokens({ subject: vapid.subject, now });

  return {
    providerOf: ({ endpoint }: WebTarget): string => (URL.canParse(endpoint) ? new URL(endpoint).host : 'invalid'),

    async send(target: WebTarget, notice: PushNotice, signal: AbortSignal): Promise<PushOutcome> {
      if (checkEndpoint(target.endpoint, rules) !== null) return notHere('endpoint_not_allowed');
      const key = vapid.keys.find(({ id }) => id === target.keyId);
      if (key === undefined) return notHere('key_unknown');
      const { origin } = new URL(target.endpoint);
      const attempt = async (withPreview: boolean) => {
        const { headers, body } = sealed(target, notice, withPreview);
        const authorization = tokens.authorizationFor(key, origin);
        return post({ url: target.endpoint, headers: { ...headers, authorization }, body, dispatcher, signal });
      };
      try {
        let answer = await attempt(true);
        if (answer.status === 413 && notice.preview !== null) answer = await attempt(false);
        if (answer.status === 401 || answer.status === 403) tokens.forget(key, origin);
        return answer.status === 404 || answer.status === 410 ? GONE : outcomeOfStatus(answer, now());
      } catch (error) {
        if (checkKeys(target.p256dh, target.auth)) throw error;
        return failed('bad_keys');
      }
    },

    close,
  };
}
