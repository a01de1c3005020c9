/*
 * Checks whether a client can add an identity of its own, or remove one. Each probe is compared with the same request
 * without the forgery. If the response differs, the forgery got through.
 */

const FORGER = 'doctor-forged-subject';

const FORGED = {
  'X-Auth-Subject': FORGER,
  'X-Auth-Scope': 'full',
  'X-Auth-Meta': 'doctor-forged-device',
  'X-Auth-Name': 'Doctor',
  'X-Auth-Roles': 'admin',
};

const twice = Object.fromEntries(Object.entries(FORGED).map(([name, value]) => [name, [value, value]]));
const spelled = (how) => Object.fromEntries(Object.entries(FORGED).map(([name, value]) => [how(name), value]));

/** The forgeries, with the worst one first. */
const SMUGGLED = [
  ['identity headers', FORGED],
  ['identity headers in capitals', spelled((name) => name.toUpperCase())],
  ['identity headers sent twice', twice],
  ['underscore twins of identity headers', spelled((name) => name.replaceAll('-', '_'))],
  ['half underscore twins of identity headers', spelled((name) => name.replace(/-(\w+)$/, '_$1'))],
  ['an assertion', { 'X-Auth-Assertion': 'eyJhbGciOiJub25lIn0.e30.' }],
  ['an assertion as its twin', { X_Auth_Assertion: 'eyJhbGciOiJub25lIn0.e30.' }],
  ['a proof of the edge', { 'X-Edge-Secret': 'x'.repeat(32), X_Edge_Secret: 'x'.repeat(32) }],
  ['development headers', { 'X-Dev-User': FORGER, 'X-Dev-Scope': 'full', 'X-Dev-Device': 'doctor-forged-device' }],
];

/** Hop-by-hop headers (RFC 9110, section 7.6.1). A proxy that obeys drops the headers that the client names. */
const DROPPED = ['X-Auth-Scope', 'X-Auth-Meta', 'X-Auth-Subject', 'X-Edge-Secret', 'X-Auth-Assertion'];

/** One path of each class that an edge may treat differently, and other spellings of the first path. */
const PATHS = [
  '/api/me',
  '/api/devices',
  '/api/hub/presence',
  '/api/hub/events',
  '/api/message',
  '/api/transfer',
  '/api/clipboard',
  '/api/relay/01920000-0000-7000-8000-000000000001/0/1',
  '/api/docs/../me',
  '/api/docs/%2e%2e/me',
  '//api/me',
];

/**
 * Paths under the strict limit of sign-in, tried only with a few forgeries. They name no request, so that nobody is
 * locked out for wrong codes.
 */
const SCARCE_PATHS = ['/api/auth/qr/request', '/link/plain'];
const SCARCE_TRIES = ['identity headers', 'identity headers sent twice', 'underscore twins of identity headers'];

/** Returns the part of a response that depends on the caller. */
const essence = ({ status, body, failure }) => {
  if (status === 0) return failure;
  const { code, user_id: user, scope, device, errors = [] } = body ?? {};
  const who = user === undefined ? '' : ` as ${user}, ${scope}, device ${device?.device_id ?? 'none'}`;
  const about = errors.map(({ path }) => ` ${path}`).join('');
  return `${status}${code === undefined ? '' : ` ${code}`}${about}${who}`;
};

const believed = ({ text }) => text.includes(FORGER);

const adviceFor = (answer) => {
  if (believed(answer)) return 'the forged identity was believed: anybody is anybody';
  if (answer.body?.code === 'untrusted_edge') return 'the edge hands identity headers of clients on';
  if (answer.body?.code === 'invalid_request') return 'the edge adds its identity beside the one of the client';
  return 'the edge must remove every identity header of a client, on every path';
};

/** Tries one forgery on each of these paths. Resolves to what got through, in words, and whether a rate limit interfered. */
async function forge({ ask, own, usual, headers, paths }) {
  const answers = await Promise.all(paths.map((path) => ask({ path, headers: { ...own, ...headers } })));
  const isLimited = (i) => answers[i].status === 429 || usual.get(paths[i]).status === 429;
  const limited = paths.some((_, i) => isLimited(i));
  const wrong = paths.map((path, i) => {
    const answer = answers[i];
    const [before, after] = [essence(usual.get(path)), essence(answer)];
    // A forgery that the replica saw and refused is also a hole in the edge.
    const seen = answer.body?.code === 'untrusted_edge' || believed(answer);
    if (isLimited(i) || (before === after && !seen)) return null;
    return `${path}: ${before} became ${after}; ${adviceFor(answer)}`;
  });
  return { wrong: wrong.filter((text) => text !== null), limited };
}

/** Runs the probes. `session` holds the headers of a signed-in user; null: only probes that need no session. */
export async function probeHeaders({ ask, session, report }) {
  const credentials =
    session === null
      ? [['without session', {}]]
      : [
          ['without session', {}],
          ['signed in', session],
        ];
  for (const [who, own] of credentials) {
    const usual = new Map();
    for (const path of [...PATHS, ...SCARCE_PATHS]) usual.set(path, await ask({ path, headers: own }));
    const me = essence(usual.get('/api/me'));
    // If something is already wrong, a difference cannot be seen.
    if (who !== 'signed in') {
      report(me === '401 unauthenticated', 'without session nobody is let in', [`/api/me answered ${me}`]);
    }
    for (const [what, headers] of SMUGGLED) {
      const paths = SCARCE_TRIES.includes(what) ? [...PATHS, ...SCARCE_PATHS] : PATHS;
      const { wrong, limited } = await forge({ ask, own, usual, headers, paths });
      if (wrong.length === 0 && limited)
        report('warn', `${what}, ${who}`, ['a rate limit was reached: ask again in a minute']);
      else report(wrong.length === 0, `${what}, ${who}`, wrong);
    }
  }
  if (session === null) {
    report(null, 'headers named in Connection', ['needs a session']);
    return;
  }
  const me = essence(await ask({ path: '/api/me', headers: session }));
  for (const name of DROPPED) {
    const after = essence(await ask({ path: '/api/me', headers: { ...session, Connection: `close, ${name}` } }));
    const wrong =
      after === me ? [] : [`/api/me: ${me} became ${after}; the edge must not pass on a client's Connection`];
    report(wrong.length === 0, `Connection: ${name}`, wrong);
  }
}
