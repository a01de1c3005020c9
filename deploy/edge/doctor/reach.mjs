import { makeAsk } from './ask.mjs';

/*
 * What can be reached that should not be, and what cannot that should.
 */

/** Internal paths of broker and replica: whoever serves them publicly answers something else than 404. */
const INTERNAL = [
  ['/forward-auth', 'the broker'],
  ['/v1/sessions?subject=doctor', 'the broker'],
  ['/.well-known/jwks.json', 'the broker'],
  ['/metrics', 'the admin port'],
  ['/readyz', 'the admin port'],
  ['/statusz', 'the admin port'],
];

export async function probeReach({ ask, replicas, insecure, report }) {
  for (const [path, whose] of INTERNAL) {
    const { status, headers } = await ask({ path });
    // A web app may answer unknown paths with its page.
    const page = status === 200 && (headers['content-type'] ?? '').startsWith('text/html');
    const wrong = status === 404 || page ? [] : [`answered ${status}: ${whose} is for the internal network`];
    report(wrong.length === 0, `${path} is not public`, wrong);
  }

  const login = await ask({ path: '/login' });
  const published = [200, 302, 303].includes(login.status);
  report(published || 'warn', '/login of the broker is on this host', [
    `answered ${login.status}: the cookie is __Host-, so the login must come from here`,
  ]);

  for (const base of replicas) {
    const headers = { 'X-Auth-Subject': 'doctor-forged-subject', 'X-Auth-Scope': 'full' };
    const { status, body, failure } = await makeAsk({ base, insecure })({
      path: '/api/me',
      headers,
      patienceMs: 4_000,
    });
    if (status === 0) report(true, `${base} cannot be reached from here (${failure})`, []);
    else if (status === 200)
      report(false, `${base} asked directly`, ['it believed a forged identity: set APP_IDENTITY=edge']);
    else {
      report('warn', `${base} asked directly`, [
        `it can be reached from here (and answered ${status} ${body?.code ?? ''}): let only the edge in`,
      ]);
    }
  }
}
