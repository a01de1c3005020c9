import request from 'supertest';
import { makeReplicaLimits } from '../../../../services/sync/http/limits/replica-limit.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { LIMITS } from '../../../../shared/contract/limits.ts';
import { RATES, type RateGroup } from '../../../../shared/contract/rates.ts';
import type { Route } from '../../../../shared/contract/vocabulary/route.ts';
import { ROUTES } from '../../../../shared/contract/routes.ts';
import { ALICE, publicApp } from '../public-app.ts';

const rows = Object.entries<Route>(ROUTES);

test('every route with an identity has a rate group', () => {
  const without = rows.filter(([, { identity, rate }]) => identity === 'caller' && rate === null);
  expect(without.map(([name]) => name)).toEqual([]);
});

test('every rate group is that of a route, or of identities', () => {
  const used = new Set<RateGroup | null>([...rows.map(([, { rate }]) => rate), 'unknown_credential']);
  expect(Object.keys(RATES).filter((group) => !used.has(group as RateGroup))).toEqual([]);
});

test('all devices of an account may come back three times in the minute in which a replica was lost', () => {
  const { limits } = manual({ scale: 1 });
  for (let device = 0; device < LIMITS.devicesPerAccount; device++) {
    const open = () => limits.check(ROUTES.openStream, { account: 'alice', deviceId: `device-${device}` });
    for (let times = 0; times < 3; times++) expect(open).not.toThrow();
  }
});

/** Makes limits with a clock that stands still until it is set. */
function manual({ scale = 0.01, most }: { scale?: number; most?: number } = {}) {
  let nowMs = 0;
  const limits = makeReplicaLimits({ scale, now: () => nowMs, ...(most !== undefined && { most }) });
  return {
    limits,
    wait: (ms: number) => {
      nowMs += ms;
    },
    /** Returns how many of this many reads are let through. */
    read(times: number, deviceId: string | null = 'laptop-01', account = 'alice'): number {
      let passed = 0;
      for (let i = 0; i < times; i++) {
        try {
          limits.check(ROUTES.getMe, { account, deviceId });
          passed += 1;
        } catch (error) {
          expect(error).toMatchObject({ code: 'rate_limited' });
        }
      }
      return passed;
    },
  };
}

/* Limits are at a hundredth: 12 reads a minute for a device, 120 for an account. */
describe('a limit of the replica', () => {
  test('lets so many through at once, and as many again over each window, evenly', () => {
    const { read, wait } = manual();
    expect(read(20)).toBe(12);
    wait(5_000);
    expect(read(20)).toBe(1);
    wait(60_000);
    expect(read(20)).toBe(12);
  });

  test('counts each device apart, and all of the account together', () => {
    const { read } = manual();
    const passed = Array.from({ length: 12 }, (_, device) => read(12, `device-${device}`));
    expect(passed).toEqual([...Array.from({ length: 10 }, () => 12), 0, 0]);
    expect(read(1, 'device-01', 'bob')).toBe(1);
  });

  test('counts callers without a device for the account alone', () => {
    expect(manual().read(200, null)).toBe(120);
  });

  test('does not count what it refuses', () => {
    const { read, wait } = manual();
    read(12);
    for (let second = 0; second < 60; second++) {
      wait(1_000);
      read(5, 'laptop-01');
    }
    // The account was charged for 12 and 12, so 96 are left for its other devices.
    expect(
      Array.from({ length: 10 }, (_, device) => read(12, `other-${device}`)).reduce((a, b) => a + b),
    ).toBeGreaterThan(96);
  });

  test('tells when to come back, and what the limit is', () => {
    const { limits, read } = manual();
    read(12);
    const refused = (): unknown => {
      try {
        return limits.check(ROUTES.getMe, { account: 'alice', deviceId: 'laptop-01' });
      } catch (error) {
        return error;
      }
    };
    const error = refused();
    expect(error).toBeInstanceOf(BatonError);
    expect((error as BatonError).extras).toEqual({
      retryAfterSeconds: 5,
      headers: { RateLimit: '"read"; r=0; t=5', 'RateLimit-Policy': '"read"; q=12; w=60' },
    });
  });

  test('is off at scale 0, and never below one', () => {
    expect(manual({ scale: 0 }).read(50_000)).toBe(50_000);
    expect(manual({ scale: 0.000_01 }).read(5)).toBe(1);
  });

  test('keeps a bounded number of counts, whoever asks', () => {
    const { limits, read } = manual({ most: 100 });
    for (let i = 0; i < 1_000; i++) read(1, 'laptop-01', `account-${i}`);
    expect(limits.size).toBeLessThanOrEqual(202);
    expect(limits.size).toBeGreaterThan(0);
  });

  test('forgets who has been quiet for two windows', () => {
    const { limits, read, wait } = manual();
    for (let i = 0; i < 50; i++) read(1, 'laptop-01', `account-${i}`);
    wait(60_000);
    read(1);
    wait(60_000);
    read(1);
    expect(limits.size).toBe(4);
  });
});

describe('over HTTP', () => {
  test('the one request too many is refused before its body is read, with all that a client needs to know', async () => {
    const { app, counted } = publicApp({ rateScale: 0.005 });
    const ack = () => request(app).post('/api/message/ack').set(ALICE).set('Content-Type', 'application/json');
    for (let i = 0; i < 3; i++) await ack().send({ message_ids: [] }).expect(200);
    const refused = await ack().send('{').expect(429);
    expect(refused.body).toMatchObject({ code: 'rate_limited' });
    // The earlier requests have taken some of that time.
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThan(10);
    expect(seconds).toBeLessThanOrEqual(20);
    expect(refused.headers['ratelimit']).toBe(`"ack"; r=0; t=${seconds}`);
    expect(refused.headers['ratelimit-policy']).toBe('"ack"; q=3; w=60');
    expect(await counted('baton_rate_limited_total', { group: 'ack' })).toBe(1);
    expect(await counted('baton_auth_rejections_total', { reason: 'rate_limited' })).toBe(0);
  });

  test('an event stream too many is told to come back, never refused', async () => {
    const { app, counted } = publicApp({ rateScale: 0.01 });
    const open = () => request(app).get('/api/hub/events').set(ALICE);
    for (let i = 0; i < 2; i++) await open().expect(200, ': open\n\n');
    const answer = await open()
      .expect(200)
      .expect('Content-Type', /^text\/event-stream/);
    const [, retryMs] =
      /^retry: (\d+)\nevent: reconnect\ndata: \{"reason":"busy","retry_ms":\d+\}\n\n$/.exec(answer.text) ?? [];
    expect(Number(retryMs)).toBeGreaterThanOrEqual(5_000);
    expect(await counted('baton_rate_limited_total', { group: 'stream' })).toBe(1);
    expect(await counted('baton_problems_total', { code: 'rate_limited' })).toBe(1);
  });
});
