import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { randomPrefix, sharedRedisUrl } from '../support/redis/redis.ts';
import { startReplica, stopReplicas } from '../support/replicas.ts';
import { skipUnless } from '../support/runner/skips.ts';
import { type EdgeKind, isInstalled, startEdge } from './edges.ts';
import { type EdgeDevice, type EdgeSite, startEdgeSite } from './edge-site.ts';
import { startMirror } from './mirror.ts';

/* `npm run doctor` finds the mistakes of a wrong edge, and none in the shipped ones. */

const DOCTOR = fileURLToPath(new URL('../../deploy/edge/doctor.mjs', import.meta.url));

async function doctor(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [DOCTOR, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => void (said += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, said, failures: [...said.matchAll(/^FAIL {2}(.*)$/gm)].map(([, what]) => what) };
}

/** The difference between a wrong edge and the shipped one. */
interface Mistake {
  says: string;
  file: string;
  text: string | RegExp;
  wrong: string;
  found: string[];
}

const NGINX: Mistake[] = [
  {
    says: 'does not strip where nobody is signed in',
    file: 'no-identity.conf',
    text: /proxy_set_header X-Auth-.*\n/g,
    wrong: '',
    found: ['identity headers, without session'],
  },
  {
    says: 'forgets one header of the identity',
    file: 'identity.conf',
    text: 'proxy_set_header X-Auth-Meta $baton_meta;',
    wrong: '',
    found: ['identity headers, signed in', 'identity headers sent twice, signed in'],
  },
  {
    says: 'lets underscores in',
    file: 'baton.conf',
    text: 'underscores_in_headers off',
    wrong: 'underscores_in_headers on',
    found: ['underscore twins of identity headers, signed in', 'half underscore twins of identity headers, signed in'],
  },
  {
    says: 'adds its proof to what it did not check',
    file: 'no-identity.conf',
    text: /proxy_set_header X-Auth-[\s\S]*proxy_set_header X-Edge-Secret "";/,
    wrong: 'proxy_set_header X-Edge-Secret $baton_edge_secret;',
    found: ['identity headers, without session'],
  },
  {
    says: 'compresses the stream',
    file: 'locations.conf',
    text: '  proxy_read_timeout 75s;',
    wrong:
      '  proxy_read_timeout 75s;\n  gzip on;\n  gzip_types text/event-stream;\n  gzip_min_length 0;\n gzip_proxied any;',
    found: ['the event stream is not compressed'],
  },
  {
    says: 'cuts a stream that is quiet',
    file: 'locations.conf',
    text: '  proxy_read_timeout 75s;',
    wrong: '  proxy_read_timeout 1s;',
    found: ['the event stream outlives a heartbeat'],
  },
  {
    says: 'limits bodies',
    file: 'baton.conf',
    text: 'client_max_body_size 0',
    wrong: 'client_max_body_size 1m',
    found: ['an upload may have any size'],
  },
  {
    says: 'collects bodies',
    file: 'baton.conf',
    text: 'proxy_request_buffering off',
    wrong: 'proxy_request_buffering on',
    found: ['request bodies are not collected first'],
  },
  {
    says: 'publishes all of the broker',
    file: 'locations.conf',
    text: 'location = /login {',
    wrong: 'location ~ ^/(login|v1/|forward-auth) {',
    found: ['/forward-auth is not public', '/v1/sessions?subject=doctor is not public'],
  },
];

const CADDY: Mistake[] = [
  {
    says: 'obeys the Connection of clients',
    file: 'Caddyfile',
    text: '\trequest_header -Connection\n',
    wrong: '',
    found: [
      'Connection: X-Auth-Scope',
      'Connection: X-Auth-Meta',
      'Connection: X-Auth-Subject',
      'Connection: X-Edge-Secret',
    ],
  },
  {
    says: 'strips nothing',
    file: 'Caddyfile',
    text: /^\trequest_header -X.*\n/gm,
    wrong: '',
    found: ['identity headers, without session'],
  },
];

const EDGES: [EdgeKind, Mistake[]][] = [
  ['nginx', NGINX],
  ['caddy', CADDY],
];

for (const [kind, mistakes] of EDGES) {
  skipUnless(isInstalled(kind), `needs ${kind}`).describe(`of an edge of ${kind}`, () => {
    let site: EdgeSite;
    let device: EdgeDevice;
    beforeAll(async () => {
      // The period is longer than the read timeout of the wrong edge.
      site = await startEdgeSite(kind, { APP_HUB_HEARTBEAT_MS: '2000' });
      device = await site.signIn();
    });
    afterAll(() => site.stop());
    const token = () => ({ DOCTOR_TOKEN: device.bearer.Authorization.slice(7) });

    test('the one that ships is found right, with every rate limit in force', async () => {
      const { code, said, failures } = await doctor(['--quick', site.edge.url], token());
      expect({ failures, code }).toEqual({ failures: [], code: 0 });
      expect(said).toMatch(/^\d+ passed, 0 failed, 0 warnings, 1 not tested$/m);
    });

    test('a cookie will do, too, and a replica that can be reached is told', async () => {
      const args = ['--quick', '--cookie', device.cookie.Cookie, '--replica', site.replicas[0].url, site.edge.url];
      const { code, said } = await doctor(args);
      expect(code).toBe(0);
      expect(said).toContain('let only the edge in');
    });

    test('a long poll is waited for, and half a request is not; where it is, that is told', async () => {
      const parts = { replicas: site.replicas.map(({ url }) => url), broker: site.broker.url };
      const patient = await startEdge(kind, {
        ...parts,
        spoil: (_, text) => text.replace(/(client_header_timeout|read_header) 15s/, '$1 10m'),
      });
      const [right, wrong] = await Promise.all([doctor([site.edge.url]), doctor([patient.url])]);
      expect(right.said).toContain('ok    half a request is not waited for');
      expect(right.said).toContain('ok    a long poll of 25 s is waited for');
      expect(wrong.said).toContain('warn  half a request is not waited for');
      await patient.stop();
    });

    test.each(mistakes)('one that $says is found wrong', async ({ file, text, wrong, found }) => {
      const edge = await startEdge(kind, {
        replicas: site.replicas.map(({ url }) => url),
        broker: site.broker.url,
        spoil: (name, right) => {
          if (name !== file) return right;
          expect(right).toMatch(text);
          return right.replace(text, wrong);
        },
      });
      const { code, failures } = await doctor(['--quick', edge.url], token());
      expect(failures).toEqual(expect.arrayContaining(found));
      expect(code).toBe(1);
      await edge.stop();
    });
  });
}

test('a replica that believes whoever asks is found', async () => {
  const replica = await startReplica({ redisUrl: sharedRedisUrl(), keyPrefix: randomPrefix() });
  const { code, failures } = await doctor(['--quick', replica.url]);
  expect(failures).toContain('development headers, without session');
  expect(code).toBe(1);
  await stopReplicas();
});

test('a stream that somebody holds back is found', async () => {
  const holder = await startMirror();
  holder.serveWith((req, res) => {
    if (req.url?.startsWith('/api/hub/events'))
      res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
    else res.writeHead(req.headers.authorization === undefined ? 401 : 200).end('{}');
  });
  const { code, failures } = await doctor(['--quick', holder.url], { DOCTOR_TOKEN: 'any' });
  expect(failures).toContain('the event stream is not buffered');
  expect(code).toBe(1);
  await holder.stop();
});

test('without anybody there it says so', async () => {
  const { code, said } = await doctor(['http://127.0.0.1:1']);
  expect([code, said]).toEqual([2, expect.stringContaining('cannot be reached')]);
});

test.each([[[]], [['nowhere']], [['--unknown', 'http://127.0.0.1:1']]])('it says how it is asked: %p', async (args) => {
  const { code, said } = await doctor(args);
  expect([code, said]).toEqual([2, expect.stringContaining('npm run doctor -- <url>')]);
});
