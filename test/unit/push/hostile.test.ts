import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { request } from 'undici';
import { isPublicAddress } from '../../../services/sync/push/guard/addresses.ts';
import { checkEndpoint } from '../../../services/sync/push/guard/endpoint.ts';
import { makeGuardedAgent, makeResolve, type Resolve } from '../../../services/sync/push/guard/guarded-agent.ts';
import { makeBrowser } from '../../support/fake-push/browser.ts';
import { makeTestCertificate, type TestCertificate } from '../../support/fake-push/certificate.ts';
import { type FakeNameServer, startFakeNameServer } from '../../support/fake-push/name-server.ts';
import { type FakePushService, startFakePushService } from '../../support/fake-push/push-service.ts';
import {
  LOOK_ALIKES,
  PUBLIC_ADDRESSES,
  PUSH_SERVICES,
  REFUSED_AT_CONNECT,
  REFUSED_AT_SUBSCRIBE,
} from './hostile-endpoints.ts';
import { closeSenders, makeSender, noticeOf, SUBJECT, targetOf, VAPID } from './sending.ts';

const KNOWN = { allow: ['known'] };
const PUBLIC = { allow: ['public'] };
const NAME = 'push.vendor.com';
/** The keys of a realistic browser. */
const { keys } = makeBrowser();
const REFUSED = { outcome: 'retry', afterMs: null, reason: 'address_not_allowed' };

/** Makes a name server that gives every name the same answer, and counts the questions. */
function answering(...answers: LookupAddress[][]): { resolve: Resolve; readonly asked: number } {
  let asked = 0;
  return {
    resolve: () => Promise.resolve(answers[Math.min(asked++, answers.length - 1)] ?? []),
    get asked() {
      return asked;
    },
  };
}

describe('an endpoint that is registered', () => {
  const rows = Object.entries(REFUSED_AT_SUBSCRIBE).flatMap(([kind, of]) =>
    of.map(([endpoint, reason]) => [kind, endpoint, reason] as const),
  );

  test.each(rows)('is refused for %s: %j', (_, endpoint, reason) => {
    expect(checkEndpoint(endpoint, PUBLIC)).toBe(reason);
    expect(checkEndpoint(endpoint, KNOWN)).not.toBeNull();
  });

  test.each(LOOK_ALIKES)('is refused when it only looks like a known push service: %s', (endpoint) => {
    expect(checkEndpoint(endpoint, KNOWN)).toBe('host');
  });

  test.each(PUSH_SERVICES)('passes when it is of a known push service: %s', (endpoint) => {
    expect(checkEndpoint(endpoint, KNOWN)).toBeNull();
  });

  test('passes at a host that nobody knows by the rules for public ones alone', () => {
    expect(checkEndpoint(`https://${NAME}/up?token=a%2Fb`, PUBLIC)).toBeNull();
    expect(checkEndpoint(`https://${NAME}/up`, KNOWN)).toBe('host');
    expect(checkEndpoint(PUSH_SERVICES[0] as string, { allow: ['push.home.arpa'] })).toBe('host');
  });

  test('passes at the very host and port that the operator listed, whatever they are', () => {
    const rules = { allow: ['known', 'push.lan:8443', '10.0.0.5', '[fd00::5]:444', 'localhost:9'] };
    for (const host of ['push.lan:8443', '10.0.0.5', '10.0.0.5:443', '[fd00::5]:444', 'localhost:9'])
      expect([host, checkEndpoint(`https://${host}/a`, rules)]).toEqual([host, null]);
    for (const host of ['push.lan', 'push.lan:8444', '10.0.0.6', '10.0.0.5:8443', 'a.push.lan:8443', '[fd00::5]'])
      expect([host, checkEndpoint(`https://${host}/a`, rules)]).not.toEqual([host, null]);
    expect(checkEndpoint('http://push.lan:8443/a', rules)).toBe('not_https');
    expect(checkEndpoint('https://user@push.lan:8443/a', rules)).toBe('user_info');
  });

  test('addresses of the public internet are told from all others', () => {
    expect(PUBLIC_ADDRESSES.filter((address) => !isPublicAddress(address))).toEqual([]);
  });
});

