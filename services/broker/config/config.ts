import { ConfigError, type ConfigProblem } from '../../../shared/service-kit/config/config-error.ts';
import type { RedisAddress } from '../../../shared/service-kit/config/redis.ts';
import {
  hostsOf,
  isOpenHttp,
  listensOnLoopback,
  passwordsOf,
  refusePublished,
} from '../../../shared/service-kit/config/rules.ts';
import { type Env, frozen, readSettings, type Report } from '../../../shared/service-kit/config/read-settings.ts';
import { checkUsers, withUsers } from '../../../shared/service-kit/config/store-users.ts';
import { unknownKeys } from '../../../shared/service-kit/config/unknown.ts';
import { appsOf, appWarnings, checkApps } from './apps.ts';
import { type Key, SETTINGS, type Values } from './settings.ts';

export interface BrokerConfig {
  readonly logLevel: Values['BROKER_LOG_LEVEL'];
  readonly http: {
    readonly host: string;
    readonly port: number;
    readonly adminPort: number;
    readonly keepAliveSeconds: number;
    /** The host names that requests may use; null allows any. */
    readonly allowedHosts: readonly string[] | null;
  };
  readonly redis: { readonly address: RedisAddress; readonly keyPrefix: string };
  /** How long a stopping broker still accepts requests. */
  readonly noticeMs: number;
  /** The apps that may call `/v1`, with their tokens. */
  readonly tokens: readonly { readonly app: string; readonly token: string }[];
  /** The public URL, without a slash at its end. */
  readonly publicUrl: string;
  readonly keyring: {
    /** The secrets that seal private keys: the first seals, all open. If empty, keys are stored unsealed. */
    readonly secrets: readonly string[];
    readonly keySeconds: number;
    readonly overlapSeconds: number;
  };
  readonly sessions: { readonly graceSeconds: number; readonly refusedSubjects: readonly string[] };
  readonly forwardAuth: { readonly app: string };
  readonly login: {
    readonly app: string;
    readonly returnOrigins: readonly string[];
    readonly dev: boolean;
    readonly oidc: OidcConfig | null;
  };
  /** Warnings for the operator, to be logged when the process starts. */
  readonly warnings: readonly string[];
}

export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly rolesClaim: string;
}

