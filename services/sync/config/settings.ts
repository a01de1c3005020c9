import { LIMITS } from '../../../shared/contract/limits.ts';
import {
  anyText,
  cidrs,
  decimal,
  flag,
  httpUrl,
  iceUrls,
  integer,
  matching,
  oneOf,
  origin,
  origins,
  rotatingSecret,
} from '../../../shared/service-kit/config/kinds.ts';
import { applePrivateKey, serviceAccount, vapidPrivateKeys, vapidPublicKeys, vapidSubject } from './push.ts';
import { redisAddress } from '../../../shared/service-kit/config/redis.ts';
import { KEEP_ALIVE_SECONDS } from '../../../shared/service-kit/http/server.ts';
import { type Setting, setting } from '../../../shared/service-kit/config/setting.ts';
import { passwordRow, usernameRow } from '../../../shared/service-kit/config/store-users.ts';
import { parseEndpointRules } from '../push/guard/endpoint-rules.ts';

/** An installation knows the programs that it serves. Each origin costs a comparison. */
const MOST_CORS_ORIGINS = 100;

/** Every key that the process reads. Instead of each key, `<KEY>_FILE` can give the path of a file that holds the value. */
export const SETTINGS = {
  NODE_ENV: setting(oneOf('production', 'development', 'test'), {
    defaultSays: '',
    meaning: '`production` refuses everything that is only fit for trials; otherwise `development`, `test` or nothing.',
  }),
  APP_IDENTITY: setting(oneOf('edge', 'broker', 'dev'), {
    defaultSays: 'required',
    meaning:
      'How the service learns who the caller is: `edge` believes the identity headers of a trusted edge, `broker` asks the auth broker to verify the cookie or access token, `dev` believes anybody.',
  }),
  APP_EDGE_TRUST: setting(oneOf('secret', 'jwt'), {
    default: 'secret',
    meaning:
      'How the edge proves itself: `secret` is the header X-Edge-Secret, `jwt` a signed assertion in X-Auth-Assertion.',
  }),
  APP_EDGE_SECRET: setting(rotatingSecret, {
    defaultSays: 'required with `APP_EDGE_TRUST=secret`',
    meaning: 'The secret of the edge, at least 32 characters; two comma-separated values while it is being rotated.',
    secret: true,
  }),
  APP_EDGE_JWKS_URL: setting(httpUrl, {
    defaultSays: 'required with `APP_EDGE_TRUST=jwt`',
    meaning:
      'The URL of the public keys for assertions; for the reference broker, `<APP_BROKER_URL>/.well-known/jwks.json`.',
  }),
  APP_EDGE_ISSUER: setting(anyText, {
    defaultSays: 'required with `APP_EDGE_TRUST=jwt`',
    meaning: 'The `iss` of assertions, to the letter; for the reference broker, its `BROKER_PUBLIC_URL`.',
  }),
  APP_EDGE_AUDIENCE: setting(anyText, {
    defaultSays: 'required with `APP_EDGE_TRUST=jwt`',
    meaning: 'The `aud` of assertions; for the reference broker, the name of the app, `baton`.',
  }),
  APP_PUBLIC_URL: setting(origin, {
    defaultSays: 'required in production, else `http://localhost:<APP_PORT>`',
    meaning: 'The origin at which browsers reach the service.',
  }),
  APP_PUBLIC_ORIGINS: setting(origins(LIMITS.publicOrigins), {
    defaultSays: 'none',
    meaning: `Comma-separated further origins of the same installation, at most ${LIMITS.publicOrigins}: a client that signed in at one of them can continue at the others. Same-origin checks accept only \`APP_PUBLIC_URL\`.`,
  }),
  APP_CORS_ORIGINS: setting(origins(MOST_CORS_ORIGINS), {
    defaultSays: 'none',
    meaning: `Comma-separated origins of other programs, at most ${MOST_CORS_ORIGINS}: their pages may call the API with a bearer token, including the event stream. They can never use a cookie, \`device-session\` or \`qr/approve\`, change keys, or erase an account.`,
  }),
  APP_SERVICE_ID: setting(matching(/^[\x21-\x7e]{1,255}$/, '1 to 255 visible ASCII characters'), {
    defaultSays: 'the origin of `APP_PUBLIC_URL`',
    meaning: 'The name of this installation. It must be the same on all replicas, and must never change.',
  }),
  APP_BROKER_URL: setting(httpUrl, {
    defaultSays: 'required in production and with `APP_IDENTITY=broker`',
    meaning: 'Base URL of the auth broker.',
  }),
  APP_BROKER_TOKEN: setting(matching(/^[\x21-\x7e]{1,512}$/, '1 to 512 visible ASCII characters'), {
    defaultSays: 'required with `APP_IDENTITY=broker`, else none',
    meaning: 'The token with which this service proves itself to the auth broker.',
    secret: true,
  }),
  APP_BROKER_APP: setting(matching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 characters of A-Z a-z 0-9 . _ -'), {
    default: 'baton',
    meaning: "This service's name at the auth broker.",
  }),
  APP_BROKER_LOGIN_URL: setting(httpUrl, {
    defaultSays: '`<APP_BROKER_URL>/login`',
    meaning: 'Where a browser is sent to log in.',
  }),
  APP_QR_LOGIN_ENABLED: setting(flag, {
    default: 'true',
    meaning: 'Whether a new device can be signed in by a QR code.',
  }),
  APP_QR_REQUEST_TTL_SECONDS: setting(integer(1, 3_600), {
    default: '120',
    meaning: 'How long a QR code can be approved.',
  }),
  APP_QR_GUEST_TTL_SECONDS: setting(integer(1, 86_400), {
    default: '3600',
    meaning: 'Lifetime of a `once` session, which is not renewed.',
  }),
  APP_QR_PERSIST_TTL_HOURS: setting(integer(1, 8_760), {
    default: '168',
    meaning: 'Lifetime of a `persist` session after its last renewal.',
  }),
  APP_HOST: setting(matching(/^[\w.:-]+$/, 'a host name or an address'), {
    defaultSays: '`127.0.0.1` with `APP_IDENTITY=dev`, else `0.0.0.0`',
    meaning: 'Address to listen on, for both ports.',
  }),
  APP_PORT: setting(integer(0, 65_535), { default: '8080', meaning: 'Public port; 0 takes a free one.' }),
  APP_ADMIN_PORT: setting(integer(0, 65_535), {
    default: '9090',
    meaning: 'Port for health, status and metrics, not for the public; 0 takes a free one.',
  }),
  APP_KEEP_ALIVE_SECONDS: setting(integer(5, 4_000), {
    default: String(KEEP_ALIVE_SECONDS),
    meaning:
      'How long a connection stays open between requests. It must be longer than in the proxy or balancer in front; otherwise a request can meet a closing connection.',
  }),
  APP_TRUSTED_PROXIES: setting(cidrs, {
    defaultSays: 'none',
    meaning:
      'Comma-separated CIDRs of the proxies whose X-Forwarded-For is believed. Without them all clients behind a proxy share one rate limit.',
  }),
  APP_HTTP_MAX_CONNECTIONS_PER_ADDRESS: setting(integer(0, 1_000_000), {
    defaultSays: '`2000` for addresses on the internet, no limit for loopback and private networks',
    meaning:
      'Connections that one peer may have open to this replica (IPv6 by /56); further ones are closed. Connections of `APP_TRUSTED_PROXIES` do not count. 0: any number.',
  }),
  APP_REDIS_URL: setting(redisAddress, {
    defaultSays: 'required',
    meaning:
      'The store: `redis://host:port/db`, with TLS `rediss://`; behind Sentinel `redis+sentinel://host,host,host/master` (with TLS `rediss+sentinel://`), which takes `?db=`, `sentinel_username=` and `sentinel_password=`, joined by `&`; for a cluster, several comma-separated nodes. User and password may stand before the first host (`user:password@`, percent-encoded), or in the settings below.',
    secret: true,
  }),
  APP_REDIS_MODE: setting(oneOf('standalone', 'sentinel', 'cluster'), {
    defaultSays: 'what `APP_REDIS_URL` looks like',
    meaning:
      '`standalone`, `sentinel` or `cluster`. Needed only for a Redis Cluster if `APP_REDIS_URL` names only one of its nodes.',
  }),
  APP_REDIS_USERNAME: usernameRow('APP_REDIS_URL', 'at the store'),
  APP_REDIS_PASSWORD: passwordRow('APP_REDIS_URL', 'at the store'),
  APP_REDIS_SENTINEL_USERNAME: usernameRow('APP_REDIS_URL', 'at the sentinels'),
  APP_REDIS_SENTINEL_PASSWORD: passwordRow('APP_REDIS_URL', 'at the sentinels'),
  APP_KEY_PREFIX: setting(matching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, '1 to 64 characters of A-Z a-z 0-9 . _ : -'), {
    default: 'baton',
    meaning: 'First part of every key and channel in the store.',
  }),
  APP_LOG_LEVEL: setting(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    default: 'info',
    meaning: 'Least severe level that is logged: fatal, error, warn, info, debug, trace, or silent.',
  }),
  APP_HUB_MAX_STREAMS: setting(integer(1, 1_000_000), {
    default: '20000',
    meaning:
      'Event streams that one replica holds; lowered at start to what the limit of open files allows. 10000 were measured; the service warns of a larger number that somebody set.',
  }),
  // At most 60 s. A route that was not renewed for 150 s counts as dead. One missed sweep must not get there, and the
  // first sweep may come a quarter late.
  APP_HUB_SWEEP_SECONDS: setting(integer(1, 60), {
    default: '60',
    meaning:
      'How often each stream is compared with the store. For a stream that has just opened, it can be a quarter later.',
  }),
  APP_DUE_REPAIR_SECONDS: setting(integer(1, 86_400), {
    default: '3600',
    meaning: 'How often a replica searches the store for due jobs that a failover removed from the index.',
  }),
  APP_HUB_ROTATE_SECONDS: setting(integer(1, 86_400), {
    default: '900',
    meaning: 'Longest life of a stream; it ends after 80-100 % of this and the client reconnects.',
  }),
  APP_HUB_OFFLINE_GRACE_MS: setting(integer(0, 60_000), {
    default: '5000',
    meaning: 'How long after the close of its last stream a device is announced offline.',
  }),
  APP_HUB_HEARTBEAT_MS: setting(integer(50, 60_000), {
    default: String(LIMITS.heartbeatMs),
    meaning: 'A quiet stream gets a `ping` this often; proxies must allow several of them.',
  }),
  APP_CLIPBOARD_TTL_SECONDS: setting(integer(1, 86_400), {
    default: String(LIMITS.clipboardSeconds),
    meaning: 'Retention of the clipboard.',
  }),
  APP_MESSAGE_WAIT_REPLICAS: setting(integer(0, 16), {
    default: '0',
    meaning:
      'Redis replicas that must have a message before the answer is 201. If fewer have it within 1 s, the answer is 202. 0 asks none.',
  }),
  APP_TRANSFER_REDELIVERY_SECONDS: setting(integer(1, 86_400), {
    default: '3600',
    meaning:
      'How long an offer that was not accepted is announced again to its receiver, how long its push may wait for a device, and how long relayed bytes that nobody asks for are kept.',
  }),
  APP_RELAY_REDIS_URL: setting(redisAddress, {
    defaultSays: 'the store of `APP_REDIS_URL`',
    meaning:
      'A separate Redis for the bytes of relayed files, in the form of `APP_REDIS_URL`; several nodes are a cluster.',
    secret: true,
  }),
  APP_RELAY_REDIS_USERNAME: usernameRow('APP_RELAY_REDIS_URL', 'at that Redis'),
  APP_RELAY_REDIS_PASSWORD: passwordRow('APP_RELAY_REDIS_URL', 'at that Redis'),
  APP_RELAY_REDIS_SENTINEL_USERNAME: usernameRow('APP_RELAY_REDIS_URL', 'at its sentinels'),
  APP_RELAY_REDIS_SENTINEL_PASSWORD: passwordRow('APP_RELAY_REDIS_URL', 'at its sentinels'),
  APP_RELAY_WINDOW_BYTES: setting(integer(65_536, 1_073_741_824), {
    default: String(LIMITS.relayWindowBytes),
    meaning: 'Bytes of a file that the relay holds ahead of its receiver, beside 4 MiB behind it.',
  }),
  APP_RELAY_MEMORY_PERCENT: setting(integer(1, 100), {
    default: '70',
    meaning: 'The relay takes no new uploads while its Redis uses more than this percentage of its maxmemory.',
  }),
  APP_RELAY_STALL_SECONDS: setting(integer(1, 3_600), {
    default: '60',
    meaning: 'A sender or receiver that moves almost nothing for this long is disconnected; it can resume.',
  }),
  APP_RELAY_PREFER: setting(flag, {
    default: 'false',
    meaning:
      'Whether a client may move an encrypted transfer from a slow direct path to the relay, if it measures that the relay is faster.',
  }),
  APP_DRAIN_TRANSFER_SECONDS: setting(integer(0, 3_600), {
    default: '300',
    meaning: 'How long a stopping replica lets relay requests continue; then it cuts them, and they can resume.',
  }),
  APP_PUSH_ENABLED: setting(flag, {
    defaultSays: '`true`; in production, `true` if keys are given',
    meaning:
      'Whether pushes wake devices that have no stream. In production with `true`, the service refuses to start without keys for VAPID, FCM or APNs.',
  }),
  APP_VAPID_PUBLIC_KEY: setting(vapidPublicKeys, {
    defaultSays: 'made on the first start, but not in production',
    meaning: 'Public key for web push, base64url; comma-separated while it is being rotated, the newest first.',
  }),
  APP_VAPID_PRIVATE_KEY: setting(vapidPrivateKeys, {
    defaultSays: 'made on the first start, but not in production',
    meaning: 'The private keys that belong to `APP_VAPID_PUBLIC_KEY`, in the same order.',
    secret: true,
  }),
  APP_VAPID_SUBJECT: setting(vapidSubject, {
    defaultSays: 'required in production with the keys',
    meaning:
      'The contact for push services about this installation: a `mailto:` or `https://` address, not of localhost.',
  }),
  APP_PUSH_ENDPOINTS: setting(parseEndpointRules, {
    default: 'known',
    meaning:
      'Where web pushes may go: `known` push services, any `public` host, or a comma-separated list of `host[:port]`, which are trusted without a check.',
  }),
  APP_PUSH_CONCURRENCY: setting(integer(1, 1_000), {
    default: '10',
    meaning: 'Pushes that one replica may have in progress at one push service.',
  }),
  APP_FCM_SERVICE_ACCOUNT: setting(serviceAccount, {
    defaultSays: 'none',
    meaning: 'Service account for pushes by FCM, the JSON that Google gives.',
    secret: true,
  }),
  APP_FCM_URL: setting(httpUrl, {
    defaultSays: "Google's",
    meaning: 'The URL of FCM, for trials; not in production.',
  }),
  APP_APNS_KEY: setting(applePrivateKey, {
    defaultSays: 'none',
    meaning: 'Key for pushes by APNs, the contents of the .p8 file; line ends may be written as `\\n`.',
    secret: true,
  }),
  APP_APNS_KEY_ID: setting(matching(/^[A-Z0-9]{10}$/, '10 characters of A-Z 0-9'), {
    defaultSays: 'required with `APP_APNS_KEY`',
    meaning: 'Id of that key.',
  }),
  APP_APNS_TEAM: setting(matching(/^[A-Z0-9]{10}$/, '10 characters of A-Z 0-9'), {
    defaultSays: 'required with `APP_APNS_KEY`',
    meaning: 'Id of the Apple developer team.',
  }),
  APP_APNS_TOPIC: setting(matching(/^[A-Za-z0-9.-]{1,155}$/, 'the bundle id of the application'), {
    defaultSays: 'required with `APP_APNS_KEY`',
    meaning: 'Bundle id of the application.',
  }),
  APP_APNS_URL: setting(httpUrl, {
    defaultSays: "Apple's",
    meaning: 'The URL of APNs, for trials; not in production.',
  }),
  APP_STUN_URLS: setting(iceUrls('stun', 'stuns'), {
    defaultSays: 'none',
    meaning: 'Comma-separated STUN servers that clients learn.',
  }),
  APP_TURN_URLS: setting(iceUrls('turn', 'turns'), {
    defaultSays: 'none',
    meaning: 'Comma-separated TURN servers that clients are told of.',
  }),
  APP_TURN_SECRET: setting(matching(/^[\x21-\x7e]{1,512}$/, '1 to 512 visible ASCII characters'), {
    defaultSays: 'none',
    meaning: 'Secret shared with the TURN servers; with it every device gets credentials for an hour.',
    secret: true,
  }),
  APP_SHUTDOWN_SECONDS: setting(integer(1, 7_200), {
    defaultSays: 'the notice, the longer of the two drains, and 15 s together',
    meaning:
      'The time after which the supervisor kills a replica that it stops (`terminationGracePeriodSeconds`, `stop_grace_period`). The replica fits its stop into this time.',
  }),
  APP_DRAIN_NOTICE_SECONDS: setting(integer(0, 600), {
    defaultSays: '`10`; 0 with `APP_DRAIN_SECONDS=0`',
    meaning:
      'How long a stopping replica still takes requests while it reports that it is not ready, so that every balancer learns it. It is half a second if no request came for as long before the stop.',
  }),
  APP_DRAIN_SECONDS: setting(integer(0, 600), {
    default: '25',
    meaning: 'The time over which a stopping replica ends its streams.',
  }),
  APP_RATE_LIMIT_SCALE: setting(decimal(0, 1_000_000), {
    default: '1',
    meaning: 'Multiplies every rate limit; 0 switches them off. In production, it must be above 0 and at most 1.',
  }),
};

export type Key = keyof typeof SETTINGS;
type ValueOf<S> = S extends Setting<infer T> ? T | (S extends { default: string } ? never : null) : never;
export type Values = { readonly [K in Key]: ValueOf<(typeof SETTINGS)[K]> };

/** One row of the configuration table in the documentation. */
interface ConfigRow {
  key: string;
  default: string;
  meaning: string;
}

export const configTable = (): ConfigRow[] =>
  Object.entries<Setting<unknown>>(SETTINGS).map(([key, row]) => ({
    key,
    default: row.defaultSays ?? `\`${row.default ?? ''}\``,
    meaning: row.secret ? `${row.meaning} Secret.` : row.meaning,
  }));