describe('an endpoint that is connected to', () => {
  let certificate: TestCertificate;
  let inside: Server;
  let port: number;
  let connections: number;
  beforeAll(() => {
    certificate = makeTestCertificate();
  });
  afterAll(() => certificate.remove());
  beforeEach(async () => {
    connections = 0;
    inside = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    // The server listens on all addresses of this machine, in both families.
    inside.listen(0);
    await once(inside, 'listening');
    ({ port } = inside.address() as AddressInfo);
  });
  afterEach(async () => {
    await closeSenders();
    inside.close();
    await once(inside, 'close');
  });

  /** Resolves to the code with which a request by the guarded agent ends. */
  async function codeOf(url: string, allow: string[], resolve?: Resolve): Promise<unknown> {
    const { dispatcher, close } = makeGuardedAgent({ rules: { allow }, ...(resolve && { resolve }) });
    try {
      return await request(url, { dispatcher }).then(
        ({ statusCode }) => statusCode,
        (error: unknown) => (error as { code?: unknown }).code,
      );
    } finally {
      await close();
    }
  }

  const rows = Object.entries(REFUSED_AT_CONNECT).flatMap(([kind, of]) =>
    of.map(([name, addresses]) => [kind, name, addresses] as const),
  );

  test.each(rows)('is refused when its name leads to %s: %s', async (_, __, addresses) => {
    const { resolve } = answering(addresses);
    const sender = makeSender({ vapid: { keys: [VAPID], subject: SUBJECT }, endpointRules: PUBLIC, resolve });

    await expect(sender.send(targetOf({ endpoint: `https://${NAME}/up`, keys }), noticeOf())).resolves.toEqual(REFUSED);
    await expect(codeOf(`https://${NAME}:${port}/`, ['public'], resolve)).resolves.toBe('ERR_PUSH_ADDRESS');
    expect(connections).toBe(0);
  });

  test('would have been connected to without the guard: the same address, listed by the operator', async () => {
    await expect(codeOf(`https://127.0.0.1:${port}/`, [`127.0.0.1:${port}`])).resolves.not.toBe('ERR_PUSH_ADDRESS');
    expect(connections).toBeGreaterThan(0);
  });

  test.each(['127.0.0.1', '[::1]', '[::ffff:7f00:1]', '0.0.0.0'])(
    'is refused when it is the address %s itself, for which no name server is asked',
    async (address) => {
      await expect(codeOf(`https://${address}:${port}/`, ['public'])).resolves.toBe('ERR_PUSH_ADDRESS');
      expect(connections).toBe(0);
    },
  );

  test('is refused without TLS, also where the operator listed the host', async () => {
    await expect(codeOf(`http://127.0.0.1:${port}/`, [`127.0.0.1:${port}`])).resolves.toBe('ERR_PUSH_ADDRESS');
    expect(connections).toBe(0);
  });

  test('is asked for once and connected to at the address that was judged, so that a second answer changes nothing', async () => {
    // No network has the first address, so the connection to it fails.
    const servers = answering([{ address: '2a00::1', family: 6 }], [{ address: '127.0.0.1', family: 4 }]);
    const sender = makeSender({
      vapid: { keys: [VAPID], subject: SUBJECT },
      endpointRules: PUBLIC,
      resolve: servers.resolve,
      sendMs: 1_000,
    });
    const target = targetOf({ endpoint: `https://${NAME}/up`, keys });

    await expect(sender.send(target, noticeOf())).resolves.toMatchObject({
      outcome: 'retry',
      reason: expect.not.stringMatching('address_not_allowed'),
    });
    expect(servers.asked).toBe(1);
    await expect(sender.send(target, noticeOf())).resolves.toEqual(REFUSED);
    expect(connections).toBe(0);
  });

  describe('by the word of its own name server', () => {
    let names: FakeNameServer;
    beforeEach(async () => {
      names = await startFakeNameServer();
    });
    afterEach(() => names.stop());
    const send = () => {
      const sender = makeSender({
        vapid: { keys: [VAPID], subject: SUBJECT },
        endpointRules: PUBLIC,
        resolve: makeResolve([names.address]),
        sendMs: 1_000,
      });
      return sender.send(targetOf({ endpoint: `https://${NAME}/up`, keys }), noticeOf());
    };

    test('both families are asked for, once', async () => {
      names.answer = ['8.8.8.8', '8.8.4.4', '2606:4700::1111'];
      await expect(makeResolve([names.address])(NAME, new AbortController().signal)).resolves.toEqual([
        { address: '8.8.8.8', family: 4 },
        { address: '8.8.4.4', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ]);
      expect(names.asked).toEqual({ A: 1, AAAA: 1 });
    });

    test.each([
      [['127.0.0.1']],
      [['::1']],
      [['8.8.8.8', '::1']],
      [['2606:4700::1111', '169.254.169.254']],
      [['::ffff:127.0.0.1']],
    ])('it is refused for %j', async (addresses) => {
      names.answer = addresses;
      await expect(send()).resolves.toEqual(REFUSED);
      await expect(codeOf(`https://${NAME}:${port}/`, ['public'], makeResolve([names.address]))).resolves.toBe(
        'ERR_PUSH_ADDRESS',
      );
      expect(connections).toBe(0);
    });

    test('a name without addresses is tried again later', async () => {
      names.answer = [];
      await expect(send()).resolves.toEqual({ outcome: 'retry', afterMs: null, reason: 'network' });
    });

    test('silence ends in time', async () => {
      names.answer = null;
      await expect(send()).resolves.toEqual({ outcome: 'retry', afterMs: null, reason: 'timeout' });
    });
  });

  test('tells nobody whether something listens inside', async () => {
    const { resolve } = answering([{ address: '127.0.0.1', family: 4 }]);
    const open = await codeOf(`https://${NAME}:${port}/`, ['public'], resolve);
    const closed = await codeOf(`https://${NAME}:1/`, ['public'], resolve);

    expect(open).toBe(closed);
  });

  test('tells nobody whether its name exists inside: what follows is what follows for one that does not exist', async () => {
    const send = async (resolve: Resolve) => {
      const sender = makeSender({ vapid: { keys: [VAPID], subject: SUBJECT }, endpointRules: PUBLIC, resolve });
      const { reason: _, ...rest } = await sender
        .send(targetOf({ endpoint: `https://${NAME}/up`, keys }), noticeOf())
        .then((outcome) => ({ reason: '', ...outcome }));
      return rest;
    };
    const nobody = () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }));

    const act = await send(answering([{ address: '10.1.2.3', family: 4 }]).resolve);
    expect(act).toEqual(await send(nobody));
    expect(act).toEqual({ outcome: 'retry', afterMs: null });
  });

  test('is given up when its name servers do not answer', async () => {
    const sender = makeSender({
      vapid: { keys: [VAPID], subject: SUBJECT },
      endpointRules: PUBLIC,
      resolve: () => new Promise(() => {}),
      sendMs: 300,
    });
    await expect(sender.send(targetOf({ endpoint: `https://${NAME}/up`, keys }), noticeOf())).resolves.toEqual({
      outcome: 'retry',
      afterMs: null,
      reason: 'timeout',
    });
  });

  test('is judged again before each push, by the rules of now', async () => {
    const sender = makeSender({ vapid: { keys: [VAPID], subject: SUBJECT }, endpointRules: KNOWN });
    await expect(sender.send(targetOf({ endpoint: `https://${NAME}/up`, keys }), noticeOf())).resolves.toEqual({
      outcome: 'not_here',
      reason: 'endpoint_not_allowed',
    });
  });

  describe('at a push service', () => {
    let service: FakePushService;
    const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
    beforeEach(async () => {
      service = await startFakePushService({ certificate });
    });
    afterEach(async () => {
      for (const name of PROXY_VARIABLES) delete process.env[name];
      await closeSenders();
      await service.stop();
    });
    const senderOf = () =>
      makeSender({
        vapid: { keys: [VAPID], subject: SUBJECT },
        endpointRules: { allow: [service.host] },
        ca: certificate.cert.toString(),
      });

    test('is connected to however many connections those open that nobody vouches for', async () => {
      const { dispatcher, close } = makeGuardedAgent({
        rules: { allow: ['public', service.host] },
        ca: certificate.cert.toString(),
        resolve: () => new Promise(() => {}),
      });
      const strangers = Array.from({ length: 600 }, (_, i) => request(`https://push-${i}.vendor.com/`, { dispatcher }));
      const ended = Promise.allSettled(strangers);
      const { statusCode } = await request(`${service.url}/push/nobody`, { method: 'POST', dispatcher });
      expect(statusCode).toBe(404);
      await close();
      const codes = (await ended).map((each) => (each as { reason?: { code?: string } }).reason?.code);
      expect(codes.filter((code) => code === 'ERR_PUSH_CONNECTIONS').length).toBeGreaterThan(400);
    });

    test('keeps no connection for longer than we want it', async () => {
      const server = createHttpsServer({ key: certificate.key, cert: certificate.cert }, (_, res) =>
        res.writeHead(201, { 'keep-alive': 'timeout=600' }).end(),
      );
      server.keepAliveTimeout = 0;
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const closed = once(server, 'secureConnection').then(([socket]: TLSSocket[]) =>
        once(socket as TLSSocket, 'close'),
      );
      const { dispatcher, close } = makeGuardedAgent({
        rules: { allow: [host] },
        ca: certificate.cert.toString(),
        idleMs: 100,
      });
      const { body, statusCode } = await request(`https://${host}/`, { method: 'POST', dispatcher });
      expect(statusCode).toBe(201);
      await body.dump();
      await closed;
      await close();
      server.close();
      await once(server, 'close');
    });

    test('that points inside is not followed', async () => {
      const sender = senderOf();
      for (const location of [`https://127.0.0.1:${port}/`, `http://localhost:${port}/`, `//[::1]:${port}/`]) {
        service.script.next({ status: 307, headers: { location } });
        await expect(sender.send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual({
          outcome: 'failed',
          reason: 'redirect 307',
        });
      }
      expect(connections).toBe(0);
    });

    test('is reached without the proxy that the environment names', async () => {
      for (const name of PROXY_VARIABLES) process.env[name] = `http://127.0.0.1:${port}`;

      await expect(senderOf().send(targetOf(service.subscribe()), noticeOf())).resolves.toEqual({
        outcome: 'delivered',
      });
      expect(connections).toBe(0);
    });
  });
});
