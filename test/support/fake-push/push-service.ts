import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { importJWK, type JWTPayload, jwtVerify } from 'jose';
import { type Browser, type BrowserKeys, makeBrowser } from './browser.ts';
import type { TestCertificate } from './certificate.ts';
import { Script } from './scripted.ts';

/** A well-formed push, whatever the response was. */
export interface ReceivedPush {
  readonly subscriptionId: string;
  /** What the service worker of the page gets. */
  readonly payload: Record<string, unknown>;
  readonly ttl: number;
  readonly urgency: string | null;
  readonly topic: string | null;
  readonly claims: JWTPayload;
  readonly vapidKey: string;
  readonly authorization: string;
  readonly bytes: number;
  readonly atMs: number;
  /** Status of the response; 0 when there was none. */
  readonly status: number;
}

export interface FakeSubscription {
  readonly id: string;
  readonly endpoint: string;
  readonly keys: BrowserKeys;
}

interface Subscribed {
  readonly browser: Browser;
  readonly vapidKey: string | null;
  readonly script: Script;
  isExpired: boolean;
}

export interface FakePushService {
  readonly url: string;
  /** An entry for `APP_PUSH_ENDPOINTS`. */
  readonly host: string;
  /** All pushes, in the order of their arrival. */
  readonly pushes: readonly ReceivedPush[];
  /** Faults of requests. It stays empty if the sender keeps to the protocols. */
  readonly complaints: readonly string[];
  readonly script: Script;
  /** Connections made to it so far. */
  readonly connections: number;
  /** The most requests in progress at once. */
  readonly mostAtOnce: number;
  /** Subscribes a browser. With `applicationServerKey` it takes only pushes of that key (RFC 8292, section 4). */
  subscribe(applicationServerKey?: string): FakeSubscription;
  /** Returns the responses for this subscription alone. Those of `script` come first. */
  scriptOf(subscription: FakeSubscription): Script;
  /** Answers 410 from now on. */
  expire(subscription: FakeSubscription): void;
  /** Returns what waits for a browser that is away. It keeps only the last push of each topic. */
  held(subscription: FakeSubscription): ReceivedPush[];
  /** Resolves when this many pushes (of this subscription) have come. */
  received(count: number, subscription?: FakeSubscription): Promise<ReceivedPush[]>;
  stop(): Promise<void>;
}

class Refused extends Error {
  readonly status: number;

  constructor(status: number, error: string) {
    super(error);
    this.status = status;
  }
}

const demand = (right: boolean, status: number, error: string): void => {
  if (!right) throw new Refused(status, error);
};

const header = (req: IncomingMessage, name: string): string | null => {
  const value = req.headers[name];
  return typeof value === 'string' ? value : null;
};

const MOST_BYTES = 4_096;
const DAY_SECONDS = 86_400;

/** Checks the token in the `vapid` scheme (RFC 8292), its key, and its audience. */
async function verifyVapid(req: IncomingMessage, origin: string): Promise<{ claims: JWTPayload; vapidKey: string }> {
  const [, token, vapidKey] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(header(req, 'authorization') ?? '') ?? [];
  demand(token !== undefined && vapidKey !== undefined, 401, 'no vapid authorization');
  const point = Buffer.from(vapidKey as string, 'base64url');
  demand(point.length === 65 && point[0] === 4, 401, 'k is no uncompressed point');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  const key = await importJWK({ kty: 'EC', crv: 'P-256', x: x as string, y: y as string }, 'ES256');
  const verified = await jwtVerify(token as string, key, { audience: origin, algorithms: ['ES256'] }).catch(
    (error: unknown) => {
      throw new Refused(403, `the token is not valid: ${String(error)}`);
    },
  );
  const { payload: claims } = verified;
  demand(claims.exp !== undefined && claims.exp <= Date.now() / 1_000 + DAY_SECONDS, 403, 'exp is over 24 hours away');
  demand(/^(mailto:\S+@\S+|https:\/\/\S+)$/.test(claims.sub ?? ''), 403, 'sub is no contact');
  return { claims, vapidKey: vapidKey as string };
}

