import express from 'express';
import type { Redis } from 'ioredis';
import request from 'supertest';
import { makeAddressLimits } from '../../../../services/sync/http/limits/address-limit.ts';
import { makeProblemHandler } from '../../../../shared/service-kit/http/problem.ts';
import { requestId } from '../../../../shared/service-kit/http/request-context.ts';
import { makeClientAddress } from '../../../../services/sync/identity/client-address.ts';
import { storeFault } from '../../../../shared/service-kit/redis/faults.ts';
import { runningWhenFull } from '../../../../shared/service-kit/redis/scripts/script-text.ts';
import { makeLogger } from '../../../../shared/service-kit/telemetry/logger.ts';
import { makeMetrics } from '../../../../services/sync/telemetry/metrics.ts';
import { connectTo, randomPrefix, sharedRedisUrl } from '../../../support/redis/redis.ts';

type Send = (...args: string[]) => Promise<string>;

/** The limit is three requests a minute: 60, scaled down. */
const SCALE = 0.05;
const metrics = makeMetrics({ version: 'test' });
const logger = makeLogger({ level: 'silent', server: 'test' });

let redis: Redis;
let prefix: string;
const send: Send = (command, ...args) => redis.call(command, ...args) as Promise<string>;

beforeAll(() => {
  redis = connectTo(sharedRedisUrl());
});
beforeEach(() => {
  prefix = randomPrefix();
});
afterAll(async () => {
  await redis.quit();
});

/** Makes the sign-in limiter of one replica, behind a proxy that names the client. */
function replica({ scale = SCALE, sendCommand = send }: { scale?: number; sendCommand?: Send } = {}) {
  const limits = makeAddressLimits({
    sendCommand,
    textOf: runningWhenFull,
    faultOf: storeFault,
    prefixOf: (group) => `${prefix}:rate:${group}:`,
    clientAddress: makeClientAddress({ trustedProxies: ['127.0.0.0/8', '::1/128'] }),
    scale,
    logger,
  });
  const app = express();
  app.use(requestId, limits.auth);
  app.use((_req, res) => {
    res.sendStatus(204);
  });
  app.use(makeProblemHandler({ logger, metrics }));
  return (address: string) => request(app).get('/').set('X-Forwarded-For', address);
}

async function statuses(ask: (address: string) => PromiseLike<{ status: number }>, ...addresses: string[]) {
  const seen: number[] = [];
  for (const address of addresses) seen.push((await ask(address)).status);
  return seen;
}

test('an address has one budget on all replicas', async () => {
  const [first, second] = [replica(), replica()];
  expect(await statuses(first, '198.51.100.1', '198.51.100.1')).toEqual([204, 204]);
  expect(await statuses(second, '198.51.100.1', '198.51.100.1')).toEqual([204, 429]);
  expect(await statuses(second, '198.51.100.2')).toEqual([204]);
});

test('a refusal tells when to come back, in problem form and in the headers of the draft', async () => {
  const ask = replica();
  const allowed = await ask('198.51.100.1');
  expect(allowed.headers['ratelimit']).toMatch(/^"auth"; r=2; t=\d+$/);
  await statuses(ask, '198.51.100.1', '198.51.100.1');
  const refused = await ask('198.51.100.1').expect(429);
  expect(refused.headers).toMatchObject({
    'content-type': expect.stringContaining('application/problem+json'),
    'retry-after': expect.stringMatching(/^([1-9]|[1-5]\d|60)$/),
    ratelimit: expect.stringMatching(/^"auth"; r=0; t=\d+$/),
    'ratelimit-policy': expect.stringMatching(/^"auth"; q=3; w=60/),
  });
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'rate_limited' });
});

test('the addresses of one /56 are one', async () => {
  const ask = replica();
  const ours = ['2001:db8:0:1::1', '2001:db8:0:2::2', '2001:db8:0:ff::3', '2001:db8::4'];
  expect(await statuses(ask, ...ours)).toEqual([204, 204, 204, 429]);
  expect(await statuses(ask, '2001:db8:0:100::1')).toEqual([204]);
});

test('a scale of 0 switches the limit off', async () => {
  const ask = replica({ scale: 0 });
  expect(await statuses(ask, ...Array<string>(5).fill('198.51.100.1'))).toEqual(Array(5).fill(204));
});

test('without the store everybody is refused, and nobody any more once it is back', async () => {
  let away = true;
  const sendCommand: Send = (...args) => (away ? Promise.reject(new Error('connect ECONNREFUSED')) : send(...args));
  const ask = replica({ sendCommand });
  const refused = await ask('198.51.100.1').expect(503);
  expect(JSON.parse(refused.text)).toMatchObject({ code: 'store_unavailable' });
  expect(refused.text).not.toContain('ECONNREFUSED');
  away = false;
  expect(await statuses(ask, '198.51.100.1')).toEqual([204]);
});

test('a store that lost its scripts is given them again', async () => {
  const commands: string[] = [];
  const sendCommand: Send = (...args) => {
    commands.push(String(args[0]));
    return args[0] === 'EVALSHA' ? Promise.reject(new Error('NOSCRIPT No matching script.')) : send(...args);
  };
  const ask = replica({ sendCommand });
  const address = '198.51.100.1';
  expect(await statuses(ask, address, address, address, address)).toEqual([204, 204, 204, 429]);
  expect(commands.slice(0, 2)).toEqual(['EVALSHA', 'EVAL']);
});
