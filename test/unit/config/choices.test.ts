import { SETTINGS as BROKER_SETTINGS } from '../../../services/broker/config/settings.ts';
import { loadConfig as loadBroker } from '../../../services/broker/config/config.ts';
import { ConfigError } from '../../../shared/service-kit/config/config-error.ts';
import { loadConfig } from '../../../services/sync/config/config.ts';
import { SETTINGS } from '../../../services/sync/config/settings.ts';
import { unknownKeys } from '../../../shared/service-kit/config/unknown.ts';

type Env = Record<string, string>;

const DEV: Env = { APP_IDENTITY: 'dev', APP_REDIS_URL: 'redis://127.0.0.1:6379' };

const load = (env: Env) => loadConfig({ ...DEV, ...env }, 1_000_000);

function saysOf(read: () => unknown): string {
  try {
    read();
    return '';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
}

describe('several nodes', () => {
  const NODES = 'redis://a:7000,b:7001';

  test('are a cluster without a mode, and with that mode', () => {
    const nodes = [
      { host: 'a', port: 7000 },
      { host: 'b', port: 7001 },
    ];
    for (const mode of ['', 'cluster']) {
      const { redis, relay } = load({ APP_REDIS_URL: NODES, APP_REDIS_MODE: mode });
      expect(redis.address).toMatchObject({ mode: 'cluster', nodes });
      expect(relay.address).toEqual(redis.address);
    }
  });

  test.each(['standalone', 'sentinel'])('contradict APP_REDIS_MODE=%s', (mode) => {
    expect(saysOf(() => load({ APP_REDIS_URL: NODES, APP_REDIS_MODE: mode }))).toBe(
      `APP_REDIS_MODE must be cluster, or absent, with several nodes in APP_REDIS_URL, not "${mode}"`,
    );
  });

  test('have no database, wherever they are named', () => {
    const says = 'names a database: a cluster has only number 0';
    expect(saysOf(() => load({ APP_REDIS_URL: 'redis://a/1,b' }))).toBe(`APP_REDIS_URL ${says}`);
    expect(saysOf(() => load({ APP_RELAY_REDIS_URL: 'redis://a/1,b' }))).toBe(`APP_RELAY_REDIS_URL ${says}`);
    const broker = { BROKER_TOKENS: 'baton:secret', BROKER_REDIS_URL: 'redis://a/1,b' };
    expect(saysOf(() => loadBroker(broker))).toBe(`BROKER_REDIS_URL ${says}`);
  });
});

describe('a choice that is refused', () => {
  const refusals = (settings: Record<string, { kind: (text: string) => object; secret?: true }>) =>
    Object.entries(settings)
      .map(([key, { kind }]) => [key, kind('no-such-choice')] as const)
      .flatMap(([key, parsed]) => ('problem' in parsed ? [[key, String(parsed.problem)] as const] : []));

  test('lists what is allowed', () => {
    const all = Object.fromEntries([...refusals(SETTINGS), ...refusals(BROKER_SETTINGS)]);
    expect(all).toMatchObject({
      APP_IDENTITY: 'must be one of edge, broker, dev',
      APP_EDGE_TRUST: 'must be one of secret, jwt',
      APP_REDIS_MODE: 'must be one of standalone, sentinel, cluster',
      APP_LOG_LEVEL: 'must be one of fatal, error, warn, info, debug, trace, silent',
      BROKER_LOG_LEVEL: 'must be one of fatal, error, warn, info, debug, trace, silent',
    });
    for (const key of ['APP_QR_LOGIN_ENABLED', 'APP_PUSH_ENABLED', 'BROKER_DEV_LOGIN']) {
      expect(all[key]).toBe('must be true or false (or 1 or 0)');
    }
  });
});

describe('a key that nobody reads', () => {
  const known = ['APP_REDIS_URL', 'APP_RELAY_REDIS_URL', 'APP_PORT', 'APP_IDENTITY'];
  const says = (...keys: string[]) =>
    unknownKeys(Object.fromEntries(keys.map((key) => [key, 'hidden'])), { prefix: 'APP_', known });

  test.each([
    ['APP_REDIS_ULR', 'APP_REDIS_URL'],
    ['APP_REDISURL', 'APP_REDIS_URL'],
    ['APP_RELAY_REDIS_UR', 'APP_RELAY_REDIS_URL'],
    ['APP_PROT', 'APP_PORT'],
    ['APP_REDIS_URL_FIEL', 'APP_REDIS_URL_FILE'],
    ['APP_IDENTIY', 'APP_IDENTITY'],
  ])('%s was meant to be %s', (key, meant) => {
    expect(says(key)).toEqual([`${key} is not known; did you mean ${meant}?`]);
  });

  test('is named alone where nothing is like it, and never with its value', () => {
    expect(says('APP_SOMETHING_ELSE', 'APP_')).toEqual(['APP_ is not known', 'APP_SOMETHING_ELSE is not known']);
  });

  test('is none of another prefix, of the tests, of npm start, or of a file', () => {
    expect(says('BROKER_PROT', 'APPLE', 'APP_TEST_ANY', 'APP_REPLICAS', 'APP_DATA_DIR', 'APP_PORT_FILE')).toEqual([]);
  });
});
