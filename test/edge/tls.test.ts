import { type ClientHttp2Session, connect } from 'node:http2';
import { once } from 'node:events';
import { freePort } from '../../deploy/local/setup/redis.mjs';
import { type BrokerProcess, startBroker, stopBrokers } from '../broker/support/brokers.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { request } from '../support/wire.ts';
import { type Edge, EDGE_SECRET, isInstalled, startEdge, stopEdges } from './edges.ts';
import { identityIn, type Mirror, type Reflection, startMirror } from './mirror.ts';

/* nginx with TLS and HTTP/2, as in site-tls.conf.sample. */

skipUnless(isInstalled('nginx'), 'needs nginx').describe('over HTTP/2', () => {
  let edge: Edge;
  let mirror: Mirror;
  let broker: BrokerProcess;
  let session: ClientHttp2Session;
  let redirectPort: number;
  beforeAll(async () => {
    const port = await freePort();
    redirectPort = await freePort();
    const publicUrl = `https://127.0.0.1:${port}`;
    mirror = await startMirror();
    broker = await startBroker({ env: { BROKER_DEV_LOGIN: '1', BROKER_PUBLIC_URL: publicUrl } });
    edge = await startEdge('nginx', { port, redirectPort, replicas: [mirror.url], broker: broker.url });
    session = connect(edge.url, { rejectUnauthorized: false });
    await once(session, 'connect');
  });
  afterAll(async () => {
    session.close();
    await stopEdges();
    await stopBrokers();
    await mirror.stop();
  });

  async function ask(headers: Record<string, string | string[]>, body?: string) {
    const stream = session.request(headers);
    if (body !== undefined) stream.write(body);
    stream.end();
    const [answer] = (await once(stream, 'response')) as [Record<string, string | string[]>];
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    return { answer, text };
  }

  const logIn = async (): Promise<string> => {
    const headers = {
      ':method': 'POST',
      ':path': '/login/dev',
      'content-type': 'application/x-www-form-urlencoded',
      origin: edge.url,
    };
    const { answer } = await ask(headers, 'user=ann');
    expect(answer[':status']).toBe(303);
    return answer['set-cookie']?.[0] ?? '';
  };

  test('a login sets the cookie that only this host can set', async () => {
    expect(await logIn()).toMatch(/^__Host-baton=v1\.[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  });

  test('an identity is what the broker says, whatever else was sent', async () => {
    const cookie = (await logIn()).split(';')[0] ?? '';
    const forged = {
      'x-auth-subject': 'admin',
      'x-auth-scope': ['full', 'full'],
      x_auth_meta: 'x',
      'x-dev-user': 'admin',
    };
    const signedIn = await ask({ ':path': '/api/me', cookie, ...forged });
    expect(identityIn(JSON.parse(signedIn.text) as Reflection)).toMatchObject({
      'x-auth-subject': ['ann'],
      'x-auth-scope': ['full'],
      'x-edge-secret': [EDGE_SECRET],
    });
    const nobody = await ask({ ':path': '/api/me', ...forged });
    expect(identityIn(JSON.parse(nobody.text) as Reflection)).toEqual({});
    // A browser may send each cookie in a field of its own.
    const apart = await ask({ ':path': '/api/me', cookie: ['a=b', cookie] });
    expect(identityIn(JSON.parse(apart.text) as Reflection)).toMatchObject({ 'x-auth-subject': ['ann'] });
  });

  test('many streams pass over one connection, piece by piece', async () => {
    mirror.serveWith((_req, res) =>
      res.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: first\n\n'),
    );
    const streams = Array.from({ length: 12 }, () => session.request({ ':path': '/api/hub/events' }));
    for (const stream of streams) expect(String((await once(stream, 'data'))[0])).toBe('data: first\n\n');
    for (const stream of streams) stream.close();
    mirror.reflect();
  });

  test('http is sent to https', async () => {
    const answer = await request({ url: `http://127.0.0.1:${redirectPort}` }, { path: '/link?r=a&c=secret' });
    expect([answer.status, answer.headers.location]).toEqual([308, 'https://127.0.0.1/link?r=a&c=secret']);
    expect(edge.log()).not.toContain('c=secret');
  });
});
