import { readFileSync } from 'node:fs';
import { checkPush, type PushConfig, pushOf, pushWarnings } from './push.ts';
import { type RedisAddress, withMode } from '../../../shared/service-kit/config/redis.ts';
import { checkUsers, withUsers } from '../../../shared/service-kit/config/store-users.ts';
import { unknownKeys } from '../../../shared/service-kit/config/unknown.ts';
import { allowedHostsOf, checkProduction, exposureWarnings } from './exposure.ts';
import { ConfigError, type ConfigProblem } from '../../../shared/service-kit/config/config-error.ts';
import { type Env, frozen, readSettings, type Report } from '../../../shared/service-kit/config/read-settings.ts';
import { listensOnLoopback } from '../../../shared/service-kit/config/rules.ts';
import { type Key, SETTINGS, type Values } from './settings.ts';

export interface Config {
  readonly production: boolean;
  readonly logLevel: Values['APP_LOG_LEVEL'];
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly adminPort: number;
    /** Scheme, host and port, as a browser spells them in `Origin`. */
    readonly publicUrl: string;
    /** Every origin of this installation, the public one first. */
    readonly origins: readonly string[];
    /** Other programs' origins, whose pages may use bearer tokens. */
    readonly corsOrigins: readonly string[];
    /** The name of this installation. */
    readonly serviceId: string;
    /** Host names that requests may use; null allows any. */
    readonly allowedHosts: readonly string[] | null;
    readonly trustedProxies: readonly string[];
    /** 0: rate limits are off. */
    readonly rateLimitScale: number;
    /** Null means the default, which is only for internet addresses. 0 means any number. */
    readonly connectionsPerAddress: number | null;
    /** Connections of all peers together that the limit of open files allows. */
    readonly maxConnections: number;
    readonly keepAliveSeconds: number;
  };
  readonly identity: IdentityConfig;
  /** Null if nobody signs in, with identity `dev`. */
  readonly broker: {
    readonly url: string;
    /** Empty: no token is sent. */
    readonly token: string;
    readonly app: string;
  } | null;
  readonly signin: {
    /** The URL at which a browser logs in; null if nobody does. */
    readonly loginUrl: string | null;
    readonly qrEnabled: boolean;
    readonly requestSeconds: number;
    readonly onceSeconds: number;
    readonly persistSeconds: number;
  };
  readonly redis: {
    readonly address: RedisAddress;
    readonly keyPrefix: string;
    /** How many replicas of the store must have a message before the response is 201. 0: none is asked. */
    readonly waitReplicas: number;
  };
  readonly hub: {
    /** Already lowered to what the descriptor limit allows. */
    readonly maxStreams: number;
    readonly sweepSeconds: number;
    readonly rotateSeconds: number;
    readonly offlineGraceMs: number;
    readonly heartbeatMs: number;
  };
  readonly due: { readonly repairSeconds: number };
  readonly clipboard: { readonly ttlSeconds: number };
  readonly transfers: { readonly redeliverySeconds: number };
  readonly relay: {
    readonly address: RedisAddress;
    readonly windowBytes: number;
    /** True: encrypted transfers may leave a slow direct path. */
    readonly isPreferred: boolean;
    readonly memoryPercent: number;
    readonly stallMs: number;
  };
  readonly push: PushConfig;
  readonly ice: {
    readonly stunUrls: readonly string[];
    readonly turnUrls: readonly string[];
    readonly turnSecret: string | null;
  };
  readonly drain: {
    readonly noticeSeconds: number;
    readonly streamsSeconds: number;
    readonly transfersSeconds: number;
    /** Null: the sum of the other times. */
    readonly shutdownSeconds: number | null;
  };
  /** Warnings for the operator, although the process starts. They are logged. */
  readonly warnings: readonly string[];
}

type IdentityConfig =
  | { readonly mode: 'dev' }
  | { readonly mode: 'broker' }
  | { readonly mode: 'edge'; readonly trust: 'secret'; readonly edgeSecrets: readonly string[] }
  | {
      readonly mode: 'edge';
      readonly trust: 'jwt';
      readonly jwksUrl: string;
      readonly issuer: string;
      readonly audience: string;
    };

/** The settings that check each kind of proof that an edge can give. */
const PROOF_KEYS = {
  secret: ['APP_EDGE_SECRET'],
  jwt: ['APP_EDGE_JWKS_URL', 'APP_EDGE_ISSUER', 'APP_EDGE_AUDIENCE'],
} as const;

