import { createHash, createPrivateKey } from 'node:crypto';
import type { Kind } from '../../../shared/service-kit/config/kinds.ts';
import type { EndpointRules } from '../push/guard/endpoint-rules.ts';
import type { ApnsOptions } from '../push/senders/apns/apns.ts';
import type { FcmOptions } from '../push/senders/fcm/fcm.ts';
import { checkSubject, checkVapidKey, isUnreal, type VapidKey } from '../push/senders/web-push/vapid.ts';

export interface PushConfig {
  readonly enabled: boolean;
  /** Empty if the keys are made on the first start and kept in the store. */
  readonly vapidKeys: readonly VapidKey[];
  /** Null: no web push. */
  readonly vapidSubject: string | null;
  readonly endpointRules: EndpointRules;
  readonly fcm: FcmOptions | null;
  readonly apns: ApnsOptions | null;
  /** Pushes that one replica may have in progress at one provider. */
  readonly concurrency: number;
}

/** The contact of a trial installation, which push services need not reach. Apple demands a page that exists. */
const DEVELOPMENT_SUBJECT = 'https://www.rfc-editor.org/rfc/rfc8292';

/** Returns the id that subscriptions are stored with, so that the key can be rotated. */
export const vapidKeyId = (publicKey: string): string =>
  createHash('sha256').update(publicKey).digest('base64url').slice(0, 16);

const listOf =
  (pattern: RegExp, says: string): Kind<readonly string[]> =>
  (text) => {
    const parts = text.split(',').map((part) => part.trim().replace(/=+$/, ''));
    return parts.every((part) => pattern.test(part)) ? { value: parts } : { problem: `must be ${says}` };
  };

/** One key, or several during a rotation, the newest first. */
export const vapidPublicKeys = listOf(/^B[\w-]{86}$/, 'comma-separated points on P-256 of 65 bytes, in base64url');
export const vapidPrivateKeys = listOf(/^[\w-]{43}$/, 'comma-separated keys of 32 bytes, in base64url');

export const vapidSubject: Kind<string> = (text) => {
  const problem = checkSubject(text);
  return problem === null ? { value: text } : { problem };
};

/** Parses the file that Google gives for a service account. */
export const serviceAccount: Kind<FcmOptions['serviceAccount']> = (text) => {
  const needed = ['project_id', 'client_email', 'private_key', 'private_key_id', 'token_uri'] as const;
  try {
    const account = JSON.parse(text) as FcmOptions['serviceAccount'];
    if (needed.every((field) => typeof account[field] === 'string')) {
      const isRsa = createPrivateKey(account.private_key).asymmetricKeyType === 'rsa';
      if (isRsa && account.token_uri.startsWith('https://')) return { value: account };
    }
  } catch {
    // The return below reports it, without the contents.
  }
  return {
    problem: `must be the JSON of a service account, with an RSA key, an https token_uri and ${needed.join(', ')}`,
  };
};

