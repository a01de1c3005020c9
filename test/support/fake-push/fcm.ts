import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { jwtVerify } from 'jose';
import type { TestCertificate } from './certificate.ts';
import { Script, type Scripted } from './scripted.ts';

/** What Google provides as a JSON file. */
export interface ServiceAccount {
  readonly type: 'service_account';
  readonly project_id: string;
  readonly private_key_id: string;
  readonly private_key: string;
  readonly client_email: string;
  readonly token_uri: string;
}

/** The `message` of a well-formed request, whatever the response was. */
export interface FcmMessage {
  readonly token: string;
  readonly data?: Record<string, string>;
  readonly notification?: object;
  readonly android?: { priority?: string; ttl?: string; collapse_key?: string };
}

export interface FakeFcm {
  /** For `APP_FCM_URL`. */
  readonly url: string;
  readonly host: string;
  /** For `APP_FCM_SERVICE_ACCOUNT`. */
  readonly serviceAccount: ServiceAccount;
  readonly messages: readonly FcmMessage[];
  /** Whole bodies, for checks of what must not be in them. */
  readonly bodies: readonly string[];
  /** How many access tokens were issued. */
  readonly tokensGiven: number;
  readonly complaints: readonly string[];
  /** Responses to sends. */
  readonly script: Script;
  /** Responses to requests for access tokens. */
  readonly tokenScript: Script;
  /** Answers 404 UNREGISTERED from now on, because the app with this registration token is gone. */
  unregister(token: string): void;
  /** Makes all access tokens issued so far invalid. */
  revokeAccessTokens(): void;
  /** Resolves when this many messages have come. */
  received(count: number): Promise<readonly FcmMessage[]>;
  stop(): Promise<void>;
}

const FCM_ERROR = 'type.googleapis.com/google.firebase.fcm.v1.FcmError';

/** Makes an error in the form of FCM: the canonical status, and the code of the FcmError among the details. */
export const fcmError = (status: number, canonical: string, errorCode?: string): Exclude<Scripted, number> => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8' },
  body: {
    error: {
      code: status,
      message: 'What the fake says.',
      status: canonical,
      ...(errorCode !== undefined && { details: [{ '@type': FCM_ERROR, errorCode }] }),
    },
  },
});

class Refused extends Error {
  readonly answer: Exclude<Scripted, number>;

  constructor(answer: Exclude<Scripted, number>, complaint: string) {
    super(complaint);
    this.answer = answer;
  }
}

function demand(right: boolean, complaint: string): void {
  if (!right) throw new Refused(fcmError(400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'), complaint);
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += chunk as string;
  return text;
}

function messageIn(body: string): FcmMessage {
  const { message } = JSON.parse(body) as { message?: FcmMessage };
  demand(typeof message?.token === 'string' && message.token !== '', 'no token');
  const { data = {}, android = {} } = message as FcmMessage;
  demand(
    Object.values(data).every((value) => typeof value === 'string'),
    'values of data must be strings',
  );
  demand(android.priority === undefined || ['HIGH', 'NORMAL'].includes(android.priority), 'no such priority');
  demand(android.ttl === undefined || /^\d+(\.\d{1,9})?s$/.test(android.ttl), 'ttl is no duration');
  demand(Buffer.byteLength(JSON.stringify(data)) <= 4_096, 'data is longer than 4,096 bytes');
  return message as FcmMessage;
}

const generateRsaPair = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** Key pair for all service accounts of a test process, because making one takes a third of a second of processor time. */
let keyPair: ReturnType<typeof generateRsaPair> | undefined;

/** Starts a fake Firebase Cloud Messaging on loopback: Google's token endpoint (RFC 7523) and `messages:send` of HTTP v1. */
export async function startFakeFcm({ certificate }: { certificate: TestCertificate }): Promise<FakeFcm> {
  const { publicKey, privateKey } = (keyPair ??= generateRsaPair());
  const [messages, bodies, complaints]: [FcmMessage[], string[], string[]] = [[], [], []];
  const [unregistered, accessTokens] = [new Set<string>(), new Set<string>()];
  const [script, tokenScript] = [new Script(), new Script()];
  const news = new EventEmitter().setMaxListeners(0);
  let tokensGiven = 0;

  const server = createServer({ key: certificate.key, cert: certificate.cert }, (req, res) => {
    const answer = req.url === '/token' ? giveToken : send;
    answer(req, res).catch((error: unknown) => {
      complaints.push(error instanceof Error ? error.message : String(error));
      script.give(res, error instanceof Refused ? error.answer : fcmError(500, 'INTERNAL', 'INTERNAL'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `https://${host}`;
  const serviceAccount: ServiceAccount = {
    type: 'service_account',
    project_id: 'baton-app',
    private_key_id: randomBytes(20).toString('hex'),
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    client_email: 'push@baton-app.iam.gserviceaccount.com',
    token_uri: `${url}/token`,
  };

  async function giveToken(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await bodyOf(req));
    if (tokenScript.play(res) !== null) return;
    const refuse = (error: unknown): never => {
      throw new Refused({ status: 400, body: { error: 'invalid_grant' } }, String(error));
    };
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') refuse('another grant type');
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
      algorithms: ['RS256'],
      issuer: serviceAccount.client_email,
      audience: serviceAccount.token_uri,
      requiredClaims: ['iat', 'exp', 'scope'],
    }).catch(refuse);
    if (protectedHeader.kid !== serviceAccount.private_key_id) refuse('another key id');
    if (Number(payload.exp) - Number(payload.iat) > 3_600) refuse('an assertion of more than an hour');
    if (payload['scope'] !== 'https://www.googleapis.com/auth/firebase.messaging') refuse('another scope');
    const token = `ya29.${randomBytes(64).toString('base64url')}`;
    accessTokens.add(token);
    tokensGiven++;
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ access_token: token, expires_in: 3_599, token_type: 'Bearer' }));
  }

  async function send(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await bodyOf(req);
    bodies.push(body);
    const path = `/v1/projects/${serviceAccount.project_id}/messages:send`;
    if (req.method !== 'POST' || req.url !== path) throw new Refused(fcmError(404, 'NOT_FOUND'), `no ${req.url}`);
    const bearer = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '')?.[1] ?? '';
    // This is no mistake of the client: the protocol lets tokens expire.
    if (!accessTokens.has(bearer)) return void script.give(res, fcmError(401, 'UNAUTHENTICATED'));
    const message = messageIn(body);
    messages.push(message);
    news.emit('message');
    if (script.play(res) !== null) return;
    if (unregistered.has(message.token)) script.give(res, fcmError(404, 'NOT_FOUND', 'UNREGISTERED'));
    else script.give(res, { body: { name: `projects/${serviceAccount.project_id}/messages/${messages.length}` } });
  }

  return {
    url,
    host,
    serviceAccount,
    messages,
    bodies,
    complaints,
    script,
    tokenScript,
    get tokensGiven() {
      return tokensGiven;
    },
    unregister: (token) => void unregistered.add(token),
    revokeAccessTokens: () => accessTokens.clear(),
    async received(count) {
      while (messages.length < count) await once(news, 'message');
      return messages;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