/** Checks the rules that bind several keys. `given` tells an absent key from one that was already reported. */
function checkTogether(values: Values, given: (key: Key) => boolean, report: Report): void {
  const require = (key: Key, when: string): void => {
    if (!given(key)) report(key, `is required${when}`);
  };
  const production = values.NODE_ENV === 'production';
  require('APP_IDENTITY', ': there is no default, choose edge, broker or dev');
  require('APP_REDIS_URL', '');
  // A refused mode has already been reported, and says nothing about the URL.
  if (values.APP_REDIS_URL !== null && (values.APP_REDIS_MODE !== null || !given('APP_REDIS_MODE'))) {
    const address = withMode(values.APP_REDIS_URL, values.APP_REDIS_MODE);
    if ('problem' in address) report(address.key === 'url' ? 'APP_REDIS_URL' : 'APP_REDIS_MODE', address.problem);
  }
  checkStoreUsers(values, given, report);
  if (values.APP_IDENTITY === 'edge')
    for (const key of PROOF_KEYS[values.APP_EDGE_TRUST]) require(key, ` with APP_EDGE_TRUST=${values.APP_EDGE_TRUST}`);
  if (values.APP_IDENTITY === 'broker') {
    for (const key of ['APP_BROKER_URL', 'APP_BROKER_TOKEN'] as const) require(key, ' with APP_IDENTITY=broker');
  }
  if (values.APP_PORT !== 0 && values.APP_PORT === values.APP_ADMIN_PORT) {
    report('APP_ADMIN_PORT', 'must differ from APP_PORT');
  }
  checkPush(values, given, report);
  if (!production) return;
  require('APP_PUBLIC_URL', ' in production');
  require('APP_BROKER_URL', ' in production');
  if (values.APP_IDENTITY === 'dev') report('APP_IDENTITY', 'must not be dev in production: it believes anybody');
  const scale = values.APP_RATE_LIMIT_SCALE;
  if (scale !== null && (scale <= 0 || scale > 1)) {
    report('APP_RATE_LIMIT_SCALE', 'must be above 0 and at most 1 in production');
  }
  checkProduction(values, report);
}

/** Returns the soft limit of open files, which Node raises to the hard limit at start. */
function descriptorLimitOfProcess(): number {
  try {
    const soft = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    // Only Linux has /proc. Elsewhere a replica only serves trials, and a lack of descriptors is easy to see.
    return Number.POSITIVE_INFINITY;
  }
}

/** Leaves a tenth, and 64 more, for requests, connections to the store, and files. */
const streamsWithin = (descriptorLimit: number): number => Math.max(1, Math.floor(descriptorLimit * 0.9) - 64);

/** Measured with one replica in `npm run test:storm`, in 414 MiB. */
const MEASURED_STREAMS = 10_000;

/** A replica has about sixty open files before the first client comes, and one more for each connection. */
const LEAST_DESCRIPTORS = 256;
/** A replica that holds fewer streams than this is worth a warning. */
const FEW_STREAMS = 500;
const RAISE = 'raise it with `ulimit -n`, LimitNOFILE= of systemd, or `ulimits` of the container';

/** Warns of a number that somebody chose, or of a small one. The default asks for more than most machines give. */
function streamWarnings(values: Values, maxStreams: number, descriptorLimit: number): string[] {
  const { APP_HUB_MAX_STREAMS: asked } = values;
  const isChosen = asked !== Number(SETTINGS.APP_HUB_MAX_STREAMS.default);
  const isLowered = `APP_HUB_MAX_STREAMS is lowered to ${maxStreams}: the limit of open files is ${descriptorLimit}; ${RAISE}`;
  const isNews = `APP_HUB_MAX_STREAMS lets ${maxStreams} streams in, and only ${MEASURED_STREAMS} were measured on one replica: set it lower`;
  return [
    ...(maxStreams < (isChosen ? asked : FEW_STREAMS) ? [isLowered] : []),
    ...(isChosen && maxStreams > MEASURED_STREAMS ? [isNews] : []),
  ];
}

/**
 * More than streams, because relays, polls and requests have connections of their own. The rest, 1,464 of 20,000, is for
 * connections to the store (the relay's downloads have up to 1,024), to the broker and to push services, and for files.
 */
const connectionsWithin = (descriptorLimit: number): number => Math.max(2, Math.floor(descriptorLimit * 0.93) - 64);

