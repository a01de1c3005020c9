import { pino } from 'pino';
import { BatonError } from '../../../shared/contract/errors.ts';
import { brokerReason, makeBrokerWatch } from '../../../services/sync/sessions/auth-broker/broker-watch.ts';

const { jest } = import.meta;

const refusedBy = (code: string): BatonError =>
  new BatonError('broker_unavailable', undefined, { cause: Object.assign(new Error('connect'), { code }) });

test.each<[string, unknown, string]>([
  ['nobody listens', refusedBy('ECONNREFUSED'), 'nothing listens there'],
  ['no such host', refusedBy('ENOTFOUND'), 'the host name is not known'],
  [
    'no HTTP is spoken there',
    refusedBy('UND_ERR_SOCKET'),
    'it closes the connection: is the port right, and the URL https only where TLS is spoken?',
  ],
  [
    'https to a port without TLS',
    refusedBy('ERR_SSL_WRONG_VERSION_NUMBER'),
    'no TLS is spoken there: http://, or another port',
  ],
  [
    'a CA of our own',
    refusedBy('SELF_SIGNED_CERT_IN_CHAIN'),
    'its certificate is not trusted: NODE_EXTRA_CA_CERTS names a file with a CA of your own',
  ],
  ['another failure', refusedBy('EPIPE'), 'the call failed (EPIPE)'],
  [
    'an open breaker',
    new BatonError('broker_unavailable', 'x', { cause: refusedBy('ECONNREFUSED') }),
    'nothing listens there',
  ],
  [
    'its store is away',
    new BatonError('broker_unavailable', undefined, { cause: { status: 503, body: { code: 'store_unavailable' } } }),
    'it answers 503 store_unavailable',
  ],
  [
    'a word that nobody knows',
    new BatonError('broker_unavailable', undefined, { cause: { status: 502, body: { code: '<script>' } } }),
    'it answers 502',
  ],
  [
    'a wrong token',
    new BatonError('broker_contract', 'The auth broker refused with 401'),
    'The auth broker refused with 401',
  ],
])('%s is told in words for an operator', (_, error, says) => {
  expect(brokerReason(error)).toBe(says);
});

describe('a watch', () => {
  let lines: Record<string, unknown>[];
  let nowMs: number;
  let outcome: () => Promise<unknown>;
  let asked: number;
  let up: number;
  let watch: ReturnType<typeof makeBrokerWatch>;
  const away = () => Promise.reject(refusedBy('ECONNREFUSED'));
  const settled = () => jest.advanceTimersByTimeAsync(0);
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    await jest.advanceTimersByTimeAsync(ms);
  };
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['performance', 'nextTick'] });
    [lines, nowMs, asked, up, outcome] = [[], 0, 0, -1, away];
    watch = makeBrokerWatch({
      url: 'http://user:secret@broker.example:8090/base',
      probe: () => {
        asked += 1;
        return outcome();
      },
      up: { set: (value) => void (up = value as number) },
      logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      now: () => nowMs,
    });
  });
  afterEach(() => {
    watch.stop();
    jest.useRealTimers();
  });

  test('names a broker that does not answer at the start, before anybody has called it', async () => {
    expect(watch.status()).toEqual({ up: null, at: 'broker.example:8090', reason: null });
    watch.start();
    await settled();
    expect(watch.status()).toEqual({ up: false, at: 'broker.example:8090', reason: 'nothing listens there' });
    expect([up, lines]).toEqual([0, []]);
  });

  test('logs a failure that lasts with its address, once a minute, and its end', async () => {
    watch.start();
    await settled();
    for (let second = 0; second < 30; second++) await pass(1_000);
    const line = { at: 'broker.example:8090', reason: 'nothing listens there', msg: 'auth broker cannot be used' };
    expect(lines).toMatchObject([line]);
    for (let second = 0; second < 60; second++) await pass(1_000);
    expect(lines).toMatchObject([line, line]);
    outcome = () => Promise.resolve();
    await pass(5_000);
    expect(lines.at(-1)).toMatchObject({ msg: 'auth broker can be used again', at: 'broker.example:8090' });
    expect([up, watch.status().up]).toEqual([1, true]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('says nothing of a broker that comes up beside it', async () => {
    watch.start();
    await settled();
    await pass(1_000);
    outcome = () => Promise.resolve();
    await pass(1_000);
    expect([up, lines]).toEqual([1, []]);
  });

  test('asks at once when a call has failed, and not for each call', async () => {
    outcome = () => Promise.resolve();
    watch.start();
    await settled();
    await pass(6_000);
    outcome = away;
    for (let i = 0; i < 100; i++) watch.recheck();
    await settled();
    expect([asked, watch.status().up]).toEqual([2, false]);
  });
});
