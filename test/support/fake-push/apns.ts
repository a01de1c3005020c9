import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { jwtVerify } from 'jose';
import type { TestCertificate } from './certificate.ts';
import { Script, type Scripted } from './scripted.ts';

/** A well-formed notification, whatever the response was. */
export interface ApnsNotification {
  readonly token: string;
  readonly payload: Record<string, unknown>;
  readonly expiration: number;
  readonly priority: string;
  readonly collapseId: string | null;
  readonly topic: string;
  readonly providerToken: string;
}

export interface FakeApns {
  /** For `APP_APNS_URL`. */
  readonly url: string;
  readonly host: string;
  /** For `APP_APNS_*`: the key, its id, the team, the topic. */
  readonly account: {
    readonly privateKeyPem: string;
    readonly keyId: string;
    readonly teamId: string;
    readonly topic: string;
  };
  readonly notifications: readonly ApnsNotification[];
  readonly complaints: readonly string[];
  readonly script: Script;
  /** Provider tokens that were valid when they came. */
  readonly providerTokens: ReadonlySet<string>;
  /** Connections made to it so far. */
  readonly sessions: number;
  /** Answers 410 Unregistered from now on, because the app with this device token is gone. */
  unregister(token: string): void;
  /** Answers ExpiredProviderToken from now on for all tokens used so far. */
  expireProviderTokens(): void;
  /** Sends GOAWAY on every connection. */
  goAway(): void;
  /** Breaks every connection. */
  breakConnections(): void;
  /** Resolves when this many notifications have come. */
  received(count: number): Promise<readonly ApnsNotification[]>;
  stop(): Promise<void>;
}

/** Makes an error in the form of APNs. */
export const apnsError = (status: number, reason: string, more: object = {}): Exclude<Scripted, number> => ({
  status,
  headers: { 'apns-id': randomUUID() },
  body: { reason, ...more },
});

class Refused extends Error {
  readonly answer: Exclude<Scripted, number>;

  constructor(answer: Exclude<Scripted, number>) {
    super(JSON.stringify(answer.body));
    this.answer = answer;
  }
}

function demand(right: boolean, status: number, reason: string): void {
  if (!right) throw new Refused(apnsError(status, reason));
}

async function bodyOf(req: Http2ServerRequest): Promise<string> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += chunk as string;
  return text;
}

const PUSH_TYPES = ['alert', 'background', 'voip'];

/** Checks the headers that Apple documents, of a request with a valid provider token. */
function verifyHeaders(req: Http2ServerRequest, topic: string) {
  const header = (name: string): string | null => (req.headers[name] as string | undefined) ?? null;
  demand(header('apns-topic') !== null, 400, 'MissingTopic');
  demand(header('apns-topic') === topic, 400, 'TopicDisallowed');
  demand(PUSH_TYPES.includes(header('apns-push-type') ?? ''), 400, 'InvalidPushType');
  demand(/^\d{1,12}$/.test(header('apns-expiration') ?? ''), 400, 'BadExpirationDate');
  demand(['1', '5', '10'].includes(header('apns-priority') ?? ''), 400, 'BadPriority');
  demand(Buffer.byteLength(header('apns-collapse-id') ?? '') <= 64, 400, 'BadCollapseId');
  return {
    topic,
    expiration: Number(header('apns-expiration')),
    priority: String(header('apns-priority')),
    collapseId: header('apns-collapse-id'),
  };
}

/** Starts a fake Apple Push Notification service on loopback: HTTP/2 over TLS, provider tokens (ES256), and its reasons. */
export async function startFakeApns({ certificate }: { certificate: TestCertificate }): Promise<FakeApns> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const account = {
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    keyId: 'ABC123DEFG',
    teamId: 'DEF123GHIJ',
    topic: 'dev.baton.app',
  };
  const [notifications, complaints]: [ApnsNotification[], string[]] = [[], []];
  const [unregistered, providerTokens, expired] = [new Map<string, number>(), new Set<string>(), new Set<string>()];
  const open = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  const script = new Script();
  const news = new EventEmitter().setMaxListeners(0);
  let sessions = 0;

  const server = createSecureServer({ key: certificate.key, cert: certificate.cert }, (req, res) => {
    answer(req, res).catch((error: unknown) => {
      if (!(error instanceof Refused) || error.answer.status !== 403) complaints.push(String(error));
      script.give(res, error instanceof Refused ? error.answer : apnsError(500, 'InternalServerError'));
    });
  });
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    sessions++;
    open.add(session);
    session.on('close', () => open.delete(session));
    // The tests include clients that break the connection.
    session.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function verifyToken(req: Http2ServerRequest): Promise<string> {
    const token = /^bearer (\S+)$/i.exec(req.headers.authorization ?? '')?.[1];
    demand(token !== undefined, 403, 'MissingProviderToken');
    const { payload, protectedHeader } = await jwtVerify(token as string, publicKey, {
      algorithms: ['ES256'],
      issuer: account.teamId,
      requiredClaims: ['iat'],
    }).catch(() => {
      throw new Refused(apnsError(403, 'InvalidProviderToken'));
    });
    demand(protectedHeader.kid === account.keyId, 403, 'InvalidProviderToken');
    const ageSeconds = Date.now() / 1_000 - Number(payload.iat);
    demand(!expired.has(token as string) && ageSeconds < 3_600, 403, 'ExpiredProviderToken');
    providerTokens.add(token as string);
    return token as string;
  }

  async function answer(req: Http2ServerRequest, res: Http2ServerResponse): Promise<void> {
    const body = await bodyOf(req);
    demand(req.method === 'POST', 405, 'MethodNotAllowed');
    const token = /^\/3\/device\/(\w+)$/.exec(req.url)?.[1];
    demand(token !== undefined, 404, 'BadPath');
    const providerToken = await verifyToken(req);
    const asked = verifyHeaders(req, account.topic);
    demand(body !== '', 400, 'PayloadEmpty');
    demand(Buffer.byteLength(body) <= 4_096, 413, 'PayloadTooLarge');
    const payload = JSON.parse(body) as Record<string, unknown>;
    notifications.push({ token: token as string, payload, ...asked, providerToken });
    news.emit('notification');
    if (script.play(res) !== null) return;
    const timestamp = unregistered.get(token as string);
    if (timestamp !== undefined) script.give(res, apnsError(410, 'Unregistered', { timestamp }));
    else script.give(res, { headers: { 'apns-id': randomUUID() } });
  }

  return {
    url: `https://${host}`,
    host,
    account,
    notifications,
    complaints,
    script,
    providerTokens,
    get sessions() {
      return sessions;
    },
    unregister: (token) => void unregistered.set(token, Date.now()),
    expireProviderTokens() {
      for (const token of providerTokens) expired.add(token);
    },
    goAway() {
      for (const session of open) session.goaway();
    },
    breakConnections() {
      for (const session of open) session.destroy();
    },
    async received(count) {
      while (notifications.length < count) await once(news, 'notification');
      return notifications;
    },
    async stop() {
      for (const session of open) session.destroy();
      // A session with an unread stream would wait for its reader.
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