/** Call it only after `checkTogether` reported nothing. */
function addressOf(values: Values, env: Env): RedisAddress {
  const { APP_REDIS_URL: address, APP_REDIS_MODE: mode } = values;
  const parsed = address === null ? null : withMode(address, mode);
  if (parsed === null || !('value' in parsed)) throw new Error('the address of the store was not checked');
  return withUsers(parsed.value, { env, values, prefix: 'APP_REDIS' });
}

const relayAddressOf = (values: Values, env: Env): RedisAddress | null =>
  values.APP_RELAY_REDIS_URL && withUsers(values.APP_RELAY_REDIS_URL, { env, values, prefix: 'APP_RELAY_REDIS' });

const NO_RELAY_STORE = 'is for APP_RELAY_REDIS_URL, which is not set: the relay uses the store of APP_REDIS_URL';

/** Checks the users of both stores. A user needs the address of its store. */
function checkStoreUsers(values: Values, given: (key: Key) => boolean, report: Report): void {
  const { APP_REDIS_URL: address, APP_RELAY_REDIS_URL: relayAddress } = values;
  const absent = given('APP_RELAY_REDIS_URL') ? null : NO_RELAY_STORE;
  checkUsers(address, { prefix: 'APP_REDIS', given, absent: null }, report);
  checkUsers(relayAddress, { prefix: 'APP_RELAY_REDIS', given, absent }, report);
}

function identityOf(values: Values): IdentityConfig {
  if (values.APP_IDENTITY !== 'edge') return { mode: values.APP_IDENTITY === 'broker' ? 'broker' : 'dev' };
  if (values.APP_EDGE_TRUST === 'secret') {
    return { mode: 'edge', trust: 'secret', edgeSecrets: values.APP_EDGE_SECRET ?? [] };
  }
  const { APP_EDGE_JWKS_URL: jwksUrl, APP_EDGE_ISSUER: issuer, APP_EDGE_AUDIENCE: audience } = values;
  return { mode: 'edge', trust: 'jwt', jwksUrl: jwksUrl ?? '', issuer: issuer ?? '', audience: audience ?? '' };
}

function brokerOf(values: Values): Config['broker'] {
  const { APP_BROKER_URL: url, APP_BROKER_TOKEN: token, APP_BROKER_APP: app } = values;
  if (url === null) return null;
  return { url, token: token ?? '', app };
}

/** Default notice. It is 0 if streams end at once, because the replica is then meant to end at once too. */
const NOTICE_SECONDS = 10;

function drainOf(values: Values): Config['drain'] {
  const { APP_DRAIN_SECONDS: streamsSeconds, APP_DRAIN_TRANSFER_SECONDS: transfersSeconds } = values;
  const noticeSeconds = values.APP_DRAIN_NOTICE_SECONDS ?? (streamsSeconds > 0 ? NOTICE_SECONDS : 0);
  return { noticeSeconds, streamsSeconds, transfersSeconds, shutdownSeconds: values.APP_SHUTDOWN_SECONDS };
}

const hostOf = (values: Values): string => values.APP_HOST ?? (values.APP_IDENTITY === 'dev' ? '127.0.0.1' : '0.0.0.0');

function httpOf(values: Values, descriptorLimit: number): Config['http'] {
  const host = hostOf(values);
  const publicUrl = values.APP_PUBLIC_URL ?? `http://localhost:${values.APP_PORT}`;
  const origins = [...new Set([publicUrl, ...(values.APP_PUBLIC_ORIGINS ?? [])])];
  return {
    host,
    port: values.APP_PORT,
    adminPort: values.APP_ADMIN_PORT,
    publicUrl,
    origins,
    corsOrigins: values.APP_CORS_ORIGINS ?? [],
    serviceId: values.APP_SERVICE_ID ?? publicUrl,
    allowedHosts: allowedHostsOf(values, { host, origins }),
    trustedProxies: values.APP_TRUSTED_PROXIES ?? [],
    rateLimitScale: values.APP_RATE_LIMIT_SCALE,
    connectionsPerAddress: values.APP_HTTP_MAX_CONNECTIONS_PER_ADDRESS,
    maxConnections: connectionsWithin(descriptorLimit),
    keepAliveSeconds: values.APP_KEEP_ALIVE_SECONDS,
  };
}

const signinOf = (values: Values): Config['signin'] => ({
  loginUrl: values.APP_BROKER_LOGIN_URL ?? (values.APP_BROKER_URL && `${values.APP_BROKER_URL}/login`),
  qrEnabled: values.APP_QR_LOGIN_ENABLED,
  requestSeconds: values.APP_QR_REQUEST_TTL_SECONDS,
  onceSeconds: values.APP_QR_GUEST_TTL_SECONDS,
  persistSeconds: values.APP_QR_PERSIST_TTL_HOURS * 3_600,
});

