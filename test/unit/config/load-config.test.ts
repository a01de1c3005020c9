import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../shared/service-kit/config/config-error.ts';
import { type Config, loadConfig } from '../../../services/sync/config/config.ts';
import { configTable } from '../../../services/sync/config/settings.ts';

type Env = Record<string, string>;

const SECRET = 'a-secret-of-the-edge-that-is-long-enough';
const DEV: Env = { APP_IDENTITY: 'dev', APP_REDIS_URL: 'redis://127.0.0.1:6379' };
const EDGE: Env = { ...DEV, APP_IDENTITY: 'edge', APP_EDGE_SECRET: SECRET };
const PRODUCTION: Env = {
  ...EDGE,
  NODE_ENV: 'production',
  APP_PUBLIC_URL: 'https://baton.example',
  APP_BROKER_URL: 'https://broker.internal',
  APP_TRUSTED_PROXIES: '10.0.0.0/24',
};
const MANY_FILES = 1_000_000;

const load = (env: Env, descriptorLimit = MANY_FILES): Config => loadConfig(env, descriptorLimit);

function problemsOf(env: Env): string[] {
  try {
    load(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ key, message }) => `${key} ${message}`);
  }
}

const keysOf = (env: Env): string[] => problemsOf(env).map((problem) => problem.split(' ')[0] ?? '');

describe('defaults', () => {
  test('a development replica needs only an identity mode and a store, and listens on loopback', () => {
    expect(load(DEV).http).toEqual({
      host: '127.0.0.1',
      port: 8080,
      adminPort: 9090,
      publicUrl: 'http://localhost:8080',
      origins: ['http://localhost:8080'],
      corsOrigins: [],
      serviceId: 'http://localhost:8080',
      allowedHosts: ['localhost'],
      trustedProxies: [],
      rateLimitScale: 1,
      connectionsPerAddress: null,
      maxConnections: 929_936,
      keepAliveSeconds: 75,
    });
  });

  test('behind an edge a replica listens on every address', () => {
    expect(load(EDGE).http.host).toBe('0.0.0.0');
  });

  test('the public address follows the port', () => {
    expect(load({ ...DEV, APP_PORT: '9000' }).http.publicUrl).toBe('http://localhost:9000');
  });

  test('an installation is named after its public origin, which stands first among its origins', () => {
    const env = { ...PRODUCTION, APP_PUBLIC_URL: 'https://BATON.example:443/' };
    const others = 'https://baton.lan:8443, https://baton.example, HTTPS://Other.example:443';
    expect(load(env).http).toMatchObject({ serviceId: 'https://baton.example', origins: ['https://baton.example'] });
    expect(load({ ...env, APP_SERVICE_ID: 'home', APP_PUBLIC_ORIGINS: others }).http).toMatchObject({
      serviceId: 'home',
      origins: ['https://baton.example', 'https://baton.lan:8443', 'https://other.example'],
    });
  });

  test('the numbers of the contract stand where nothing is set', () => {
    const { hub, clipboard, drain, redis } = load(DEV);
    expect(hub).toEqual({
      maxStreams: 20_000,
      sweepSeconds: 60,
      rotateSeconds: 900,
      offlineGraceMs: 5_000,
      heartbeatMs: 15_000,
    });
    expect([clipboard.ttlSeconds, drain.streamsSeconds, redis.keyPrefix]).toEqual([300, 25, 'baton']);
    expect(redis.waitReplicas).toBe(0);
  });

  test('an empty variable counts as absent', () => {
    expect(load({ ...DEV, APP_PORT: '', APP_HOST: ' ' }).http).toMatchObject({ host: '127.0.0.1', port: 8080 });
  });

  test('nobody can change the configuration later', () => {
    expect(Object.isFrozen(load(EDGE).http.trustedProxies)).toBe(true);
  });
});