/** Parses PKCS #8 in PEM, as Apple gives it. Line ends may be written as \n. */
export const applePrivateKey: Kind<string> = (text) => {
  const pem = text.replaceAll('\\n', '\n');
  try {
    if (createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1') return { value: pem };
  } catch {
    // The return below reports it.
  }
  return { problem: 'must be the private key (.p8) that Apple gave' };
};

export interface PushValues {
  readonly NODE_ENV: string | null;
  readonly APP_PUSH_ENABLED: boolean | null;
  readonly APP_VAPID_PUBLIC_KEY: readonly string[] | null;
  readonly APP_VAPID_PRIVATE_KEY: readonly string[] | null;
  readonly APP_VAPID_SUBJECT: string | null;
  readonly APP_PUSH_ENDPOINTS: EndpointRules;
  readonly APP_PUSH_CONCURRENCY: number;
  readonly APP_FCM_SERVICE_ACCOUNT: FcmOptions['serviceAccount'] | null;
  readonly APP_FCM_URL: string | null;
  readonly APP_APNS_KEY: string | null;
  readonly APP_APNS_KEY_ID: string | null;
  readonly APP_APNS_TEAM: string | null;
  readonly APP_APNS_TOPIC: string | null;
  readonly APP_APNS_URL: string | null;
}

const VAPID = ['APP_VAPID_PUBLIC_KEY', 'APP_VAPID_PRIVATE_KEY', 'APP_VAPID_SUBJECT'] as const;
const APNS = ['APP_APNS_KEY', 'APP_APNS_KEY_ID', 'APP_APNS_TEAM', 'APP_APNS_TOPIC'] as const;

/** Returns false when there are keys of both kinds and a private key does not belong to the public key at its position. */
function areVapidPairs({ APP_VAPID_PUBLIC_KEY: publicKeys, APP_VAPID_PRIVATE_KEY: privateKeys }: PushValues): boolean {
  if (!publicKeys || !privateKeys) return true;
  const isPair = (publicKey: string, i: number) => checkVapidKey({ publicKey, privateKey: privateKeys[i] ?? '' });
  return publicKeys.length === privateKeys.length && publicKeys.every(isPair);
}

/** Checks the rules that bind several keys of push. `given` tells an absent key from one that was already reported. */
export function checkPush(
  values: PushValues,
  given: (key: (typeof VAPID)[number] | (typeof APNS)[number]) => boolean,
  report: (key: string, message: string) => void,
): void {
  const production = values.NODE_ENV === 'production';
  const withKeys = given('APP_VAPID_PUBLIC_KEY') || given('APP_VAPID_PRIVATE_KEY');
  const withApns = APNS.some(given);
  const demanded = production && values.APP_PUSH_ENABLED === true && !withApns && !values.APP_FCM_SERVICE_ACCOUNT;
  for (const key of VAPID) {
    // Outside of production a default subject is used, because push services need not reach anybody there.
    if (given(key) || (key === 'APP_VAPID_SUBJECT' && !production)) continue;
    if (withKeys) report(key, 'is required with the other keys of VAPID');
    else if (demanded) report(key, 'is required in production with APP_PUSH_ENABLED=true');
  }
  for (const key of APNS) if (withApns && !given(key)) report(key, 'is required with the other keys of APNs');
  if (!areVapidPairs(values)) report('APP_VAPID_PUBLIC_KEY', 'must belong to APP_VAPID_PRIVATE_KEY, each in its place');
  if (!production) return;
  for (const key of ['APP_FCM_URL', 'APP_APNS_URL'] as const) {
    if (values[key] !== null) report(key, 'must not be set in production: it is for trials');
  }
}

/** Returns warnings about settings that work, but not as an operator may expect. */
export function pushWarnings({ enabled, vapidSubject: contact, fcm, apns }: PushConfig): string[] {
  if (!enabled) return [];
  const warnings: string[] = [];
  if (contact === null && fcm === null && apns === null) {
    warnings.push('Devices without a stream are not woken: push has no keys (APP_VAPID_*, APP_FCM_*, APP_APNS_*)');
  }
  if (contact !== null && isUnreal(contact)) {
    warnings.push(
      'APP_VAPID_SUBJECT reaches nobody: Apple refuses pushes whose contact is in a local or an example domain',
    );
  }
  return warnings;
}

const apnsOf = (values: PushValues): PushConfig['apns'] => {
  const { APP_APNS_KEY: privateKeyPem, APP_APNS_KEY_ID: keyId, APP_APNS_TEAM: teamId, APP_APNS_TOPIC: topic } = values;
  if (privateKeyPem === null || keyId === null || teamId === null || topic === null) return null;
  return { privateKeyPem, keyId, teamId, topic, host: values.APP_APNS_URL ?? undefined };
};

/** Call it only after `checkPush` reported nothing. In production there is no web push without keys. */
export function pushOf(values: PushValues): PushConfig {
  const { APP_VAPID_PUBLIC_KEY: publicKeys, APP_VAPID_PRIVATE_KEY: privateKeys } = values;
  const hasWeb = publicKeys !== null || values.NODE_ENV !== 'production';
  const { APP_FCM_SERVICE_ACCOUNT: account, APP_FCM_URL: url } = values;
  return {
    enabled: values.APP_PUSH_ENABLED !== false,
    vapidKeys: (publicKeys ?? []).map((publicKey, i) => ({
      id: vapidKeyId(publicKey),
      publicKey,
      privateKey: privateKeys?.[i] ?? '',
      current: i === 0,
    })),
    vapidSubject: hasWeb ? (values.APP_VAPID_SUBJECT ?? DEVELOPMENT_SUBJECT) : null,
    endpointRules: values.APP_PUSH_ENDPOINTS,
    fcm: account === null ? null : { serviceAccount: account, url: url ?? undefined },
    apns: apnsOf(values),
    concurrency: values.APP_PUSH_CONCURRENCY,
  };
}