/** Checks the rules that involve several keys. `given` is also true for a key that was already reported. */
function checkTogether(values: Values, given: (key: Key) => boolean, report: Report): void {
  const require = (key: Key, when: string): void => {
    if (!given(key)) report(key, `is required${when}`);
  };
  require('BROKER_REDIS_URL', '');
  require('BROKER_TOKENS', '');
  checkUsers(values.BROKER_REDIS_URL, { prefix: 'BROKER_REDIS', given, absent: null }, report);
  if (values.BROKER_OIDC_ISSUER !== null) require('BROKER_OIDC_CLIENT_ID', ' with BROKER_OIDC_ISSUER');
  checkApps(values, given, report);
  const url = values.BROKER_PUBLIC_URL;
  if (url !== null && /[?#]/.test(url)) report('BROKER_PUBLIC_URL', 'must have neither query nor fragment');
  if (values.NODE_ENV !== 'production') return;
  require('BROKER_PUBLIC_URL', ' in production');
  require('BROKER_SECRET', ' in production: it encrypts the private keys in the store');
  if (values.BROKER_DEV_LOGIN) report('BROKER_DEV_LOGIN', 'must be off in production: it lets anybody in');
  for (const key of ['BROKER_PUBLIC_URL', 'BROKER_OIDC_ISSUER'] as const) {
    if (isOpenHttp(values[key])) report(key, 'must be https in production, but for localhost');
  }
  refusePublished(secretsOf(values), report);
}

const secretsOf = (values: Values): [Key, readonly (string | null)[]][] => [
  ['BROKER_TOKENS', values.BROKER_TOKENS?.map(({ token }) => token) ?? []],
  ['BROKER_SECRET', values.BROKER_SECRET ?? []],
  ['BROKER_OIDC_CLIENT_SECRET', [values.BROKER_OIDC_CLIENT_SECRET]],
  ['BROKER_REDIS_URL', passwordsOf(values.BROKER_REDIS_URL)],
  ['BROKER_REDIS_PASSWORD', [values.BROKER_REDIS_PASSWORD]],
  ['BROKER_REDIS_SENTINEL_PASSWORD', [values.BROKER_REDIS_SENTINEL_PASSWORD]],
];

/**
 * How long replicas keep a key set. If a key signs before that time is over, a replica fetches it with the first
 * request that needs it, at most once in 30 s.
 */
const KEPT_SECONDS = 300;

function warningsOf(values: Values, host: string): string[] {
  const production = values.NODE_ENV === 'production';
  const short = values.BROKER_TOKENS?.some(({ token }) => token.length < 32) ?? false;
  const open = !listensOnLoopback(host);
  return [
    ...(values.BROKER_DEV_LOGIN && open ? [`BROKER_DEV_LOGIN lets anybody in who reaches ${host}`] : []),
    ...(values.BROKER_DEV_LOGIN || values.BROKER_OIDC_ISSUER !== null ? [] : ['nobody can log in: no provider is set']),
    ...(production && short ? ['a token of BROKER_TOKENS is shorter than 32 characters'] : []),
    ...(values.BROKER_KEY_OVERLAP_SECONDS < KEPT_SECONDS
      ? [`BROKER_KEY_OVERLAP_SECONDS is below the ${KEPT_SECONDS} s for which replicas keep a key set`]
      : []),
    ...(isOpenHttp(values.BROKER_PUBLIC_URL) ? ['over http to this host anybody on the way can read cookies'] : []),
  ];
}

/** The default of `BROKER_DRAIN_NOTICE_SECONDS`. */
const NOTICE_SECONDS = 10;

/** Returns a required value. Call it only after `checkTogether` reported nothing. */
function required<T>(value: T | null): T {
  if (value === null) throw new Error('a required setting was not checked');
  return value;
}

function assemble(values: Values, env: Env): BrokerConfig {
  const host = values.BROKER_HOST ?? (values.BROKER_DEV_LOGIN ? '127.0.0.1' : '0.0.0.0');
  const tokens = required(values.BROKER_TOKENS);
  const apps = appsOf(values);
  const publicUrl = values.BROKER_PUBLIC_URL ?? `http://localhost:${values.BROKER_PORT}`;
  const allowedHosts = values.BROKER_DEV_LOGIN && listensOnLoopback(host) ? hostsOf(publicUrl) : null;
  return {
    logLevel: values.BROKER_LOG_LEVEL,
    http: {
      host,
      port: values.BROKER_PORT,
      adminPort: values.BROKER_ADMIN_PORT,
      keepAliveSeconds: values.BROKER_KEEP_ALIVE_SECONDS,
      allowedHosts,
    },
    noticeMs: 1000 * (values.BROKER_DRAIN_NOTICE_SECONDS ?? (values.BROKER_DEV_LOGIN ? 0 : NOTICE_SECONDS)),
    redis: {
      address: withUsers(required(values.BROKER_REDIS_URL), { env, values, prefix: 'BROKER_REDIS' }),
      keyPrefix: values.BROKER_KEY_PREFIX,
    },
    tokens,
    publicUrl,
    keyring: {
      secrets: values.BROKER_SECRET ?? [],
      keySeconds: values.BROKER_KEY_SECONDS,
      overlapSeconds: values.BROKER_KEY_OVERLAP_SECONDS,
    },
    sessions: {
      graceSeconds: values.BROKER_GRACE_SECONDS,
      refusedSubjects: values.BROKER_REFUSED_SUBJECTS ?? [],
    },
    forwardAuth: { app: apps.forwardAuth },
    login: {
      app: apps.login,
      returnOrigins: values.BROKER_RETURN_ORIGINS ?? [],
      dev: values.BROKER_DEV_LOGIN,
      oidc:
        values.BROKER_OIDC_ISSUER === null
          ? null
          : {
              issuer: values.BROKER_OIDC_ISSUER,
              clientId: values.BROKER_OIDC_CLIENT_ID ?? '',
              clientSecret: values.BROKER_OIDC_CLIENT_SECRET,
              rolesClaim: values.BROKER_OIDC_ROLES_CLAIM,
            },
    },
    warnings: [...warningsOf(values, host), ...appWarnings(apps)],
  };
}

/**
 * Loads the complete configuration of this process.
 * @throws ConfigError with every problem, not only the first. It never contains values of secrets.
 */
export function loadConfig(env: Env = process.env): BrokerConfig {
  const problems: ConfigProblem[] = [];
  const report: Report = (key, message) => problems.push({ key, message });
  const keys = Object.keys(SETTINGS) as Key[];
  const values = readSettings(env, SETTINGS, report) as unknown as Values;
  const given = (key: Key): boolean =>
    values[key] !== null || problems.some((problem) => problem.key === key || problem.key === `${key}_FILE`);
  checkTogether(values, given, report);
  const unknown = unknownKeys(env, { prefix: 'BROKER_', known: keys });
  if (problems.length > 0) throw new ConfigError(problems, unknown);
  const config = assemble(values, env);
  return frozen({ ...config, warnings: [...unknown, ...config.warnings] });
}