const maxStreamsOf = (values: Values, descriptorLimit: number): number =>
  Math.min(values.APP_HUB_MAX_STREAMS, streamsWithin(descriptorLimit));

/** Returns warnings about settings that work, but not as an operator may expect. */
function warningsOf(values: Values, descriptorLimit: number, push: PushConfig): string[] {
  const warnings: string[] = [];
  const host = hostOf(values);
  if (values.APP_IDENTITY === 'dev' && !listensOnLoopback(host)) {
    warnings.push(`APP_IDENTITY=dev believes anybody who reaches ${host}`);
  }
  if (values.APP_TRUSTED_PROXIES?.some((cidr) => cidr.endsWith('/0'))) {
    warnings.push('APP_TRUSTED_PROXIES trusts every address: clients can then choose their address');
  }
  warnings.push(...streamWarnings(values, maxStreamsOf(values, descriptorLimit), descriptorLimit));
  if (values.APP_BROKER_URL !== null && values.APP_BROKER_TOKEN === null) {
    warnings.push('APP_BROKER_TOKEN is not set: the auth broker will refuse this service');
  }
  return [...warnings, ...exposureWarnings(values), ...pushWarnings(push)];
}

function assemble(values: Values, descriptorLimit: number, env: Env): Config {
  const push = pushOf(values);
  const address = addressOf(values, env);
  return {
    production: values.NODE_ENV === 'production',
    logLevel: values.APP_LOG_LEVEL,
    http: httpOf(values, descriptorLimit),
    identity: identityOf(values),
    broker: brokerOf(values),
    signin: signinOf(values),
    redis: {
      address,
      keyPrefix: values.APP_KEY_PREFIX,
      waitReplicas: values.APP_MESSAGE_WAIT_REPLICAS,
    },
    hub: {
      maxStreams: maxStreamsOf(values, descriptorLimit),
      sweepSeconds: values.APP_HUB_SWEEP_SECONDS,
      rotateSeconds: values.APP_HUB_ROTATE_SECONDS,
      offlineGraceMs: values.APP_HUB_OFFLINE_GRACE_MS,
      heartbeatMs: values.APP_HUB_HEARTBEAT_MS,
    },
    due: { repairSeconds: values.APP_DUE_REPAIR_SECONDS },
    clipboard: { ttlSeconds: values.APP_CLIPBOARD_TTL_SECONDS },
    transfers: { redeliverySeconds: values.APP_TRANSFER_REDELIVERY_SECONDS },
    relay: {
      address: relayAddressOf(values, env) ?? address,
      windowBytes: values.APP_RELAY_WINDOW_BYTES,
      memoryPercent: values.APP_RELAY_MEMORY_PERCENT,
      stallMs: values.APP_RELAY_STALL_SECONDS * 1000,
      isPreferred: values.APP_RELAY_PREFER,
    },
    push,
    ice: {
      stunUrls: values.APP_STUN_URLS ?? [],
      turnUrls: values.APP_TURN_URLS ?? [],
      turnSecret: values.APP_TURN_SECRET,
    },
    drain: drainOf(values),
    warnings: warningsOf(values, descriptorLimit, push),
  };
}

/**
 * Loads the configuration of this process, complete and frozen.
 * @throws ConfigError with every problem, not only the first; values of secrets are never in it.
 */
export function loadConfig(env: Env = process.env, descriptorLimit: number = descriptorLimitOfProcess()): Config {
  const problems: ConfigProblem[] = [];
  const report: Report = (key, message) => problems.push({ key, message });
  const keys = Object.keys(SETTINGS) as Key[];
  const values = readSettings(env, SETTINGS, report) as unknown as Values;
  const given = (key: Key): boolean =>
    values[key] !== null || problems.some((problem) => problem.key === key || problem.key === `${key}_FILE`);
  checkTogether(values, given, report);
  if (descriptorLimit < LEAST_DESCRIPTORS) {
    report('The limit of open files', `is ${descriptorLimit}, and a replica needs ${LEAST_DESCRIPTORS}: ${RAISE}`);
  }
  const unknown = unknownKeys(env, { prefix: 'APP_', known: keys });
  if (problems.length > 0) throw new ConfigError(problems, unknown);
  const config = assemble(values, descriptorLimit, env);
  return frozen({ ...config, warnings: [...unknown, ...config.warnings] });
}
