import { createHash } from 'node:crypto';
import { SignJWT } from 'jose';
import type { PushNotice, PushOutcome, PushTarget, SharedTexts } from '../../sender.ts';
import { makeApnsConnection } from './apns-connection.ts';
import { GONE, outcomeOfStatus, retry } from '../outcomes.ts';
import { payloadOf } from '../payload.ts';
import type { ProviderAnswer } from '../post.ts';
import { makeProviderToken, type ProviderToken } from '../provider-token.ts';
import { readSigningKey } from '../signing-key.ts';

type ApnsTarget = Extract<PushTarget, { kind: 'apns' }>;

export interface ApnsOptions {
  readonly teamId: string;
  readonly keyId: string;
  /** The .p8 file: PKCS #8, PEM. */
  readonly privateKeyPem: string;
  /** The bundle id of the app. */
  readonly topic: string;
  /** `host[:port]` or an https URL instead of those of Apple, for development. */
  readonly host?: string | undefined;
}

interface ApnsParts {
  apns: ApnsOptions;
  texts: SharedTexts;
  ca: string | undefined;
  now: () => number;
}

const APNS_HOSTS = { production: 'api.push.apple.com', sandbox: 'api.sandbox.push.apple.com' };
/** Apple refuses tokens older than an hour, and tokens that change more often than every 20 minutes. */
const TOKEN_SECONDS = 3_000;
const LEAST_TOKEN_MS = 1_200_000;
/** The pause before the next try when Apple says that the token changed too recently, or has expired too early. */
const TOKEN_PAUSE_MS = 60_000;

/** The keys of the alert texts. The device shows the key itself if the app has no text for it. */
const LINES: Record<PushNotice['type'], string> = {
  message: 'New message',
  transfer: 'New files',
  device: 'New device',
  test: 'Test',
};

/** Returns a message that names only the kind. `mutable-content` lets the app fetch the rest and show it. */
const messageOf = (notice: PushNotice): string =>
  JSON.stringify({
    aps: { alert: { 'loc-key': LINES[notice.type] }, sound: 'default', 'mutable-content': 1 },
    ...payloadOf(notice),
  });

/** Returns Apple's reason. `timestamp` is when Apple found that the token is no longer valid; it comes only with 410. */
function wordsOf({ body }: ProviderAnswer): { reason: string; timestamp: unknown } {
  try {
    const { reason, timestamp } = JSON.parse(body) as { reason?: unknown; timestamp?: unknown };
    return { reason: String(reason), timestamp };
  } catch {
    return { reason: '', timestamp: undefined };
  }
}

const NO_WORDS = { reason: '', timestamp: undefined };
const GONE_REASONS = ['Unregistered', 'ExpiredToken'];

function outcomeOfAnswer(answer: ProviderAnswer, nowMs: number): PushOutcome {
  const { reason, timestamp } = [400, 410, 429].includes(answer.status) ? wordsOf(answer) : NO_WORDS;
  if (GONE_REASONS.includes(reason)) return typeof timestamp === 'number' ? { ...GONE, asOfMs: timestamp } : GONE;
  if (reason === 'TooManyProviderTokenUpdates') return retry('token_updates', TOKEN_PAUSE_MS);
  return outcomeOfStatus(answer, nowMs);
}

/**
 * Makes the sender for the HTTP/2 API of the Apple Push Notification service, with a provider token that all replicas share.
 * Throws at once for a key that cannot sign.
 */
export function makeApns({ apns, texts, ca, now }: ApnsParts) {
  const { teamId, keyId, privateKeyPem, topic, host } = apns;
  const connectionTo = (of: string) => {
    const url = new URL(of.includes('://') ? of : `https://${of}`);
    return { host: url.host, ...makeApnsConnection({ origin: url.origin, ca }) };
  };
  const production = connectionTo(host ?? APNS_HOSTS.production);
  const sandbox = host === undefined ? connectionTo(APNS_HOSTS.sandbox) : production;
  const connectionOf = ({ environment }: ApnsTarget) => (environment === 'sandbox' ? sandbox : production);
  const signingKey = readSigningKey(privateKeyPem, 'ES256', 'APNs');
  const mint = async () => ({
    text: await new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setIssuedAt(Math.floor(now() / 1_000))
      .sign(signingKey),
    seconds: TOKEN_SECONDS,
  });
  const key = createHash('sha256').update(`${teamId} ${keyId}`).digest('base64url').slice(0, 16);
  const tokens = makeProviderToken({ name: `apns:${key}`, texts, mint, leastAgeMs: LEAST_TOKEN_MS, now });

  const headersOf = ({ text }: ProviderToken, notice: PushNotice): Record<string, string> => ({
    authorization: `bearer ${text}`,
    'apns-topic': topic,
    'apns-push-type': 'alert',
    'apns-collapse-id': notice.topic,
    'apns-expiration': String(Math.floor(now() / 1_000) + notice.ttlSeconds),
    'apns-priority': notice.urgency === 'high' ? '10' : '5',
    'content-type': 'application/json',
  });

  return {
    providerOf: (target: ApnsTarget): string => connectionOf(target).host,

    async send(target: ApnsTarget, notice: PushNotice, signal: AbortSignal): Promise<PushOutcome> {
      const [path, body] = [`/3/device/${encodeURIComponent(target.token)}`, messageOf(notice)];
      const attempt = (token: ProviderToken) =>
        connectionOf(target).post({ headers: headersOf(token, notice), path, body, signal });
      const token = await tokens.get();
      const answer = await attempt(token);
      if (answer.status !== 403 || wordsOf(answer).reason !== 'ExpiredProviderToken')
        return outcomeOfAnswer(answer, now());
      const next = await tokens.after(token);
      // If Apple calls a young token expired, a clock is wrong. A new token would not help, and Apple limits new tokens.
      if (next === null) return retry('token_expired', TOKEN_PAUSE_MS);
      return outcomeOfAnswer(await attempt(next), now());
    },

    async close(): Promise<void> {
      await Promise.all([...new Set([production, sandbox])].map((connection) => connection.close()));
    },
  };
}
