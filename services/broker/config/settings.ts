import { BROKER_LIMITS } from '../../../shared/contract/modules/broker.ts';
import {
  anyText,
  flag,
  httpUrl,
  integer,
  type Kind,
  matching,
  oneOf,
  origin,
  rotatingSecret,
} from '../../../shared/service-kit/config/kinds.ts';
import { redisAddress } from '../../../shared/service-kit/config/redis.ts';
import { KEEP_ALIVE_SECONDS } from '../../../shared/service-kit/http/server.ts';
import { type Setting, setting } from '../../../shared/service-kit/config/setting.ts';
import { passwordRow, usernameRow } from '../../../shared/service-kit/config/store-users.ts';

const seconds = (most: number): Kind<number> => integer(1, most);

const listOf =
  <T>(kind: Kind<T>): Kind<readonly T[]> =>
  (text) => {
    const parsed = text.split(',').map((part) => kind(part.trim()));
    const wrong = parsed.find((part) => 'problem' in part);
    if (wrong !== undefined && 'problem' in wrong) return { problem: `${wrong.problem}, comma-separated` };
    return { value: parsed.flatMap((part) => ('value' in part ? [part.value] : [])) };
  };

const APP_NAME = '[A-Za-z0-9._-]{1,64}';

/** Parses `app:token`. Both travel in headers, so they are visible ASCII. */
const appToken: Kind<{ app: string; token: string }> = (text) => {
  const [, app, token] = new RegExp(`^(${APP_NAME}):([\\x21-\\x7e]{1,512})$`).exec(text) ?? [];
  return app === undefined || token === undefined
    ? { problem: 'must be <app>:<token> of visible ASCII characters' }
    : { value: { app, token } };
};

/**
 * Parses an issuer, and keeps the text unchanged: issuers are compared character by character, including a slash at the
 * end.
 */
const issuer: Kind<string> = (text) => {
  const parsed = httpUrl(text);
  return 'problem' in parsed ? parsed : { value: text };
};

const subject = matching(/^[\x21-\x7e]{1,255}$/, 'a user id of visible ASCII characters');