/** Checks the headers (RFC 8030, section 5). */
function verifyHeaders(req: IncomingMessage) {
  const [ttl, urgency, topic] = [header(req, 'ttl'), header(req, 'urgency'), header(req, 'topic')];
  demand(/^\d{1,10}$/.test(ttl ?? ''), 400, 'TTL is missing or no number');
  demand(urgency === null || ['very-low', 'low', 'normal', 'high'].includes(urgency), 400, 'no such urgency');
  demand(topic === null || /^[\w-]{1,32}$/.test(topic), 400, 'Topic is not up to 32 characters of base64url');
  demand(header(req, 'content-encoding') === 'aes128gcm', 400, 'the content encoding is not aes128gcm');
  return { ttl: Number(ttl), urgency, topic };
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * Starts a push service (RFC 8030) on loopback, with the browsers behind it. It checks the sender's VAPID token and
 * headers, decrypts the content (RFC 8291), keeps one push per topic, and answers as it is told.
 */
export async function startFakePushService({
  certificate,
}: {
  certificate: TestCertificate;
}): Promise<FakePushService> {
  const subscriptions = new Map<string, Subscribed>();
  const pushes: ReceivedPush[] = [];
  const complaints: string[] = [];
  const script = new Script();
  const news = new EventEmitter().setMaxListeners(0);
  let [connections, atOnce, mostAtOnce] = [0, 0, 0];

  const server = createServer({ key: certificate.key, cert: certificate.cert }, (req, res) => {
    mostAtOnce = Math.max(mostAtOnce, ++atOnce);
    res.once('close', () => atOnce--);
    answer(req, res).catch((error: unknown) => {
      complaints.push(error instanceof Error ? error.message : String(error));
      res.writeHead(error instanceof Refused ? error.status : 500, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ code: 500, errno: 999, message: 'see complaints' }));
    });
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `https://${host}`;

  function opened(subscribed: Subscribed, body: Buffer): Record<string, unknown> {
    try {
      return JSON.parse(subscribed.browser.open(body).toString('utf8')) as Record<string, unknown>;
    } catch (error) {
      throw new Refused(400, `the browser cannot read it: ${String(error)}`);
    }
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await bodyOf(req);
    const id = /^\/push\/([\w-]+)$/.exec(req.url ?? '')?.[1] ?? '';
    const subscribed = subscriptions.get(id);
    demand(req.method === 'POST', 405, 'only POST');
    if (subscribed === undefined) return void res.writeHead(404).end();
    const { claims, vapidKey } = await verifyVapid(req, url);
    const asked = verifyHeaders(req);
    demand(subscribed.vapidKey === null || subscribed.vapidKey === vapidKey, 403, 'another key than subscribed with');
    demand(body.length <= MOST_BYTES, 413, 'longer than 4,096 bytes');
    const payload = opened(subscribed, body);
    const scripted = script.play(res) ?? subscribed.script.play(res);
    const status = scripted ?? (subscribed.isExpired ? 410 : 201);
    if (scripted === null) res.writeHead(status, status === 201 ? { location: `${url}/m/${pushes.length}` } : {}).end();
    const [bytes, atMs] = [body.length, Date.now()];
    const authorization = header(req, 'authorization') ?? '';
    pushes.push({ subscriptionId: id, payload, ...asked, claims, vapidKey, authorization, bytes, atMs, status });
    news.emit('push');
  }

  const of = (subscription?: FakeSubscription): ReceivedPush[] =>
    pushes.filter((push) => subscription === undefined || push.subscriptionId === subscription.id);
  const subscribedOf = ({ id }: FakeSubscription) => subscriptions.get(id) as Subscribed;

  return {
    url,
    host,
    pushes,
    complaints,
    script,
    get connections() {
      return connections;
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
    subscribe(applicationServerKey) {
      const [id, browser] = [randomBytes(24).toString('base64url'), makeBrowser()];
      subscriptions.set(id, {
        browser,
        vapidKey: applicationServerKey ?? null,
        script: new Script(),
        isExpired: false,
      });
      return { id, endpoint: `${url}/push/${id}`, keys: browser.keys };
    },
    scriptOf: (subscription) => subscribedOf(subscription).script,
    expire(subscription) {
      subscribedOf(subscription).isExpired = true;
    },
    held(subscription) {
      const all = of(subscription).filter(({ status }) => status === 201);
      return all.filter(({ topic }, at) => topic === null || all.findLastIndex((push) => push.topic === topic) === at);
    },
    async received(count, subscription) {
      while (of(subscription).length < count) await once(news, 'push');
      return of(subscription);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
