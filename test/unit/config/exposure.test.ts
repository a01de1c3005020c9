import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadConfig as loadBroker } from '../../../services/broker/config/config.ts';
import { ConfigError } from '../../../shared/service-kit/config/config-error.ts';
import { loadConfig as loadReplica } from '../../../services/sync/config/config.ts';

/* What a configuration must not open by mistake. */

type Env = Record<string, string>;

const STRONG = 'Zq3vY0c7Lw9mJt1hXr5bNa8dKe2sGf6u';
const EDGE: Env = {
  APP_IDENTITY: 'edge',
  APP_EDGE_SECRET: STRONG,
  APP_REDIS_URL: 'redis://store',
  APP_PUBLIC_URL: 'https://baton.example',
  APP_BROKER_URL: 'http://broker:8090',
  APP_BROKER_TOKEN: STRONG,
  APP_TRUSTED_PROXIES: '10.0.0.0/24',
};
const BROKER: Env = {
  BROKER_REDIS_URL: 'redis://store',
  BROKER_TOKENS: `baton:${STRONG}`,
  BROKER_SECRET: STRONG,
  BROKER_PUBLIC_URL: 'https://baton.example',
  BROKER_OIDC_ISSUER: 'https://login.example',
  BROKER_OIDC_CLIENT_ID: 'baton',
};
const production = (env: Env): Env => ({ ...env, NODE_ENV: 'production' });

function problemsOf(load: () => unknown): string[] {
  try {
    load();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ key, message }) => `${key} ${message}`);
  }
}
const ofReplica = (env: Env) => problemsOf(() => loadReplica(env, 65_536));
const ofBroker = (env: Env) => problemsOf(() => loadBroker(env));

describe.each([
  ['replica', EDGE, ofReplica],
  ['broker', BROKER, ofBroker],
] as const)('a %s', (_, env, problems) => {
  test.each(['prod', 'Production', 'staging', 'live'])('does not start with NODE_ENV=%s', (word) => {
    const says = `NODE_ENV must be one of production, development, test, not "${word}"`;
    expect(problems({ ...env, NODE_ENV: word })).toEqual([says]);
  });

  test.each(['production', 'development', 'test', ''])('starts with NODE_ENV=%s', (word) => {
    expect(problems({ ...env, NODE_ENV: word })).toEqual([]);
  });
});