/** Every key that the broker reads. Instead of each key, `<KEY>_FILE` can give the path of a file that holds the value. */
export const SETTINGS = {
  NODE_ENV: setting(oneOf('production', 'development', 'test'), {
    defaultSays: '',
    meaning: '`production` refuses everything that is only fit for trials; otherwise `development`, `test` or nothing.',
  }),
  BROKER_HOST: setting(matching(/^[\w.:-]+$/, 'a host name or an address'), {
    defaultSays: '`127.0.0.1` with `BROKER_DEV_LOGIN`, else `0.0.0.0`',
    meaning: 'Address to listen on.',
  }),
  BROKER_PORT: setting(integer(1, 65_535), { default: '8090', meaning: 'Port to listen on.' }),
  BROKER_ADMIN_PORT: setting(integer(0, 65_535), {
    default: '9190',
    meaning: 'Port for health and metrics, not for the public; 0 takes a free one.',
  }),
  BROKER_KEEP_ALIVE_SECONDS: setting(integer(5, 4_000), {
    default: String(KEEP_ALIVE_SECONDS),
    meaning:
      'How long a connection stays open between requests. It must be longer than in the proxy or balancer in front; otherwise a request can meet a closing connection.',
  }),
  BROKER_DRAIN_NOTICE_SECONDS: setting(integer(0, 600), {
    defaultSays: '`10`; 0 with `BROKER_DEV_LOGIN`',
    meaning:
      'How long a stopping broker still takes requests while it reports that it is not ready, so that every balancer learns it. It is half a second if no request came for as long before the stop.',
  }),
  BROKER_REDIS_URL: setting(redisAddress, {
    defaultSays: 'required',
    meaning:
      'The store: `redis://host:port/db`, with TLS `rediss://`; behind Sentinel `redis+sentinel://host,host,host/master`; for a cluster, several comma-separated nodes. User and password may stand before the first host (`user:password@`, percent-encoded), or in the settings below.',
    secret: true,
  }),
  BROKER_REDIS_USERNAME: usernameRow('BROKER_REDIS_URL', 'at the store'),
  BROKER_REDIS_PASSWORD: passwordRow('BROKER_REDIS_URL', 'at the store'),
  BROKER_REDIS_SENTINEL_USERNAME: usernameRow('BROKER_REDIS_URL', 'at the sentinels'),
  BROKER_REDIS_SENTINEL_PASSWORD: passwordRow('BROKER_REDIS_URL', 'at the sentinels'),
  BROKER_KEY_PREFIX: setting(
    matching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, '1 to 64 characters of A-Z a-z 0-9 . _ : -'),
    { default: 'broker', meaning: 'First part of every key in the store.' },
  ),
  BROKER_TOKENS: setting(listOf(appToken), {
    defaultSays: 'required',
    meaning:
      'Comma-separated `app:token`: the apps that may call `/v1`. An app that is listed twice has two tokens, so that they can be changed.',
    secret: true,
  }),
  BROKER_SECRET: setting(rotatingSecret, {
    defaultSays: 'required in production, else none',
    meaning:
      'The secret that encrypts the private keys in the store: at least 32 characters, best from a file of mode 0600 (`BROKER_SECRET_FILE`); two comma-separated values while it is being changed, the new one first. Without it, the keys are stored unencrypted; once it is set, they are encrypted.',
    secret: true,
  }),
  BROKER_PUBLIC_URL: setting(httpUrl, {
    defaultSays: 'required in production, else `http://localhost:<BROKER_PORT>`',
    meaning:
      'The URL at which browsers reach `/login` and its callback. It is also the issuer of the tokens, and with https the name of the cookie begins with `__Host-`.',
  }),
  BROKER_RETURN_ORIGINS: setting(listOf(origin), {
    defaultSays: 'none',
    meaning: 'Comma-separated origins to which a login may return, besides its own.',
  }),
  BROKER_LOGIN_APP: setting(matching(new RegExp(`^${APP_NAME}$`), 'an app of BROKER_TOKENS'), {
    defaultSays: 'the app of `BROKER_FORWARD_AUTH_APP`',
    meaning: 'The app whose sessions a login makes.',
  }),
  BROKER_FORWARD_AUTH_APP: setting(matching(new RegExp(`^${APP_NAME}$`), 'an app of BROKER_TOKENS'), {
    defaultSays: '`BROKER_LOGIN_APP`, else the only app of `BROKER_TOKENS`, else `baton` when it is one of them',
    meaning: 'The app whose sessions `/forward-auth` lets in. It treats a session of any other app as none.',
  }),
  BROKER_REFUSED_SUBJECTS: setting(listOf(subject), {
    defaultSays: 'none',
    meaning: 'Comma-separated user ids that get no session and whose sessions are refused.',
  }),
  BROKER_DEV_LOGIN: setting(flag, {
    default: 'false',
    meaning: 'A login that lets anybody in under any name. Refused in production.',
  }),
  BROKER_OIDC_ISSUER: setting(issuer, {
    defaultSays: 'none',
    meaning: 'The OpenID provider: the URL below which `/.well-known/openid-configuration` is found.',
  }),
  BROKER_OIDC_CLIENT_ID: setting(anyText, {
    defaultSays: 'required with `BROKER_OIDC_ISSUER`',
    meaning: 'Client id at the provider; its redirect URI is `<BROKER_PUBLIC_URL>/login/callback`.',
  }),
  BROKER_OIDC_CLIENT_SECRET: setting(anyText, {
    defaultSays: 'none: a public client',
    meaning: 'Client secret at the provider.',
    secret: true,
  }),
  BROKER_OIDC_ROLES_CLAIM: setting(anyText, {
    default: 'roles',
    meaning: "Claim of the ID token that lists the user's roles.",
  }),
  BROKER_GRACE_SECONDS: setting(seconds(3_600), {
    default: String(BROKER_LIMITS.graceSeconds),
    meaning: 'How long the earlier secret of a session still works after the first use of the new one.',
  }),
  BROKER_KEY_SECONDS: setting(seconds(366 * 86_400), {
    default: String(30 * 86_400),
    meaning: 'How long each key signs.',
  }),
  BROKER_KEY_OVERLAP_SECONDS: setting(seconds(30 * 86_400), {
    default: '3600',
    meaning: 'How long a key is published before it begins to sign, and after it has stopped.',
  }),
  BROKER_LOG_LEVEL: setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    default: 'info',
    meaning: 'Least severe level that is logged: fatal, error, warn, info, debug, trace, or silent.',
  }),
};

export type Key = keyof typeof SETTINGS;
type ValueOf<S> = S extends Setting<infer T> ? T | (S extends { default: string } ? never : null) : never;
export type Values = { readonly [K in Key]: ValueOf<(typeof SETTINGS)[K]> };
