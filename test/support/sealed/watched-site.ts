import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { freePort } from '../../../deploy/local/setup/redis.mjs';
import { spawnBroker, stopBrokers, TOKEN } from '../../broker/support/brokers.ts';
import { EDGE_SECRET, startEdge, stopEdges } from '../../edge/edges.ts';
import { startFakeApns } from '../fake-push/apns.ts';
import { makeTestCertificate } from '../fake-push/certificate.ts';
import { startFakeFcm } from '../fake-push/fcm.ts';
import { type FakePushService, startFakePushService } from '../fake-push/push-service.ts';
import { startOwnRedis } from '../redis/own-redis.ts';
import { keysUnder } from '../redis/redis.ts';
import { readAll } from '../redis/stored.ts';
import { type ReplicaProcess, startReplica, stopReplicas } from '../replicas.ts';
import { filesUnder, type Place } from './word-search.ts';

const TRACING = fileURLToPath(new URL('../../../dist/services/tracing/main.js', import.meta.url));

/** An installation that keeps everything it writes: nginx, broker, two replicas, a Redis with files, and push services. */
export interface WatchedSite {
  readonly url: string;
  readonly push: FakePushService;
  /** The headers of a person who has just logged in. */
  logIn(): Promise<Record<string, string>>;
  /** Returns everything that it has written down so far. */
  places(): Promise<Place[]>;
  stop(): Promise<void>;
}

/** Takes traces as an OpenTelemetry collector does. */
async function startCollector() {
  let text = '';
  const server = createServer((req, res) => {
    req.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    req.on('end', () => void res.setHeader('Content-Type', 'application/json').end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, text: () => text, stop: () => void server.close() };
}

async function startPushServices() {
  const certificate = makeTestCertificate();
  const [web, fcm, apns] = await Promise.all([
    startFakePushService({ certificate }),
    startFakeFcm({ certificate }),
    startFakeApns({ certificate }),
  ]);
  const { account } = apns;
  return {
    web,
    env: {
      ...{ APP_PUSH_ENDPOINTS: web.host, NODE_EXTRA_CA_CERTS: certificate.certFile },
      ...{ APP_FCM_SERVICE_ACCOUNT: JSON.stringify(fcm.serviceAccount), APP_FCM_URL: fcm.url },
      ...{ APP_APNS_KEY: account.privateKeyPem, APP_APNS_KEY_ID: account.keyId, APP_APNS_TEAM: account.teamId },
      ...{ APP_APNS_TOPIC: account.topic, APP_APNS_URL: apns.url },
    },
    places: (): Place[] => [
      { name: 'web pushes', bytes: Buffer.from(JSON.stringify(web.pushes)) },
      { name: 'FCM', bytes: Buffer.from(fcm.bodies.join('\n')) },
      { name: 'APNs', bytes: Buffer.from(JSON.stringify(apns.notifications)) },
    ],
    async stop() {
      await Promise.all([web.stop(), fcm.stop(), apns.stop()]);
      certificate.remove();
    },
  };
}

/** Returns every key with its value as it is read and as it is dumped, and the files of the store. */
async function placesOf(redis: Redis): Promise<Place[]> {
  const places: Place[] = [];
  for (const key of await keysUnder(redis, '', '*')) {
    const [value, dump] = [await readAll(redis, key), await redis.dumpBuffer(key)];
    places.push({ name: `Redis ${key}`, bytes: Buffer.from(`${key}\n${JSON.stringify(value)}`) });
    places.push({ name: `DUMP ${key}`, bytes: dump ?? Buffer.alloc(0) });
  }
  await redis.save();
  const [, folder = ''] = await redis.config('GET', 'dir');
  return [...places, ...filesUnder(folder)];
}

async function fetched(url: string): Promise<Place> {
  return { name: url, bytes: Buffer.from(await (await fetch(url)).text()) };
}

/** Starts it on loopback. Unlike the shipped nginx, this one writes each request into a file and keeps that file. */
export async function startWatchedSite(): Promise<WatchedSite> {
  const scratch = mkdtempSync(join(tmpdir(), 'baton-scratch-'));
  const [store, collector, push] = await Promise.all([startOwnRedis(), startCollector(), startPushServices()]);
  const redis = new Redis(store.url);
  // Compressed values hide words.
  await redis.config('SET', 'rdbcompression', 'no');
  const [port, brokerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const traced = {
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100', TMPDIR: scratch },
  };
  const broker = spawnBroker(
    {
      ...{ BROKER_REDIS_URL: store.url, BROKER_KEY_PREFIX: 'broker', BROKER_PUBLIC_URL: url, BROKER_DEV_LOGIN: '1' },
      ...{ BROKER_LOG_LEVEL: 'trace', NODE_OPTIONS: `--import=${TRACING}`, ...traced },
    },
    brokerPort,
  );
  await broker.ready();
  const start = (): Promise<ReplicaProcess> =>
    startReplica({
      ...{ redisUrl: store.url, keyPrefix: 'baton', nodeFlags: [`--import=${TRACING}`] },
      env: {
        ...{ APP_IDENTITY: 'edge', APP_EDGE_SECRET: EDGE_SECRET, APP_PUBLIC_URL: url, APP_BROKER_URL: broker.url },
        ...{ APP_BROKER_TOKEN: TOKEN, APP_TRUSTED_PROXIES: '127.0.0.1', APP_LOG_LEVEL: 'trace' },
        ...traced,
        ...push.env,
      },
    });
  const replicas = await Promise.all([start(), start()]);
  const edge = await startEdge('nginx', {
    ...{ port, broker: broker.url, replicas: replicas.map((each) => each.url) },
    spoil: (_, text) =>
      text.replace('proxy_request_buffering off;', 'proxy_request_buffering on;\nclient_body_in_file_only on;'),
  });
  // The workers of nginx may have another user than this test.
  chmodSync(edge.folder, 0o755);

  return {
    ...{ url, push: push.web },
    async logIn() {
      const body = new URLSearchParams({ user: `user-${crypto.randomUUID()}` });
      const headers = { Origin: url };
      const answer = await fetch(`${url}/login/dev`, { method: 'POST', redirect: 'manual', headers, body });
      return { ...headers, Cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] as string };
    },
    async places() {
      const admins = [...replicas, broker].map(({ adminUrl }) => adminUrl);
      const pages = await Promise.all(
        admins.flatMap((admin) => ['/metrics', '/statusz'].map((path) => fetched(`${admin}${path}`))),
      );
      const logs = [...replicas, broker, edge].map(({ url: at, log }) => ({
        name: `log of ${at}`,
        bytes: Buffer.from(log()),
      }));
      const traces = { name: 'traces', bytes: Buffer.from(collector.text()) };
      return [
        ...(await placesOf(redis)),
        ...pages,
        ...logs,
        traces,
        ...push.places(),
        ...filesUnder(edge.folder),
        ...filesUnder(scratch),
      ];
    },
    async stop() {
      await stopEdges();
      await stopReplicas();
      await stopBrokers();
      redis.disconnect();
      collector.stop();
      await Promise.all([store.stop(), push.stop()]);
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}