describe('problems', () => {
  test('every problem is told at once, each with its key', () => {
    const env = {
      APP_PORT: 'eighty',
      APP_LOG_LEVEL: 'loud',
      APP_KEY_PREFIX: '{x}',
      APP_TRUSTED_PROXIES: '10.0.0.0/40',
    };
    expect(keysOf(env).sort()).toEqual(
      ['APP_IDENTITY', 'APP_KEY_PREFIX', 'APP_LOG_LEVEL', 'APP_PORT', 'APP_REDIS_URL', 'APP_TRUSTED_PROXIES'].sort(),
    );
  });

  test.each([
    ['APP_IDENTITY', 'Dev', 'must be one of edge, broker, dev'],
    ['APP_EDGE_TRUST', 'JWT', 'must be one of secret, jwt'],
    ['APP_EDGE_JWKS_URL', 'broker/keys', 'must be an http:// or https:// URL'],
    ['APP_PORT', '65536', 'must be an integer from 0 to 65535, not "65536"'],
    ['APP_PORT', '8e3', 'must be an integer'],
    ['APP_ADMIN_PORT', '8080', 'must differ from APP_PORT'],
    ['APP_PUBLIC_URL', 'https://baton.example/app', 'must be an origin'],
    ['APP_PUBLIC_URL', 'https://user@baton.example', 'must be an origin'],
    ['APP_PUBLIC_URL', 'baton.example', 'must be an origin'],
    ['APP_PUBLIC_ORIGINS', 'https://a.example,https://b.example/app', 'not one: https://b.example/app'],
    ['APP_PUBLIC_ORIGINS', 'https://a.example,*', 'not one: *'],
    ['APP_PUBLIC_ORIGINS', 'https://a.example,', 'must be comma-separated origins'],
    ['APP_PUBLIC_ORIGINS', 'https://a.example?x', 'must be comma-separated origins'],
    [
      'APP_PUBLIC_ORIGINS',
      Array.from({ length: 81 }, (_, i) => `https://a${i}.example`).join(','),
      'at most 80 origins',
    ],
    ['APP_SERVICE_ID', 'two words', 'must be 1 to 255 visible ASCII characters'],
    ['APP_SERVICE_ID', 'x'.repeat(256), 'must be 1 to 255 visible ASCII characters'],
    ['APP_BROKER_URL', 'ftp://broker', 'must be an http:// or https:// URL'],
    ['APP_REDIS_URL', 'redis+sentinel://a,b', 'must end with the name of the primary'],
    [
      'APP_REDIS_URL',
      'redis+sentinel://a,b/m?quorum=2',
      'has an unknown parameter after its question mark (it takes db,',
    ],
    ['APP_REDIS_URL', 'redis://a:70000', 'names a malformed host or port'],
    ['APP_REDIS_URL', 'redis://a/main', 'names a database that is not a number'],
    ['APP_REDIS_URL', 'redis://a?family=6', 'has an unknown parameter after its question mark (it takes none)'],
    ['APP_REDIS_URL', 'redis://a:%zz@b', 'has a malformed percent-encoding'],
    ['APP_REDIS_URL', 'http://a', 'must be a redis:// or rediss:// URL'],
    ['APP_REDIS_MODE', 'clustered', 'must be one of standalone, sentinel, cluster'],
    ['APP_TRUSTED_PROXIES', '10.0.0.1, proxy.internal', 'not one: proxy.internal'],
    ['APP_RATE_LIMIT_SCALE', '-1', 'must be a number'],
    ['APP_CLIPBOARD_TTL_SECONDS', '0', 'must be an integer from 1'],
    ['APP_MESSAGE_WAIT_REPLICAS', '-1', 'must be an integer from 0 to 16'],
    ['APP_HUB_SWEEP_SECONDS', '120', 'must be an integer from 1 to 60'],
  ])('%s=%s is refused', (key, value, says) => {
    expect(problemsOf({ ...DEV, [key]: value })).toEqual([expect.stringContaining(says)]);
    expect(keysOf({ ...DEV, [key]: value })).toEqual([key]);
  });

  test('the text of a secret is never repeated', () => {
    const env = { ...EDGE, APP_EDGE_SECRET: 'short-secret', APP_REDIS_URL: 'http://user:password@host' };
    expect(problemsOf(env).join('\n')).not.toMatch(/short-secret|password@/);
    expect(keysOf(env)).toEqual(['APP_EDGE_SECRET', 'APP_REDIS_URL']);
  });
});

