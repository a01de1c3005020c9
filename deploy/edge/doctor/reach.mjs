import { makeAsk } from './ask.mjs';

/*
 * Finds what can be reached and should not be, and what should be reachable and is not.
 */

/** Internal paths of broker and replica. An edge that publishes them answers something other than 404. */
const INTERNAL = [
  ['/forward-auth', 'the broker'],
  ['/v1/sessions?subject=doctor', 'the broker'],
  ['/.well-known/jwks.json', 'the broker'],
  ['/metrics', 'the admin port'],
  ['/readyz', 'the admin port'],
  ['/statusz', 'the admin port'],
];

/**
 * Spellings that mean the login to a program that decodes and tidies a path, and forward-auth to one that does not. An
 * edge may refuse or redirect them. It must not return the broker's own response, which is an identity or its 401.
 */
const CROOKED = [
  '/forward-auth/..%2flogin/doctor',
  '/forward-auth/%2e%2e/login/doctor',
  '/forward-auth/%2E%2E%2Flogin%2Fdoctor',
  '/forward-auth/../login/doctor',
  '/forward-auth//..//login/doctor',
  '/login/..%2fforward-auth',
  '/login/../forward-auth',
  '/login/%2e%2e/forward-auth',
  '/login/..%2fv1%2fsessions?subject=doctor',
];
const REFUSED = [301, 302, 307, 308, 400, 403, 404];

const isPage = ({ status, headers }) => status === 200 && (headers['content-type'] ?? '').startsWith('text/html');

async function probeSpellings({ ask, session, report }) {
  const wrong = [];
  for (const path of CROOKED) {
    const answer = await ask({ path, headers: session ?? {} });
    const isRight =
      answer.headers['x-auth-subject'] === undefined && (REFUSED.includes(answer.status) || isPage(answer));
    if (!isRight)
      wrong.push(`${path} answered ${answer.status}: pass on the path that was matched, not the one that came`);
  }
  report(wrong.length === 0, 'no other spelling of a path reaches the broker', wrong);
}

/** Browsers must remember nothing about an untrusted certificate. */
async function probeTransport({ ask, base, insecure, report }) {
  if (!base.startsWith('https:') || insecure) return;
  const { headers } = await ask({ path: '/healthz' });
  const isThere = /max-age=[1-9]/.test(headers['strict-transport-security'] ?? '');
  report(isThere || 'warn', 'browsers are told to come by https alone', ['Strict-Transport-Security is missing']);
}

export async function probeReach({ ask, base, session, replicas, insecure, report }) {
  for (const [path, whose] of INTERNAL) {
    const { status, headers } = await ask({ path });
    // A web app may answer unknown paths with its page.
    const wrong =
      status === 404 || isPage({ status, headers }) ? [] : [`answered ${status}: ${whose} is for the internal network`];
    report(wrong.length === 0, `${path} is not public`, wrong);
  }

  await probeSpellings({ ask, session, report });
  await probeTransport({ ask, base, insecure, report });

  const login = await ask({ path: '/login' });
  const published = [200, 302, 303].includes(login.status);
  report(published || 'warn', '/login of the broker is on this host', [
    `answered ${login.status}: the cookie is __Host-, so the login must come from here`,
  ]);

  for (const replica of replicas) {
    const headers = { 'X-Auth-Subject': 'doctor-forged-subject', 'X-Auth-Scope': 'full' };
    const { status, body, failure } = await makeAsk({ base: replica, insecure })({
      path: '/api/me',
      headers,
      patienceMs: 4_000,
    });
    if (status === 0) report(true, `${replica} cannot be reached from here (${failure})`, []);
    else if (status === 200)
      report(false, `${replica} asked directly`, ['it believed a forged identity: set APP_IDENTITY=edge']);
    else {
      report('warn', `${replica} asked directly`, [
        `it can be reached from here (and answered ${status} ${body?.code ?? ''}): let only the edge in`,
      ]);
    }
  }
}
