import { createHash } from 'node:crypto';
import { Agent } from 'undici';
import type { PushNotice, PushOutcome, PushTarget, SharedTexts } from '../../sender.ts';
import { type AccessAccount, makeAccessTokens, TokenRefused } from './access-token.ts';
import { failed, GONE, outcomeOfStatus, retry } from '../outcomes.ts';
import { payloadOf } from '../payload.ts';
import { post, type ProviderAnswer } from '../post.ts';

type FcmTarget = Extract<PushTarget, { kind: 'fcm' }>;

export interface FcmOptions {
  /** The JSON file of the service account, parsed. */
  readonly serviceAccount: AccessAccount & { readonly project_id: string };
  /** The URL of the API, for development. */
  readonly url?: string | undefined;
}

interface FcmParts {
  fcm: FcmOptions;
  texts: SharedTexts;
  ca: string | undefined;
  now: () => number;
}

const FCM_URL = 'https://fcm.googleapis.com';
const CONNECT_MS = 3_000;
/** Google asks senders to wait at least a minute when there is no `Retry-After`. */
const QUOTA_PAUSE_MS = 60_000;

/**
 * Returns a message that has only data: the app wakes, asks the service and decides what to show. `data` takes only
 * strings.
 */
const messageOf = (token: string, notice: PushNotice) => ({
  message: {
    token,
    data: Object.fromEntries(Object.entries(payloadOf(notice)).map(([key, value]) => [key, String(value)])),
    android: {
      priority: notice.urgency === 'high' ? 'HIGH' : 'NORMAL',
      ttl: `${notice.ttlSeconds}s`,
      collapse_key: notice.topic,
    },
  },
});

/** Returns the `errorCode` of the FcmError among the details, else the canonical status. */
function errorCode(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { status?: unknown; details?: { errorCode?: unknown }[] } };
    const code = error?.details?.find((detail) => typeof detail.errorCode === 'string')?.errorCode;
    return String(code ?? error?.status);
  } catch {
    return '';
  }
}

function outcomeOfAnswer(answer: ProviderAnswer, nowMs: number): PushOutcome {
  if (answer.status === 404 && errorCode(answer.body) === 'UNREGISTERED') return GONE;
  const outcome = outcomeOfStatus(answer, nowMs);
  return answer.status === 429 && outcome.outcome === 'retry' && outcome.afterMs === null
    ? retry(outcome.reason, QUOTA_PAUSE_MS)
    : outcome;
}

/** Makes the sender for the HTTP v1 API of Firebase Cloud Messaging. */
export function makeFcm({ fcm: { serviceAccount, url = FCM_URL }, texts, ca, now }: FcmParts) {
  const dispatcher = new Agent({ connect: { timeout: CONNECT_MS, ...(ca !== undefined && { ca }) }, connections: 32 });
  const account = createHash('sha256').update(serviceAccount.client_email).digest('base64url').slice(0, 16);
  const tokens = makeAccessTokens({ account: serviceAccount, name: `fcm:${account}`, texts, dispatcher, now });
  const sendUrl = `${url.replace(/\/+$/, '')}/v1/projects/${encodeURIComponent(serviceAccount.project_id)}/messages:send`;

  async function attempt(accessToken: string, body: string, signal: AbortSignal): Promise<ProviderAnswer> {
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
    return post({ url: sendUrl, headers, body, dispatcher, signal });
  }

  return {
    providerOf: (): string => new URL(url).host,

    async send({ token }: FcmTarget, notice: PushNotice, signal: AbortSignal): Promise<PushOutcome> {
      const body = JSON.stringify(messageOf(token, notice));
      try {
        const access = await tokens.get();
        const answer = await attempt(access.text, body, signal);
        // With this code, a 401 means that Apple refused FCM itself. No token of ours changes that.
        const isOurs = answer.status === 401 && errorCode(answer.body) !== 'THIRD_PARTY_AUTH_ERROR';
        const next = isOurs ? await tokens.after(access) : null;
        return outcomeOfAnswer(next === null ? answer : await attempt(next.text, body, signal), now());
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        return error.isFinal ? failed('token_refused') : retry('token_unavailable');
      }
    },

    close: (): Promise<void> => dispatcher.destroy(),
  };
}