describe('the store', () => {
  const at = (url: string, mode = '') => load({ ...DEV, APP_REDIS_URL: url, APP_REDIS_MODE: mode }).redis.address;
  const ANYWHERE = { username: null, password: null };

  test('is one server, with user, database and TLS in the URL', () => {
    expect(at('rediss://baton:p%40ss@store:6380/3')).toEqual({
      mode: 'standalone',
      nodes: [{ host: 'store', port: 6380 }],
      master: '',
      db: 3,
      tls: true,
      user: { username: 'baton', password: 'p@ss' },
      sentinelUser: ANYWHERE,
    });
    expect(at('redis://:secret@[::1]')).toMatchObject({
      nodes: [{ host: '::1', port: 6379 }],
      user: { username: null, password: 'secret' },
    });
  });

  test('is found by sentinels, which may have a user of their own', () => {
    expect(at('redis+sentinel://baton:pw@a:1,b,c:3/main?db=2&sentinel_username=s&sentinel_password=w')).toEqual({
      mode: 'sentinel',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 26379 },
        { host: 'c', port: 3 },
      ],
      master: 'main',
      db: 2,
      tls: false,
      user: { username: 'baton', password: 'pw' },
      sentinelUser: { username: 's', password: 'w' },
    });
    expect(at('rediss+sentinel://a/main', 'sentinel')).toMatchObject({ tls: true, user: ANYWHERE });
  });

  test('is a cluster when that is said, from one node or several', () => {
    const nodes = [
      { host: 'a', port: 7000 },
      { host: 'b', port: 6379 },
    ];
    const user = { username: 'u', password: 'p' };
    expect(at('redis://u:p@a:7000,b', 'cluster')).toMatchObject({ mode: 'cluster', nodes, user });
    expect(at('redis://u:p@a:7000, redis://u:p@b', 'cluster')).toMatchObject({ mode: 'cluster', nodes, user });
    expect(at('redis://a:7000', 'cluster')).toMatchObject({ mode: 'cluster', nodes: [nodes[0]] });
  });

  test.each([
    ['redis://a', 'sentinel', 'APP_REDIS_URL must be a redis+sentinel:// URL'],
    ['redis+sentinel://a/m', 'cluster', 'APP_REDIS_MODE must be sentinel'],
    ['redis://a,b', 'standalone', 'APP_REDIS_MODE must be cluster, or absent'],
    ['redis://a/1,b', 'cluster', 'APP_REDIS_URL names a database'],
    ['redis://a,rediss://b', 'cluster', 'APP_REDIS_URL lists nodes that differ'],
    ['redis://u:p@a,redis://u:q@b', 'cluster', 'APP_REDIS_URL lists nodes that differ'],
  ])('%s as %s is refused', (url, mode, says) => {
    expect(problemsOf({ ...DEV, APP_REDIS_URL: url, APP_REDIS_MODE: mode })).toEqual([expect.stringContaining(says)]);
  });
});

describe('the secret of the edge', () => {
  test('is required behind an edge', () => {
    expect(keysOf({ ...DEV, APP_IDENTITY: 'edge' })).toEqual(['APP_EDGE_SECRET']);
  });

  test('may be two values while it is rotated, not three', () => {
    const two = load({ ...EDGE, APP_EDGE_SECRET: `${SECRET}, ${SECRET}-next` });
    expect(two.identity).toEqual({ mode: 'edge', trust: 'secret', edgeSecrets: [SECRET, `${SECRET}-next`] });
    expect(keysOf({ ...EDGE, APP_EDGE_SECRET: [SECRET, SECRET, SECRET].join(',') })).toEqual(['APP_EDGE_SECRET']);
  });

  test('must be long in each of its values', () => {
    expect(keysOf({ ...EDGE, APP_EDGE_SECRET: `${SECRET},short` })).toEqual(['APP_EDGE_SECRET']);
  });
});

describe('assertions of the edge', () => {
  const JWT: Env = { ...DEV, APP_IDENTITY: 'edge', APP_EDGE_TRUST: 'jwt' };
  const KEYS: Env = {
    APP_EDGE_JWKS_URL: 'http://broker:8090/.well-known/jwks.json',
    APP_EDGE_ISSUER: 'https://baton.example/',
    APP_EDGE_AUDIENCE: 'baton',
  };

  test('need keys, an issuer and an audience, and no secret', () => {
    expect(keysOf(JWT)).toEqual(Object.keys(KEYS));
    expect(load({ ...JWT, ...KEYS }).identity).toEqual({
      mode: 'edge',
      trust: 'jwt',
      jwksUrl: KEYS['APP_EDGE_JWKS_URL'],
      issuer: 'https://baton.example/',
      audience: 'baton',
    });
  });
});

describe('production', () => {
  test('starts with everything it needs', () => {
    expect(load(PRODUCTION)).toMatchObject({
      production: true,
      broker: {
        url: 'https://broker.internal',
        token: '',
        app: 'baton',
      },
      signin: { loginUrl: 'https://broker.internal/login' },
      http: { publicUrl: 'https://baton.example' },
    });
  });

  test('does not start without its public address and its broker', () => {
    const bare = { ...EDGE, NODE_ENV: 'production' };
    expect(keysOf(bare)).toEqual(['APP_PUBLIC_URL', 'APP_BROKER_URL']);
  });

  test('does not start with the development identity', () => {
    expect(keysOf({ ...PRODUCTION, APP_IDENTITY: 'dev' })).toEqual(['APP_IDENTITY']);
  });

  test.each(['0', '1.5', '100'])('does not start with rate limits scaled by %s', (scale) => {
    expect(keysOf({ ...PRODUCTION, APP_RATE_LIMIT_SCALE: scale })).toEqual(['APP_RATE_LIMIT_SCALE']);
    expect(load({ ...DEV, APP_RATE_LIMIT_SCALE: scale }).http.rateLimitScale).toBe(Number(scale));
  });
});