describe('in production', () => {
  test('a further origin over http is refused, but for this machine', () => {
    const at = (origins: string) => ofReplica(production({ ...EDGE, APP_PUBLIC_ORIGINS: origins }));
    expect(at('https://baton.lan,http://baton.lan')).toEqual([
      'APP_PUBLIC_ORIGINS must be https in production, but for localhost',
    ]);
    expect(at('https://baton.lan,http://localhost:8081')).toEqual([]);
  });

  test('a public address over http is refused, but for this machine', () => {
    const at = (url: string) => ofReplica(production({ ...EDGE, APP_PUBLIC_URL: url }));
    expect(at('http://baton.example')).toEqual(['APP_PUBLIC_URL must be https in production, but for localhost']);
    expect(at('http://127.0.0.1.baton.example')).toHaveLength(1);
    for (const url of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080']) {
      expect(at(url)).toEqual([]);
    }
  });

  test('an edge whose address nobody told is warned of, since all clients share one rate limit', () => {
    const { APP_TRUSTED_PROXIES: _, ...env } = EDGE;
    expect(ofReplica(production(env))).toEqual([]);
    for (const each of [env, production(env)]) {
      expect(loadReplica(each, 65_536).warnings).toContainEqual(
        expect.stringMatching(/^without APP_TRUSTED_PROXIES .* share one rate limit$/),
      );
    }
    expect(loadReplica(EDGE, 65_536).warnings).toEqual([]);
  });

  test('replicas that ask the broker are warned alike, where a proxy makes the TLS of their address', () => {
    const env: Env = { ...EDGE, APP_IDENTITY: 'broker', APP_TRUSTED_PROXIES: '' };
    const warnings = (more: Env) =>
      loadReplica(production({ ...env, ...more }), 65_536).warnings.filter((text) =>
        /^without APP_TRUSTED_PROXIES .* share one rate limit$/.test(text),
      );
    expect(warnings({})).toHaveLength(1);
    expect(warnings({ APP_TRUSTED_PROXIES: '10.0.0.0/24' })).toEqual([]);
    expect(warnings({ APP_PUBLIC_URL: 'http://localhost:8080' })).toEqual([]);
  });

  const sample = 'put-a-secret-of-your-own-here-00';
  test.each([
    ['APP_EDGE_SECRET', sample],
    ['APP_EDGE_SECRET', `${STRONG},${sample}`],
    ['APP_BROKER_TOKEN', sample],
    ['APP_TURN_SECRET', sample],
    ['APP_REDIS_URL', 'redis://baton:password@store'],
    ['APP_RELAY_REDIS_URL', 'redis+sentinel://a,b/m?sentinel_password=password'],
  ])('a replica refuses %s with a value of the samples', (key, value) => {
    const says = `${key} must not be a value of the samples in production: everybody knows it`;
    expect(ofReplica(production({ ...EDGE, [key]: value }))).toEqual([says]);
    expect(ofReplica({ ...EDGE, [key]: value })).toEqual([]);
  });

  test.each([
    ['BROKER_TOKENS', `baton:${STRONG},other:${sample}`],
    ['BROKER_SECRET', sample],
    ['BROKER_OIDC_CLIENT_SECRET', sample],
    ['BROKER_REDIS_URL', 'redis://broker:password@redis:6379'],
  ])('a broker refuses %s with a value of the samples', (key, value) => {
    const env = { ...BROKER, [key]: value, BROKER_LOGIN_APP: 'baton' };
    const says = `${key} must not be a value of the samples in production: everybody knows it`;
    expect(ofBroker(production(env))).toEqual([says]);
    expect(ofBroker(env)).toEqual([]);
  });
});

describe('secrets that this repository shows', () => {
  const DOCUMENTS = [
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'services/README.md',
    'services/GUARANTEES.md',
    'deploy/CONFIGURATION.md',
    'shared/contract/README.md',
    'shared/contract/CONTRACT.md',
    'services/broker/README.md',
    'deploy/edge/README.md',
    'deploy/edge/nginx/secret.conf.sample',
    'deploy/edge/samples/envoy.yaml',
    'deploy/edge/samples/envoy-gateway.yaml',
    'deploy/edge/samples/traefik.yml',
    'deploy/edge/samples/haproxy.cfg',
  ];
  /** Values that a reader could copy. `<...>`, `...`, `%s` and `$(...)` are placeholders. */
  const SHOWN = [
    /X-Edge-Secret:? *(?:, value:)? *"?([\w-]{16,})/g,
    /default "([\w-]{16,})"/g,
    /(?:SECRET|TOKENS?|PASSWORD)=(?:[\w.]+:)?([\w-]{8,})/g,
    /rediss?(?:\+sentinel)?:\/\/[\w.]*:([^@\s"`/]+)@/g,
  ];

  test.each(DOCUMENTS)('in %s are all refused in production', (path) => {
    const text = readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
    const shown = SHOWN.flatMap((pattern) => [...text.matchAll(pattern)].map(([, value]) => value ?? ''));
    for (const value of new Set(shown)) {
      const problems = ofReplica(production({ ...EDGE, APP_BROKER_TOKEN: value }));
      expect({ value, problems }).toEqual({ value, problems: [expect.stringContaining('a value of the samples')] });
    }
  });

  test('are found where they stand', () => {
    const text = readFileSync(
      fileURLToPath(new URL('../../../deploy/edge/samples/envoy.yaml', import.meta.url)),
      'utf8',
    );
    expect(SHOWN.flatMap((pattern) => [...text.matchAll(pattern)])).not.toEqual([]);
  });
});