describe('values in files', () => {
  let folder: string;
  const fileWith = (text: string): string => {
    const path = join(folder, 'value');
    writeFileSync(path, text);
    return path;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'baton-config-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('a key can be read from a file, whose last line break does not belong to it', () => {
    const { APP_EDGE_SECRET: _, ...rest } = EDGE;
    const config = load({ ...rest, APP_EDGE_SECRET_FILE: fileWith(`${SECRET}\n`) });
    expect(config.identity).toEqual({ mode: 'edge', trust: 'secret', edgeSecrets: [SECRET] });
  });

  test('a key and its file together are a problem', () => {
    expect(problemsOf({ ...EDGE, APP_EDGE_SECRET_FILE: fileWith(SECRET) })).toEqual([
      'APP_EDGE_SECRET and APP_EDGE_SECRET_FILE are both set: give one of them',
    ]);
  });

  test('a file that cannot be read is one problem, not two', () => {
    const { APP_REDIS_URL: _, ...rest } = DEV;
    expect(problemsOf({ ...rest, APP_REDIS_URL_FILE: join(folder, 'absent') })).toEqual([
      'APP_REDIS_URL_FILE cannot be read (ENOENT)',
    ]);
  });
});

test('a replica takes more connections than streams, and keeps descriptors for those that it makes', () => {
  for (const files of [256, 1_024, 20_000]) {
    const { hub, http } = load(DEV, files);
    expect(http.maxConnections).toBeGreaterThan(hub.maxStreams);
    expect(http.maxConnections).toBeLessThan(files - 64);
  }
  expect(load(DEV, 20_000).http.maxConnections).toBe(18_536);
});

test.each([1, 64, 255])('with a limit of %d open files a replica does not start, and says what to do', (files) => {
  expect(() => load(DEV, files)).toThrow(
    `The limit of open files is ${files}, and a replica needs 256: raise it with \`ulimit -n\``,
  );
});

describe('the number of streams', () => {
  test('is lowered to what the limit of open files allows, with a warning where somebody chose it', () => {
    const config = load({ ...DEV, APP_HUB_MAX_STREAMS: '9000' }, 1_024);
    expect(config.hub.maxStreams).toBe(857);
    expect(load(DEV, 1_024)).toMatchObject({ hub: { maxStreams: 857 }, warnings: [] });
    expect(config.warnings).toEqual([expect.stringMatching(/^APP_HUB_MAX_STREAMS is lowered to 857.*ulimit -n/)]);
    expect(load(DEV, 512).warnings).toEqual([expect.stringContaining('APP_HUB_MAX_STREAMS is lowered to 396')]);
  });

  test('above what was measured on one replica is warned of, where somebody chose it', () => {
    const many = { ...DEV, APP_HUB_MAX_STREAMS: '12000' };
    expect(load(many, 20_000).warnings).toEqual([expect.stringMatching(/lets 12000 streams in, and only 10000 were/)]);
    expect(load({ ...DEV, APP_HUB_MAX_STREAMS: '10000' }, 20_000).warnings).toEqual([]);
    expect(load(DEV, 20_000).warnings).toEqual([]);
    for (const files of [1_024, 20_000, 1_048_576]) {
      expect(load(PRODUCTION, files).warnings).not.toContainEqual(expect.stringMatching(/streams/));
    }
  });

  test('is what was asked for where there are enough files', () => {
    expect(load({ ...DEV, APP_HUB_MAX_STREAMS: '500' }, 1_024).hub.maxStreams).toBe(500);
  });
});

test.each([
  [{ APP_HOST: '0.0.0.0' }, 'believes anybody'],
  [{ APP_TRUSTED_PROXIES: '0.0.0.0/0' }, 'trusts every address'],
])('the operator is warned of %j', (risky, says) => {
  expect(load({ ...DEV, ...risky }).warnings).toEqual([expect.stringContaining(says)]);
});

test('the documented table names every key once, with a default and a meaning', () => {
  const rows = configTable();
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
  expect(rows.map(({ key }) => key)).toEqual(expect.arrayContaining(['APP_IDENTITY', 'APP_HUB_MAX_STREAMS']));
  expect(rows.filter(({ meaning }) => meaning.length < 10)).toEqual([]);
});
